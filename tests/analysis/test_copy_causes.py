"""Causes of slow copies between host and accelerators, by hand-worked shares of a slot."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.copy_causes import SLOW, USABLE
from clusterspec.cost.formulas.collectives import slot_rate
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import read

NODE = (
    "{{accelerator: a100-pcie-40gb, accelerators_per_node: 2, nodes: 1, pcie: {{host: {}}}, "
    "scale_up: {{topology: pcie, domain: 2}}}}"
)
COPIES = """ Host to Device Bandwidth, 1 Device(s)
   33554432    {}
 Device to Host Bandwidth, 1 Device(s)
   33554432    {}
"""


@pytest.mark.parametrize(
    ("generation", "there", "back", "first"),
    [
        # PCIe 4 x16 carries 31.5 GB/s, of which copies reach 26.8
        (4, 13.2, 13.4, "wrong-pcie-generation"),  # half in both directions
        (4, 6.6, 6.7, "wrong-pcie-generation"),  # a quarter
        (4, 9.5, 6.1, "core-binding"),  # unlike directions, as over another socket
        (4, 9.6, 9.5, "core-binding"),  # alike, but no half: 0.36
        (5, 26.2, 26.4, "wrong-pcie-generation"),  # a slot of generation 4
    ],
)
def test_halves_are_of_lanes_and_other_shares_of_another_socket(
    generation: int, there: float, back: float, first: str
) -> None:
    found = read(NODE.format(generation), COPIES.format(f"{there * 1e3:.1f}", f"{back * 1e3:.1f}"), 1)
    assert found is not None and names(found)[0] == first
    assert {"wrong-pcie-generation", "core-binding"} <= set(names(found))


@pytest.mark.parametrize(("generation", "rate"), [(3, 12.4), (4, 25.0), (5, 52.0)])
def test_copies_near_the_rate_of_the_slot_have_no_cause(generation: int, rate: float) -> None:
    assert rate * 1e9 > SLOW * USABLE * slot_rate(generation)
    found = read(NODE.format(generation), COPIES.format(f"{rate * 1e3:.1f}", f"{rate * 1e3:.1f}"), 1)
    assert found is None or not {"wrong-pcie-generation", "core-binding"} & set(names(found))
