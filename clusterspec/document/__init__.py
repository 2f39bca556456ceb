"""Text: YAML as written, with a place for every key and value."""
