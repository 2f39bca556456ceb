"""Texts about services: loads, capacity, availability, caches, limits and prices of their output."""
