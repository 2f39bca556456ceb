"""Fleets: pools of nodes and the jobs on them."""
