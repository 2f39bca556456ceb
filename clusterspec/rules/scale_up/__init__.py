"""Rules about the scale-up domain and the groups within it."""
