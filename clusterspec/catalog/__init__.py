"""What is known: catalog entries, every figure cited."""
