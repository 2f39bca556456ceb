"""Failures of parts: what one or two stop, how often, and the hours that they cost."""
