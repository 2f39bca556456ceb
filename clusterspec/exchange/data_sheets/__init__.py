"""Data sheets and product pages as text: the figures of a part that become a new catalog entry."""
