"""Computation of one rank: kernels by shape, and the time of a layer and of a stage."""
