"""What is wrong with a configuration."""

from __future__ import annotations


class ConfigFault(ValueError):
    """What is wrong with a configuration, in one line that names the file."""
