"""What hostile input does: nothing but an error. docs/security.md says who would send it and why."""
