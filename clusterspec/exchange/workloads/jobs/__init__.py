"""Job scripts and tasks whose program has no reader: nodes and accelerators."""
