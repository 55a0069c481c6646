"""Sites of environments."""
