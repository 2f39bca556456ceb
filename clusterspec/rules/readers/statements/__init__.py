"""What texts state of a design: figures and names that are compared with its keys."""
