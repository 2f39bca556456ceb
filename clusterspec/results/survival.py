"""Placeholder until the figure lands."""
