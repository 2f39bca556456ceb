"""Rules of reinforcement learning: the tail of rollout, balance and memory of roles, and transfers of weights."""
