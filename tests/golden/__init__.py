"""The golden cases: compiled, compared with what is committed beside them, and judged by what their objects mean."""
