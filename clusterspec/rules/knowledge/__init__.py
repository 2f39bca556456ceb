"""What several rules share: catalog figures, deviations, counts, ranges, placements. One subject per file."""
