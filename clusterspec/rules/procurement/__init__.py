"""Rules about quotes and prices."""
