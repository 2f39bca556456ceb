"""Readers of node descriptions: topology matrices, device lists, NCCL and RCCL topology files."""
