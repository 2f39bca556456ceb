"""Quote lines: parts, links, stores, support and units."""
