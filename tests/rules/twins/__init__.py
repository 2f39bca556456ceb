"""Planted flaws, each beside a near miss, by what they are about."""
