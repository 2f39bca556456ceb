"""Rules about units, directions and other slips of the pen in quantities."""
