"""Rules that compare the spec with the catalog: names, parts that belong together, figures of parts."""
