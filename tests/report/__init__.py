"""Reports: the same findings in each format."""
