"""Rules about one node: its accelerators, NICs and slots."""
