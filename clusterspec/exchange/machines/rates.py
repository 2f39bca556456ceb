"""Line rates and PCIe speeds as tools print them, and their technologies."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder

GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
"""PCIe generation by GT/s of a lane. Source: PCI-SIG, PCI Express base specifications."""
INFINIBAND = {
    "SDR": (2.5, "infiniband-sdr"),
    "DDR": (5.0, "infiniband-ddr"),
    "QDR": (10.0, "infiniband-qdr"),
    "FDR10": (10.3125, "infiniband-fdr10"),
    "FDR": (14.0625, "infiniband-fdr"),
    "EDR": (25.0, "infiniband-edr"),
    "HDR": (50.0, "infiniband-hdr"),
    "NDR": (100.0, "infiniband-ndr"),
    "XDR": (200.0, "infiniband-xdr"),
}
"""Gb/s of one lane and the technology, by its name. Source: InfiniBand Trade Association, roadmap."""
_BY_RATE = {100: "infiniband-edr", 200: "infiniband-hdr", 400: "infiniband-ndr", 800: "infiniband-xdr"}
_EFA = {"efa-efa0": "efa-v1", "efa-efa1": "efa-v2", "efa-efa2": "efa-v3", "efa-efa3": "efa-v4"}
"""EFA generation by PCI device. Source: Linux, drivers/infiniband/hw/efa/efa_main.c, and AWS instance types."""
FASTEST = 3200
"""Gb/s; no port of a NIC is faster."""


def gigabits(megabits: float) -> float:
    """Gb/s from Mb/s."""
    return megabits / 1000


def rate_text(rate: float) -> str:
    """A line rate in Gb/s as text for a spec.

    >>> rate_text(400.0), rate_text(14.0625)
    ('400 Gb/s', '14.0625 Gb/s')
    """
    return f"{rate:.6g} Gb/s"


def technology_of(rate: float | None, family: str) -> str | None:
    """The catalog id of a scale-out technology by family and line rate in Gb/s; None if there is none."""
    if family.startswith("efa"):
        return _EFA.get(family)
    if family == "infiniband":
        return _BY_RATE.get(round(rate)) if rate else None
    return {"roce": "roce-v2", "slingshot": "slingshot-11"}.get(family)


def set_rate(rate: float | None, family: str, builder: ImportBuilder, line: int) -> None:
    """Set the rate (Gb/s) and technology of the scale-out NICs; an impossible rate is recorded as unknown."""
    if rate is not None and not 0 < rate <= FASTEST:
        why = "no port is that fast: the figure is not in Mb/s"
        builder.unknown(f"cluster.scale_out.nic_bandwidth of {rate:,.0f} Gb/s", why, line)
        rate = None
    if rate is not None:
        builder.set("cluster.scale_out.nic_bandwidth", rate_text(rate), line)
    technology = technology_of(rate, family)
    if technology:
        builder.set("cluster.scale_out.technology", technology, line)
    else:
        builder.unknown("cluster.scale_out.technology", "the file does not name it", line)
