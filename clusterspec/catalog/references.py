"""Keys of a spec whose value is the id of a catalog entry."""

from __future__ import annotations

KINDS_OF_KEYS = {
    "platform": "platform",
    "accelerator": "accelerator",
    "like": "accelerator",
    "interconnect": "interconnect",
    "technology": "interconnect",
    "nic": "nic",
    "switch": "switch",
    "model": "model",
    "base": "model",
}
"""The kind of entry that the value of a key names, where it is a text."""
