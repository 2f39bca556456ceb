"""Rules about the scale-out fabric: ports, switches, cables, and what it takes to carry collectives."""
