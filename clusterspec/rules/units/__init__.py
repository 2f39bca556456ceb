"""Rules about units, directions and other errors in quantities."""
