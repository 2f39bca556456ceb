"""Comparison of benchmark logs with a design: expected and measured bandwidth, and the causes of a difference."""
