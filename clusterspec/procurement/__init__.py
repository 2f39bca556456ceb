"""Procurement: the bill of materials and its prices."""
