"""Launches, configurations and recipes of Megatron-LM, NeMo and Megatron-Bridge."""
