"""Rules about fleets: jobs on their parts of pools."""
