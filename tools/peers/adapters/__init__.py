"""One adapter for each peer; it runs in the peer's own interpreter and needs the standard library and the peer
alone."""
