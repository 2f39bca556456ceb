"""What would stand in the room, and how the work is laid on it."""
