"""Rules about where groups lie: which axis runs over which tier."""
