"""Rules about keeping it running: checkpoints, failures, spares, power."""
