"""The commands, one module each with a `run` function that returns the exit status."""
