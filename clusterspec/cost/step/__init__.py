"""Composition of sub-results to the time of a step, on numbers or on columns of numbers."""
