"""Waits of prompts, and what prompts add to the steps of the sequences that decode."""
