"""Exports loaded by the code of their targets: ``python -m tools.loads DIR [--python PYTHON]``."""
