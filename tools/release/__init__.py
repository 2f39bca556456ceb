"""The contents of a release."""
