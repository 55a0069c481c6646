"""Reports as a person sees them: in a real browser, without a window. `make browser` brings what that needs."""
