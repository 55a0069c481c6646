"""Fuzzing of the whole compiler and of the router's planner: odd inputs, and what must hold of each.

Decides nothing about the compiler. Every input follows from a seed and a number alone, so that each can be made again.
"""
