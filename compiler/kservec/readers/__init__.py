"""Readers: one file for each kind that units are made of, from a document that was checked to a Unit.

A run loads those of the kinds that it has.
"""
