"""Readers of the output of collective and link benchmarks: one reader for each tool."""
