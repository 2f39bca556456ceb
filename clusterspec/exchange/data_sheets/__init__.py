"""Data sheets and product pages as text: the figures of a part that a new catalog entry takes."""
