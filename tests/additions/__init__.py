"""What a project adds to objects and beside them."""
