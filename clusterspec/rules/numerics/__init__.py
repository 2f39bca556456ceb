"""Rules about number formats and convergence."""
