"""Rules about operations: checkpoints, failures, spares, power."""
