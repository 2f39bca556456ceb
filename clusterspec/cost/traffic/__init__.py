"""Communication of one rank: the collectives of each axis and their sizes."""
