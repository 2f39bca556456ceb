"""Reasons and limits of single rules, called with figures by hand."""

from __future__ import annotations

import pytest

from clusterspec.catalog.entries import Optics
from clusterspec.catalog.reader import Status
from clusterspec.quantity import Bandwidth
from clusterspec.records import replace
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.market import BANDS, StatedPrice
from clusterspec.rules.physical.optics_mixed import _difference_text
from clusterspec.rules.procurement.price_outside_market import _lowest_rent
from clusterspec.rules.scale_up import low_scale_up_bandwidth
from tests.cost.collectives.machines import cluster
from tests.cost.collectives.test_algorithms import ORIGIN
from tests.effort import each

LANE = Bandwidth.one_way(12.5e9, ORIGIN)
DR = Optics("dr", "DR", "", Status("shipping", "2026-11-01"), (), type="module", reach_class="DR", media="singlemode")
MIXED = [  # the changes of the two ends, and the reason why they do not work together
    ({}, {}, ""),
    ({}, {"id": "other"}, ""),
    ({}, {"id": "other", "type": "dac"}, "a cable with fixed ends takes no module"),
    ({"type": "aoc"}, {"id": "other"}, "a cable with fixed ends takes no module"),
    ({"type": "aoc"}, {"id": "other", "type": "dac"}, ""),  # no module
    ({}, {"type": "dac"}, ""),  # one part
    ({}, {"media": "multimode"}, "singlemode and multimode"),
    ({}, {"reach_class": "FR"}, "DR and FR"),
    ({"lane_bandwidth": LANE}, {}, ""),
    ({}, {"lane_bandwidth": LANE}, ""),
    ({"lane_bandwidth": LANE}, {"lane_bandwidth": LANE}, ""),
    ({"lane_bandwidth": LANE}, {"lane_bandwidth": Bandwidth.one_way(6.25e9, ORIGIN)}, "lanes of 100 Gb/s and 50 Gb/s"),
]


@each(("lower", "upper", "reason"), MIXED)
def test_two_ends_work_together_unless_a_property_differs(
    lower: dict[str, str], upper: dict[str, str], reason: str
) -> None:
    assert _difference_text(replace(DR, **lower), replace(DR, **upper)) == reason  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("memory", "links", "reported"),
    [(12.0, 1.0, False), (12.1, 1.0, True), (12.0, 0.99, True), (3.0, 0.0, False), (None, 1.0, False)],
)
def test_links_of_no_bandwidth_are_not_compared(memory: float | None, links: float, reported: bool) -> None:
    """The memory may have twelve times the bandwidth of the links."""
    found = cluster("platform: dgx-h100\nnodes: 1")
    part = replace(
        found.accelerator, memory_bandwidth=None if memory is None else Bandwidth.one_way(memory * 1e12, ORIGIN)
    )
    scale_up = replace(found.scale_up, bandwidth=Bandwidth.one_way(links * 1e12, ORIGIN))
    assert bool([*low_scale_up_bandwidth.check(Deviations(()), part, scale_up, None)]) is reported


@pytest.mark.parametrize("kind", sorted(BANDS))
def test_the_excess_of_a_price_is_its_distance_from_the_range(kind: str) -> None:
    """A price for five units, from half of the lowest to three times the highest."""
    low, high = BANDS[kind].low, BANDS[kind].high
    for least, most, excess in (
        (low / 4, low / 2, 0.5),
        (low, low, 1.0),
        (high, high, 1.0),
        (low / 2, high * 2, 1.0),
        (high * 3, high * 9, 3.0),
    ):
        assert StatedPrice(("x",), kind, 5 * least, 5 * most, 5.0).ratio_to_range == pytest.approx(excess)


@each(
    ("hourly", "usual", "listed", "count", "least"),
    [
        (50.0, None, None, 8, None),
        (50.0, (2.0, 8.0), None, 8, 1.0),  # half of the lowest
        (2.0, (2.0, 8.0), None, 8, 1.5),  # a usual rent of one accelerator: three quarters
        (8.0, (2.0, 8.0), None, 8, 1.5),
        (8.1, (2.0, 8.0), None, 8, 1.0),
        (1.9, (2.0, 8.0), None, 8, 1.0),
        (50.0, None, (12.0, 12.0), 8, 3.0),  # a quarter of the list
        (50.0, (2.0, 8.0), (12.0, 12.0), 8, 1.0),
        (13.2, (2.0, 8.0), (12.0, 12.0), 8, 3.6),  # up to 1.1 times the list price of one
        (13.3, (2.0, 8.0), (12.0, 12.0), 8, 1.0),
        (13.2, (2.0, 8.0), (12.0, 12.0), 3, 1.0),  # 4.4 for each of three: not below 0.3 of the list
        (10.8, (2.0, 4.0), (12.0, 12.0), 3, 1.0),  # exactly 0.3
    ],
)
def test_the_least_rent_is_relative_to_the_market_and_the_list(
    hourly: float,
    usual: tuple[float, float] | None,
    listed: tuple[float, float] | None,
    count: int,
    least: float | None,
) -> None:
    found = _lowest_rent(hourly, usual, listed, count)
    assert found == (None if least is None else pytest.approx(least))
