"""Rules about validity: what a framework refuses to start."""
