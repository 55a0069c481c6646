"""Diagnostics as text for people, as JSON, and as annotations of CI systems. Pure: values in, strings out."""
