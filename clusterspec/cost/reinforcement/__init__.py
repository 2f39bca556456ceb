"""Reinforcement learning: the time of a step from rollout, training and the transfer of weights."""
