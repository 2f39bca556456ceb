"""What was asked for: the spec as types."""
