"""Laws of serving plans on plans drawn at random: `python -m tools.serving_laws`."""
