"""Tests of edits of users' own files."""
