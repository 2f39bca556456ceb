"""Rules about the size of a step and of a run."""
