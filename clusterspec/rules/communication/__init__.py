"""Rules about communication that nothing hides."""
