"""Tests of comparing what is committed with what a build makes."""
