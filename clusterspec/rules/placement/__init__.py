"""Rules about the placement of groups: which axis uses which tier."""
