"""What the bill counts, the rules on fabrics accept: an order of exactly that adds no finding."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.analysis.outputs import bill
from clusterspec.cluster.fabric import Fabric
from clusterspec.studies import study_text
from tests.effort import examples
from tests.settings import SETTINGS

SPECS = [  # platform, nodes, scale_out
    ("gb200-nvl72", 144, "technology: infiniband-ndr, topology: rail-optimized"),
    ("gb200-nvl72", 144, "technology: infiniband-ndr, topology: fat-tree, extra_endpoints: 4"),
    ("gb300-nvl72", 144, "technology: infiniband-xdr, topology: rail-optimized"),
    ("dgx-h100", 63, "switch_ports: 144, topology: rail-optimized"),
    ("dgx-h100", 95, "topology: rail-optimized"),
    ("dgx-h100", 44, "topology: fat-tree"),
    ("dgx-b300", 72, "technology: infiniband-xdr, topology: rail-optimized"),
    ("dgx-b300", 128, "technology: spectrum-x, topology: rail-optimized, planes: 2"),
    ("dgx-h100", 512, "topology: fat-tree, oversubscription: '3:1'"),
]


def text(platform: str, nodes: int, scale_out: str) -> str:
    return f"clusterspec: 1\ncluster: {{platform: {platform}, nodes: {nodes}, scale_out: {{{scale_out}}}}}\n"


def fabric_findings(platform: str, nodes: int, scale_out: str) -> list[str]:
    findings = study_text(text(platform, nodes, scale_out), SETTINGS).checked.findings
    return sorted(f"{one.rule}: {one.message}" for one in findings if one.rule in FABRIC_RULES)


FABRIC_RULES = {
    "few-spines",
    "surplus-fabric-parts",
    "too-few-cables",
    "too-few-switches",
    "uneven-rail-leaves",
    "uneven-spine-uplinks",
}


def ordered(fabric: Fabric) -> str:
    """The counts of the bill as the keys of an order."""
    counts = {name: getattr(fabric, name) for name in ("leaf_switches", "spine_switches", "core_switches")}
    per_level = {"links": fabric.links, "cables": fabric.cables}
    parts = [f"{name}: {count}" for name, count in counts.items()]
    parts += [f"{name}: {{{', '.join(f'{k}: {v}' for k, v in of.items())}}}" for name, of in per_level.items()]
    return ", ".join(parts)


def assert_order_is_accepted(platform: str, nodes: int, scale_out: str) -> None:
    found = bill(study_text(text(platform, nodes, scale_out), SETTINGS)).fabric
    assert found is not None
    if found.fits:
        assert fabric_findings(platform, nodes, f"{scale_out}, {ordered(found)}") == []


@pytest.mark.parametrize(("platform", "nodes", "scale_out"), SPECS)
def test_a_fabric_that_the_bill_proposes_draws_no_finding(platform: str, nodes: int, scale_out: str) -> None:
    assert_order_is_accepted(platform, nodes, scale_out)


@settings(max_examples=examples(10), deadline=None)
@given(
    st.sampled_from(["dgx-h100", "dgx-b300", "gb200-nvl72"]),
    st.integers(2, 1_500),
    st.sampled_from(["fat-tree", "rail-optimized", "rail-only", "single-switch"]),
    st.sampled_from([None, 32, 64, 128, 144]),
    st.integers(1, 2),
    st.sampled_from([None, "2:1", "3:1"]),
    st.integers(0, 8),
)
def test_any_fabric_that_the_bill_proposes_draws_no_finding(
    platform: str, nodes: int, topology: str, ports: int | None, planes: int, ratio: str | None, extra: int
) -> None:
    keys = {"topology": topology, "switch_ports": ports, "planes": planes, "extra_endpoints": extra}
    written = [f"{name}: {value}" for name, value in keys.items() if value is not None]
    written += [f"oversubscription: '{ratio}'"] if ratio else []
    assert_order_is_accepted(platform, nodes, ", ".join(written))


UNEVEN = [  # leaves and spines of 64 nodes on 64-port switches, and the spines that are advised; None where none is
    (16, 12, 16),
    (16, 10, 8),
    (16, 64, 8),  # 32 uplinks reach 32 of 64 spines
    (20, 64, 32),
    (16, 33, 8),
    (16, 16, None),
    (16, 32, None),
    (16, 8, None),
    (20, 10, None),  # 640 uplinks need 10; 16, the next number that divides 32, would be 60 % more
]


@pytest.mark.parametrize(("leaves", "spines", "advised"), UNEVEN)
def test_uplinks_spread_evenly_where_a_number_near_divides_them(leaves: int, spines: int, advised: int | None) -> None:
    order = f"topology: fat-tree, switch_ports: 64, leaf_switches: {leaves}, spine_switches: {spines}"
    findings = study_text(text("dgx-h100", 64, order), SETTINGS).checked.findings
    found = [one for one in findings if one.rule == "uneven-spine-uplinks"]
    assert len(found) == (advised is not None)
    assert advised is None or f"use {advised} spines" in (found[0].help or "")


def test_uplinks_that_spread_nearly_evenly_are_a_note() -> None:
    """64 uplinks over 3 spines are 21 or 22 each: at 21 each, 1 of 64 is lost; over 12, 8 of 32 are."""
    near = "topology: fat-tree, switch_ports: 128, leaf_switches: 5, spine_switches: 3"
    far = "topology: fat-tree, switch_ports: 64, leaf_switches: 16, spine_switches: 12"
    severities = [
        [one.severity for one in study_text(each, SETTINGS).checked.findings if one.rule == "uneven-spine-uplinks"]
        for each in (text("dgx-h100", 40, near), text("dgx-h100", 64, far))
    ]
    assert severities == [["note"], ["warning"]]
