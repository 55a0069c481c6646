"""What an API server refuses in code, and what a merge leaves behind that cannot work."""
