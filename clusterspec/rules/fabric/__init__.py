"""Rules about the scale-out fabric: ports, switches, cables, and its settings for collectives."""
