"""Planted flaws, each with a near miss, by what they are about."""
