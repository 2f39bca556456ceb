"""What people write of a run: what they saw, tried, and found to be the cause."""
