"""One module a command; each has `run`, which returns an exit status."""
