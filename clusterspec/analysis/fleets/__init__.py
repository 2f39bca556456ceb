"""Fleets: jobs on pools, their costs, and the assignment that a search finds."""
