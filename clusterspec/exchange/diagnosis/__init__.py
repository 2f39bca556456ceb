"""Logs against a design: what was expected, what was measured, and why they differ."""
