"""The web site: documentation from docs/, the playground, and the engine that runs in it."""
