"""Rules about the file itself: text that cannot be read is not checked."""
