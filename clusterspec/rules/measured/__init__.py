"""Rules that hold measurements against the machine."""
