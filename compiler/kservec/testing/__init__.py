"""For tests in users' own repositories: a pytest fixture that compares a rendering with committed snapshots."""
