"""Procurement: bill of materials, acceptance tests and cost over the term."""
