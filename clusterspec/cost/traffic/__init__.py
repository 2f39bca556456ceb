"""What the ranks send each other: the collectives of each axis, their sizes, and how long they take."""
