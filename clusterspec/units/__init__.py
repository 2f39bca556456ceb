"""Numbers: the one door for units."""
