"""Rules about what a supplier must show."""
