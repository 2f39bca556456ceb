"""Readers of work: training configurations, launch lines and model configurations."""
