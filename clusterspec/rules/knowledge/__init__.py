"""What several rules share: figures of the catalog, slips, counts, ranges, placements. One subject per file."""
