"""What nodes lose with one feed, worked out by hand from the power supplies that the other feeds leave."""

from __future__ import annotations

from fractions import Fraction

import pytest

from clusterspec.cost.feed_loss import FeedLoss, feed_loss, supplies_of
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

DGX = "platform: dgx-h100"
"""Six supplies of 3.3 kW for 10.2 kW, of which eight accelerators have 700 W each."""
RACK = "platform: gb200-nvl72"
"""Eight shelves of 33 kW for the 120 kW of 72 accelerators of 1.2 kW."""
PARTS = "accelerator: l40s, accelerators_per_node: 4"
"""Accelerators of 350 W in a node of unknown power."""


def lost(machine: str, power: str) -> FeedLoss | None:
    design = study_text(f"clusterspec: 1\ncluster: {{{machine}, nodes: 18, power: {{{power}}}}}\n", SETTINGS).design
    assert design.cluster is not None and design.spec.cluster is not None and design.spec.cluster.power is not None
    return feed_loss(design.cluster, design.spec.cluster.power)


@each(
    ("machine", "power", "share", "words"),
    [
        # 3 of 6 supplies: 300 W are missing, 37.5 W of 700 W
        (
            DGX,
            "feeds: 2N",
            Fraction(3, 56),
            "feeds are 2N, but 3 of 6 power supplies of a node are left, 9.9 kW for 10.2 kW: at full load the node is"
            " throttled",
        ),
        # three feeds: 4 of 6 are left
        (
            DGX,
            "feeds: N+1",
            Fraction(0),
            "feeds are N+1: 4 of 6 power supplies of a node are left, 13.2 kW for 10.2 kW",
        ),
        (DGX, "feeds: N", Fraction(1), "0 of 6 power supplies"),
        # 4.2 kW are missing, 525 W of 700 W
        (DGX, "feeds: 2N, supplies: {count: 4, power: 3 kW}", Fraction(3, 4), "2 of 4 power supplies of a node"),
        # two of five supplies are on one of three feeds: 1.2 kW are missing
        (DGX, "feeds: N+1, supplies: {count: 5, power: 3 kW}", Fraction(3, 14), "3 of 5 power supplies of a node"),
        (
            DGX,
            "feeds: 2N, supplies: {count: 4, power: 5.1 kW}",
            Fraction(0),
            "feeds are 2N: 2 of 4 power supplies of a node are left, 10.2 kW for 10.2 kW",
        ),
        # a cap takes 8 × 200 W off the node: 2.6 kW are missing, 325 W of 500 W
        (
            DGX,
            "feeds: 2N, accelerator_cap: 500 W, supplies: {count: 4, power: 3 kW}",
            Fraction(13, 20),
            "6 kW for 8.6 kW",
        ),
        (RACK, "feeds: 2N", Fraction(0), "feeds are 2N: 4 of 8 power supplies of a rack are left, 132 kW for 120 kW"),
        (RACK, "feeds: N", Fraction(1), "the rack is throttled"),
        # the accelerators alone have 1.4 kW: 400 W are missing, 100 W of 350 W
        (
            PARTS,
            "feeds: 2N, supplies: {count: 2, power: 1 kW}",
            Fraction(2, 7),
            "1 kW for 1.4 kW of its accelerators alone",
        ),
    ],
)
def test_a_lost_feed_takes_the_power_that_the_other_supplies_lack(
    machine: str, power: str, share: Fraction, words: str
) -> None:
    found = lost(machine, power)
    assert found is not None
    assert found.lost == pytest.approx(float(share)) and words in found.why
    assert found.is_least is (machine == PARTS)


@each(
    ("machine", "power"),
    [
        (DGX, "budget: 1 MW"),  # no feeds
        (PARTS, "feeds: 2N"),  # no supplies
        (PARTS, "feeds: 2N, supplies: {count: 2}"),
        (PARTS, "feeds: 2N, supplies: {count: 2, power: 1.4 kW}"),  # which carries the accelerators
    ],
)
def test_an_effect_that_does_not_follow_is_unknown(machine: str, power: str) -> None:
    assert lost(machine, power) is None


def test_a_platform_sold_by_the_rack_has_its_supplies_there() -> None:
    cluster = study_text(f"clusterspec: 1\ncluster: {{{RACK}, nodes: 18}}\n", SETTINGS).design.cluster
    assert cluster is not None
    assert supplies_of(cluster, None) == (8, 33e3, 120e3, 18, "rack")
