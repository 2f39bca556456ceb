"""Days, risks and shares of a purchase, each worked out by hand from its own inputs."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from math import exp, log
from typing import Any

import pytest

from clusterspec.analysis.failures.lost_hours import YearlyLoss, first_year_factor, hours_lost, rate_variance
from clusterspec.analysis.fleets.pool_sizes import pool_sizes_to_try
from clusterspec.analysis.purchase.dates import delivery_gate, order_day, sold_gate
from clusterspec.analysis.purchase.risks import MOST_RISKS, idle_value, largest_risks, rounded_amount
from clusterspec.analysis.purchase.serving_choices import engines_of, scaled_plan
from clusterspec.cluster.requests import Engines
from clusterspec.money import Money
from clusterspec.procurement.bill import bill
from clusterspec.quantity import DAY, Quantity
from clusterspec.records import replace
from clusterspec.results.verdict import Gate, GateStatus, Risk
from clusterspec.spec.model import DeliverySpec, OperationsSpec, ProcurementSpec, Spec
from tests.analysis.jobs import study_of

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("as_of", "day"),
    [(None, TODAY), ("2026-11-19", TODAY), ("2026-11-20", TODAY), ("2026-11-21", date(2026, 11, 21))],
)
def test_an_order_is_placed_today_or_when_its_prices_hold(as_of: str | None, day: date) -> None:
    assert order_day(ProcurementSpec(as_of=as_of), TODAY) == day


def gate(weeks: float | None, burn_in: float | None = None, **keys: Any) -> Gate:
    buying = ProcurementSpec(delivery=DeliverySpec(weeks=weeks) if weeks is not None else None, **keys)
    hours = Quantity(burn_in * 3600, "s", f"{burn_in} h") if burn_in is not None else None
    return delivery_gate(Spec("x", procurement=buying, operations=OperationsSpec(burn_in=hours)), TODAY, rents=False)


def test_a_delivery_ends_its_weeks_and_its_burn_in_after_the_order() -> None:
    """2 weeks from 2026-11-20 end on 2026-12-04; a burn-in of 36 h ends a day and a half later."""
    needed: dict[str, Any] = {"needed_by": "2026-12-04"}
    exact = gate(2, **needed)
    assert exact.status is GateStatus.MET and exact.text == "2 weeks, 0 days before 2026-12-04 if ordered on 2026-11-20"
    early = gate(1, **needed)
    assert early.status is GateStatus.MET and "7 days before" in early.text
    late = gate(3, **needed)
    assert late.status is GateStatus.FAILED and late.text == "3 weeks from 2026-11-20 end 7 days after 2026-12-04"
    assert late.ask == "move the date, or have parts delivered earlier"
    burnt = gate(2, 48, **needed)
    assert burnt.status is GateStatus.FAILED
    assert burnt.text == "2 weeks and the burn-in from 2026-11-20 end 2 days after 2026-12-04"
    dated = gate(2, as_of="2026-11-22", **needed)
    assert dated.status is GateStatus.FAILED and "2 days after" in dated.text
    assert dated.ask == "order earlier, move the date, or have parts delivered earlier"
    assert gate(2).text == "2 weeks" and gate(2, needed_by="soon").status is GateStatus.MET
    assert gate(2, as_of="soon", **needed).text == "2 weeks"
    assert gate(None).status is GateStatus.OPEN
    assert delivery_gate(Spec("x"), TODAY, rents=True).status is GateStatus.NOT_NEEDED
    assert delivery_gate(Spec("x"), TODAY, rents=False).status is GateStatus.OPEN


def test_a_part_that_is_not_sold_opens_only_a_gate_that_is_met_or_open() -> None:
    cluster = study_of("cluster: {platform: dgx-a100, nodes: 2}\n").design.cluster
    sold = study_of("cluster: {platform: dgx-h100, nodes: 2}\n").design.cluster
    assert cluster is not None and sold is not None
    for status, after in (
        (GateStatus.MET, GateStatus.OPEN),
        (GateStatus.OPEN, GateStatus.OPEN),
        (GateStatus.FAILED, GateStatus.FAILED),
        (GateStatus.NOT_NEEDED, GateStatus.NOT_NEEDED),
    ):
        given = Gate("delivery", status, "told")
        assert sold_gate(given, cluster).status is after and sold_gate(given, sold) == given
        kept = "told" in sold_gate(given, cluster).text
        assert kept == (status is not GateStatus.MET)


def risk(name: str, money: float | None = None, days: float | None = None) -> Risk:
    return Risk(name, days, None if money is None else Money.of(money, "EUR"), "")


def test_the_largest_risks_are_those_with_the_most_money_and_then_the_most_days() -> None:
    found = largest_risks(
        iter(
            [
                risk("days", days=9),
                risk("less", 5),
                risk("more", 7),
                risk("none"),
                risk("zero", 0, 0),
                risk("late", 5, 1),
            ]
        )
    )
    assert MOST_RISKS == 3
    assert [each.risk for each in found] == ["more", "late", "less"]
    assert [each.risk for each in largest_risks(iter([risk("b", days=1), risk("a", days=2)]))] == ["a", "b"]
    assert largest_risks(iter([risk("gain", -5), risk("early", days=-1)])) == []


def test_idle_nodes_are_worth_their_share_of_all_nodes() -> None:
    text = "cluster: {platform: dgx-h100, nodes: 3, spare_nodes: 1}\nprocurement: {currency: EUR, PRICES}\n"
    bought, unpriced = (
        bill(study_of(text.replace("PRICES", prices)).design)
        for prices in ("prices: {node: [1000, 1001.3], cable: 900}", "prices: {cable: 900}")
    )
    assert idle_value(0.25, bought) == Money(750, 751, "EUR")  # of three nodes without the spare, to whole units
    assert idle_value(0.25, unpriced) is None
    assert rounded_amount(Money(1.4, 1.6, "EUR")) == Money(1, 2, "EUR")


def test_plans_are_scaled_to_whole_engines() -> None:
    prompts, answers = Engines(replicas=2, tp=4), Engines(replicas=4, tp=2)
    assert scaled_plan((None, answers), Fraction(1, 2)) == (None, replace(answers, replicas=2))
    assert scaled_plan((None, answers), Fraction(1, 8)) is None
    assert scaled_plan((prompts, answers), Fraction(3, 2)) == (
        replace(prompts, replicas=3),
        replace(answers, replicas=6),
    )
    assert scaled_plan((prompts, answers), Fraction(1, 4)) is None  # half an engine of prompts
    assert engines_of((None, answers)).keys() == {"both"}
    assert engines_of((prompts, answers)).keys() == {"prefill", "decode"}


def test_sizes_of_a_pool_are_whole_domains_and_those_that_are_stated() -> None:
    assert pool_sizes_to_try(16, 1) == [*range(1, 17)]
    assert pool_sizes_to_try(17, 1) == [1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17]
    assert pool_sizes_to_try(6, 9) == [6]  # fewer nodes than a domain
    assert pool_sizes_to_try(40, 18, (36, 19, 54)) == [18, 36]
    assert pool_sizes_to_try(64, 1, (7, 64, 65)) == sorted({*pool_sizes_to_try(64, 1), 7})


def test_hours_of_few_failures_are_quantiles_of_their_number() -> None:
    """3 failures a year of 2 h each: their number is Poisson, with 1 and 6 failures at 5 % and 95 %."""
    mean, found = hours_lost([YearlyLoss(3.0, 2.0)])
    assert mean == 6.0
    assert found == pytest.approx({0.05: 2.0, 0.5: 6.0, 0.95: 12.0}, abs=0.05)
    loss = YearlyLoss(1.0, 2.0, 6.0)
    assert (loss.mean, loss.mean_square_hours) == (5.0, 28.0)  # 25 and 36 / 12
    assert hours_lost([]) == (0.0, {0.05: 0.0, 0.5: 0.0, 0.95: 0.0})
    assert hours_lost([YearlyLoss(0.0, 5.0)])[1][0.95] == 0.0
    for share in (0.05, 0.5, 0.95):
        # a year has no failure with the probability e^-m, here just above and just below the share
        never, often = (hours_lost([YearlyLoss(-log(share + by), 5.0)])[1][share] for by in (0.0002, -0.0002))
        assert never == 0.0 and often == pytest.approx(5.0, abs=0.1)


def test_hours_of_many_failures_are_normal_or_gamma() -> None:
    """400 failures of 1 h: a deviation of 20 h. With a variance of 0.01 of the rate it is √(400 + 1,600) = 44.7 h, of
    a gamma distribution whose quantiles are (1 − v / 9 + z √(v / 9))³ times the mean, with v = 2,000 / 400².
    """
    mean, found = hours_lost([YearlyLoss(400.0, 1.0)])
    assert mean == 400.0
    assert found == pytest.approx({0.05: 400 - 1.6449 * 20, 0.5: 400.0, 0.95: 400 + 1.6449 * 20}, rel=1e-5)
    _, found = hours_lost([YearlyLoss(400.0, 1.0)], 0.01)
    part = 2000 / 400**2 / 9
    wanted = {
        share: 400 * (1 - part + at * part**0.5) ** 3 for share, at in ((0.05, -1.6449), (0.5, 0), (0.95, 1.6449))
    }
    assert found == pytest.approx(wanted, rel=1e-5)
    lattice, limit = (hours_lost([YearlyLoss(count, 1.0)])[1] for count in (299.99, 300.0))
    assert limit[0.95] == pytest.approx(300 + 1.6448536 * 300**0.5, rel=1e-6)
    assert lattice[0.95] != limit[0.95] and lattice[0.95] == pytest.approx(limit[0.95], rel=0.01)
    assert hours_lost([YearlyLoss(300.0, 1.0)], 50.0)[1][0.05] == 0.0


def test_an_uncertain_rate_spreads_the_hours_of_few_failures() -> None:
    """A negative binomial number: with a variance of 1 it is geometric, (1 − p) p^n with p = 3 / 4 for a mean of 3."""
    _, found = hours_lost([YearlyLoss(3.0, 1.0)], 1.0)
    # the sum of (1 / 4) (3 / 4)^n reaches 0.05 at n = 0, 0.5 at n = 2 and 0.95 at n = 10
    assert found == pytest.approx({0.05: 0.0, 0.5: 2.0, 0.95: 10.0}, abs=0.06)


def test_the_variance_of_a_rate_follows_from_its_ends() -> None:
    """exp((ln(high / low) / 2 / 1.645)²) − 1; with a low end of 0, ln(high / mean) instead of half of the range."""
    assert rate_variance(1.0, 0.25, 4.0) == pytest.approx(exp((log(4) / 1.6448536) ** 2) - 1)
    assert rate_variance(2.0, 0.0, 4.0) == pytest.approx(exp((log(2) / 1.6448536) ** 2) - 1)
    assert rate_variance(2.0, 0.0, 1.0) == rate_variance(2.0, 3.0, 3.0) == rate_variance(0.0, 1.0, 3.0) == 0.0


def test_half_of_the_early_failures_are_gone_after_each_half_life() -> None:
    """Three times as often at first, a half-life of 1 year: 1 + 2 × (1 / ln 2) / 2 in the first year; after a burn-in
    of a year half as much more.
    """
    whole = first_year_factor(3.0, 1.0, 0.0, 1.0)
    assert whole == pytest.approx(1 + 2 * (1 - 0.5) / log(2))
    assert first_year_factor(3.0, 1.0, 1.0, 1.0) - 1 == pytest.approx((whole - 1) / 2)
    assert first_year_factor(1.0, 1.0, 0.0, 1.0) == 1.0
    assert DAY == 86400
