"""Micro-benchmarks of an accelerator: the timed calls, their samples, and the kernel table made from the samples."""
