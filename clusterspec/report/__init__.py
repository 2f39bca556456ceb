"""Telling: one report, many writers."""
