"""What a policy finds, and what it excuses."""
