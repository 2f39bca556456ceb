"""What several rules share: catalog figures, slips, counts, ranges, placements. One subject per file."""
