"""Readers of workloads: training configurations, command lines and model configurations."""
