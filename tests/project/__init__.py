"""Tests of the project file and of what is done for environments."""
