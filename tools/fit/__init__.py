"""``python -m tools.fit``: fits the constants of the time model to three of four published runs, and checks the fourth.

Every constant belongs to a family (a chip, a generation of software), has a physical meaning, and has a prior
(``constants.toml``). With ``--write`` the fitted values go into the catalog, each with a description of the fit.
"""
