"""Rules about the validity of a layout: conditions that frameworks require at start."""
