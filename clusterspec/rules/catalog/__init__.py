"""Rules that hold the spec against the catalog: names, parts that belong together, figures of a part."""
