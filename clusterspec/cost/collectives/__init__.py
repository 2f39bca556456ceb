"""Collectives on the tiers of a cluster: algorithms, protocols, and the choice among them."""
