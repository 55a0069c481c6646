"""Knative's rules: what it defaults, demands, refuses, and how it names revisions."""
