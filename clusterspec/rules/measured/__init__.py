"""Rules that compare measurements with the machine."""
