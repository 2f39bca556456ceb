"""Readers of what a node says of itself: topology matrices, device lists, NCCL and RCCL topology files."""
