"""The overlap of communication with computation as stated in a spec."""

from __future__ import annotations

from clusterspec.spec.model import LayoutSpec


def forbids_overlap(written: LayoutSpec, axis: str) -> bool:
    """Whether the layout states that the communication of an axis (cp, ep, dp or pp) does not overlap."""
    return written.overlap is not None and getattr(written.overlap, axis) is False
