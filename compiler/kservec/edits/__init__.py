"""Edits of users' own files: of nothing but the values concerned, byte for byte, and reversible. Pure."""
