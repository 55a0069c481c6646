"""Go's own semantics where KServe's results depend on them: templates, JSON, formats, durations."""
