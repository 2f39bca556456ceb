"""Models: configurations of hubs, names, and the precision of their weights."""
