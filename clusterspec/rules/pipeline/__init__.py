"""Rules about the pipeline's idle time."""
