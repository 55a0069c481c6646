"""What a project demands of its rendered objects, found at the line of the input that each value comes from. Pure."""
