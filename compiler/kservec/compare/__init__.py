"""Comparing what is committed with what a build makes: by object and field, and what it does to pods and traffic."""
