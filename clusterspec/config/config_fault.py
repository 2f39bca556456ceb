"""The exception for invalid configurations."""

from __future__ import annotations


class ConfigFault(ValueError):
    """Raised for an invalid configuration, with a one-line message that names the file."""
