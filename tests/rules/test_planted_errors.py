"""Each error planted on each part in the catalog is found and named; the right figure stays silent."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec import studies
from tests.effort import each, sampled
from tests.settings import SETTINGS

PARTS = [name for name in SETTINGS.catalog.ids("accelerator") if SETTINGS.catalog.accelerator(name).scale_up_bandwidth]
DEVIATION_RULES = {
    "duplex-counted-as-one-way",
    "one-way-counted-as-duplex",
    "bits-and-bytes-swapped",
    "thousandfold-mistake",
    "bandwidth-of-another-scope",
    "bandwidth-off-catalog",
    "raw-signaling-rate",
    "nic-rate-off-technology",
    "lanes-counted-as-nics",
}
Write = Callable[[float], str]
SCALE_UP: dict[str, tuple[Write, set[str]]] = {
    "right, one way": (lambda g: f"{g:g} GB/s unidirectional", set()),
    "right, both ways": (lambda g: f"{2 * g:g} GB/s duplex", set()),
    "right, in bits": (lambda g: f"{8 * g:g} Gb/s each way", set()),
    "right, rounded": (lambda g: f"{1.02 * g:.1f} GB/s unidirectional", set()),
    "both ways as one": (lambda g: f"{2 * g:g} GB/s unidirectional", {"duplex-counted-as-one-way"}),
    "one way as both": (lambda g: f"{g:g} GB/s duplex", {"one-way-counted-as-duplex"}),
    "bits as bytes": (lambda g: f"{8 * g:g} GB/s unidirectional", {"bits-and-bytes-swapped"}),
    "bits as bytes, both ways": (lambda g: f"{16 * g:g} GB/s duplex", {"bits-and-bytes-swapped"}),
    "bytes as bits": (lambda g: f"{g:g} Gb/s unidirectional", {"bits-and-bytes-swapped"}),
    "a thousand too little": (lambda g: f"{g / 1000:g} GB/s unidirectional", {"thousandfold-mistake"}),
    "a thousand too much": (lambda g: f"{g:g} TB/s unidirectional", {"thousandfold-mistake"}),
    "merely other": (lambda g: f"{1.3 * g:g} GB/s unidirectional", {"bandwidth-off-catalog"}),
}


def written_of(cluster: str) -> set[str]:
    one = studies.study_text(f"clusterspec: 1\nname: planted\ncluster:\n{cluster}", SETTINGS)
    return {finding.rule for finding in one.findings} & DEVIATION_RULES


@each("error", SCALE_UP)
@each("part", sampled(PARTS, 2 * len(PARTS)))
def test_an_error_of_a_scale_up_figure_is_found_and_named(part: str, error: str) -> None:
    write, expected = SCALE_UP[error]
    bandwidth = SETTINGS.catalog.accelerator(part).scale_up_bandwidth
    assert bandwidth
    written = write(bandwidth.value / 1e9)
    assert written_of(f"  accelerator: {part}\n  nodes: 1\n  scale_up: {{bandwidth: {written}}}\n") == expected


TECHNOLOGIES = [
    (name, SETTINGS.catalog.interconnect(name))
    for name in SETTINGS.catalog.ids("interconnect")
    if SETTINGS.catalog.interconnect(name).scope == "scale-out" and SETTINGS.catalog.interconnect(name).port_rates
]
SCALE_OUT: dict[str, tuple[Write, set[str]]] = {
    "right": (lambda g: f"{8 * g:g} Gb/s", set()),
    "right, in bytes": (lambda g: f"{g:g} GB/s", set()),
    "right, both ways": (lambda g: f"{16 * g:g} Gb/s duplex", set()),
    "bits as bytes": (lambda g: f"{8 * g:g} GB/s", {"bits-and-bytes-swapped"}),
    "a thousand too little": (lambda g: f"{8 * g:g} Mb/s", {"thousandfold-mistake"}),
}


@each("error", SCALE_OUT)
@each("name", [name for name, _ in TECHNOLOGIES])
def test_an_error_of_a_line_rate_is_found_and_named(name: str, error: str) -> None:
    write, expected = SCALE_OUT[error]
    rate = SETTINGS.catalog.interconnect(name).port_rates[0].value / 1e9
    fabric = f"{{technology: {name}, nics_per_node: 3, nic_bandwidth: {write(rate)}}}"
    cluster = f"  accelerator: h100-sxm-80gb\n  accelerators_per_node: 8\n  nodes: 4\n  scale_out: {fabric}\n"
    assert written_of(cluster) == expected
