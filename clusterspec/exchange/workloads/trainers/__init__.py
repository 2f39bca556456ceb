"""Training programs, one for each, and the configurations that they refer to."""
