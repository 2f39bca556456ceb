"""Judging: one file a rule."""
