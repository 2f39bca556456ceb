"""``python -m tools.fit``: fits the constants of the time model to three of four published runs, and checks the fourth.

Every constant belongs to a family (a chip, a generation of software), means something physical, and is
drawn towards what was known of it beforehand (``constants.toml``); with ``--write`` the fitted values go
into the catalog, where each says how it came about.
"""
