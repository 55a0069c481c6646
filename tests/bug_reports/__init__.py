"""What people have reported of serving with KServe, and what is right in each case."""
