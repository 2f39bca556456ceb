"""The spec: typed values as requested by the author, before resolution."""
