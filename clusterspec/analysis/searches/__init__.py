"""Searches: layouts of a machine, serving plans, machines for a job, and grids of specs."""
