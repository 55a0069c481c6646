"""What KServe's webhooks do to an object before its controllers see it: defaulting, then validation."""
