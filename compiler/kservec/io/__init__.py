"""The only package that opens, lists, writes, renames or deletes."""
