"""Rules about the file itself: what cannot be read is not checked."""
