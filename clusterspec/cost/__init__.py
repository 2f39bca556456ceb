"""Arithmetic: what a design costs in time, memory and money, term by term."""
