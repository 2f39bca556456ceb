"""Readers of the output of collective and link benchmarks, one per tool."""
