"""Tests of the import from a cluster that runs KServe."""
