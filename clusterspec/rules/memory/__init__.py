"""Rules about the memory of one rank."""
