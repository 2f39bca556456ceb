"""Readers of benchmarks of collectives, links and hosts, one for each tool."""
