"""Reinforcement learning: trainers with engines that generate samples."""
