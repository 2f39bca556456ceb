"""Micro-benchmarks of an accelerator: the calls that are timed, their samples, and the kernel table made of them."""
