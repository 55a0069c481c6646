"""Explanations: where values come from, and why a service got the runtime that it has. Pure."""
