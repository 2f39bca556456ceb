"""InfiniBand and RoCE for the same machine, side by side."""

from __future__ import annotations

from typing import Any

from clusterspec.records import asdict, dataclass


@dataclass(frozen=True)
class NetworkChoice:
    """A technology of the fabric at the NIC rate of the design; ``present`` is the one of the design.

    ``wire`` is the latency in seconds between two adapters that the catalog has, with its basis in ``wire_basis``.
    ``near`` and ``far`` are the predicted latencies of a short message below one leaf and across the whole fabric, in
    seconds; ``predicted`` the rate of long messages across the fabric when all send, in B/s per direction; ``step`` the
    step time in seconds. None if unknown. ``nic_price`` and ``leaf_price`` are those that the spec states for the
    technology of the design, else empty.
    """

    technology: str
    name: str
    present: bool
    lossless: str
    reduces: bool
    wire: float | None
    wire_basis: str
    near: float | None
    far: float | None
    predicted: float | None
    step: float | None
    nic_price: str = ""
    leaf_price: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
