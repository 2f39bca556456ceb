"""Rules about the scale-up domain and the groups that should stay inside it."""
