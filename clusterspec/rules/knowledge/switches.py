"""Which packets a switch forwards."""

from __future__ import annotations

from clusterspec.catalog.entries import Switch

ETHERNET = frozenset({"roce", "tcp", "ultra-ethernet"})
"""Families of technologies whose links are Ethernet, and whose packets are frames to a switch."""


def forwards(switch: Switch, family: str) -> bool:
    """Whether a switch forwards the packets of a family of technologies; True where its own families are not known."""
    known = switch.families
    return not known or family in known or (family in ETHERNET and not ETHERNET.isdisjoint(known))
