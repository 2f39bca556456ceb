"""The cost of a pool of a fleet: the energy of its jobs and of its idle nodes, worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.cost.term import Term
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost, cost, yearly_costs
from clusterspec.procurement.pool_cost import (
    PoolJob,
    cost_at_nameplates,
    job_cost_in_pool,
    job_energy,
    nameplate_energy,
    pool_cost,
)
from clusterspec.records import replace
from tests.cluster.resolving import clean

POOL = """
cluster:
  platform: dgx-h100
  nodes: 4
  power: {node: 10 kW, switch: 2 kW}
procurement: {currency: USD, term: 4 years, prices: {node: [200000, 300000]}, electricity: 0.10, pue: 1.25}
"""
KILOWATT = 35_064 * 1.25 * 0.10
"""USD for a kW over four years."""
NAMEPLATES = (4 * 10 + 2) * KILOWATT
IDLE = (4 * 8 * 0.3024 + 2) * KILOWATT
"""Of four nodes without work, 8 × (70 + 196 + 0.16 × (700 + 3 × 70) / 4) W each, and of their switch."""


def of_job(energy: float | None, *, nodes: int = 4, total: float = 7.0) -> Cost:
    """The cost of a job with a known energy of its nodes over the term, from 0.9 to 1.2 times of it."""
    design = clean(POOL)
    found = cost(design, None, bill(design))
    assert found is not None
    parts = () if energy is None else (Term("energy", energy, "USD", "", low=0.9 * energy, high=1.2 * energy),)
    capital = Term("capital", 5.0, "USD", "")
    whole = Term("total", total, "USD", "", parts=(capital, *parts))
    return replace(
        found, total=whole, of_nodes=whole, by_year=yearly_costs(whole, 2.0), charged_accelerators=8 * nodes, years=2.0
    )


def of_pool(*jobs: PoolJob, text: str = POOL) -> Cost:
    design = clean(text)
    found = pool_cost(design, bill(design), jobs)
    assert found is not None
    return found


def energy(found: Cost) -> Term:
    assert found.total is not None
    return next(part for part in found.total.parts if part.name == "energy")


def ends(term: Term) -> tuple[float, float, float]:
    return term.ends[0], term.value, term.ends[1]


@pytest.mark.parametrize(
    ("jobs", "known", "nameplates", "idle"),
    [
        pytest.param([], 0.0, 0.0, 1.0, id="no-job"),
        pytest.param([(3, 0.5, 1000.0), (1, 1.0, None)], 500.0, 0.25, 1 - 2.5 / 4, id="nameplates-of-one-node"),
        pytest.param([(2, 0.5, None)], 0.0, 0.25, 0.75, id="two-nodes-for-half-of-the-term"),
        pytest.param([(4, 0.5, 1000.0), (4, 0.5, 3000.0)], 2000.0, 0.0, 0.0, id="in-turn"),
        pytest.param([(4, 1.0, 1000.0), (2, 1.0, 2000.0)], 3000.0, 0.0, 0.0, id="more-nodes-than-the-pool-has"),
        pytest.param([(4, 0.75, 1000.0)], 750.0, 0.0, 0.25, id="alone-but-not-always"),
    ],
)
def test_a_pool_pays_the_energy_of_its_jobs_and_of_idle_nodes(
    jobs: list[tuple[int, float, float | None]], known: float, nameplates: float, idle: float
) -> None:
    found = of_pool(*(PoolJob(n, share, None if e is None else of_job(e, nodes=n)) for n, share, e in jobs))
    drawn = energy(found)
    rest = nameplates * NAMEPLATES + idle * IDLE
    assert drawn.value == pytest.approx(known + rest)
    assert [part.name for part in drawn.parts] == ["jobs", "idle_nodes"]
    assert [part.name for part in drawn.parts[0].parts] == [f"job_{n}" for n in range(1, len(jobs) + 1)]
    assert drawn.parts[1].value == pytest.approx(idle * IDLE)
    least, _, most = ends(drawn)
    assert least <= drawn.value <= most
    if known:
        assert least <= 0.9 * known + rest < drawn.value < 1.2 * known + rest <= most
    assert found.total is not None and found.total.value == pytest.approx(1_000_000 + drawn.value)
    assert ends(found.total) == pytest.approx((800_000 + least, 1_000_000 + drawn.value, 1_200_000 + most))
    assert sum(year.total for year in found.by_year) == pytest.approx(found.total.value) and len(found.by_year) == 4


def test_a_pool_whose_parts_have_no_range_has_none() -> None:
    own = of_job(1000.0)
    (capital, drawn) = own.total.parts if own.total is not None else ()
    exact = replace(own, of_nodes=Term("total", 7.0, "USD", "", parts=(capital, replace(drawn, low=None, high=None))))
    half = PoolJob(4, 0.5, exact)
    found = of_pool(half, half, text=POOL.replace("[200000, 300000]", "250000"))
    assert found.total is not None and found.total.value == pytest.approx(1_001_000)
    assert (found.total.low, found.total.high, energy(found).low) == (None, None, None)


def test_a_job_that_always_has_all_nodes_gives_the_pool_its_total() -> None:
    own = of_job(1000.0)
    found = of_pool(PoolJob(4, 1, own))
    assert (found.total, found.by_year, found.years) == (own.total, own.by_year, 4), "the machine keeps its term"
    for job in (PoolJob(4, 0.5, own), PoolJob(3, 1, of_job(1000.0, nodes=3)), PoolJob(4, 1, None)):
        assert of_pool(job).total != own.total, job.share
    assert of_pool(PoolJob(4, 1, own), PoolJob(1, 0.1, own)).total != own.total


def test_a_pool_without_a_term_or_a_price_of_electricity_has_the_cost_of_its_machine() -> None:
    for gone, parts in (
        (" electricity: 0.10,", {"capital"}),
        (" term: 4 years,", {"capital"}),
        ("", {"capital", "energy"}),
    ):
        text = POOL.replace(gone, "") if gone else POOL
        found = of_pool(PoolJob(2, 0.5, None), text=text)
        assert found.total is not None and {part.name for part in found.total.parts} == parts, gone
        assert len(found.by_year) == (0 if "term" in gone else 4)
        assert (nameplate_energy(clean(text), bill(clean(text))) is None) == bool(gone)
    free = POOL.replace("prices: {node: [200000, 300000]}, electricity: 0.10,", "")
    assert of_pool(PoolJob(2, 0.5, None), text=free).total is None


def test_nameplates_count_all_nodes_at_full_power() -> None:
    design = clean(POOL)
    whole = nameplate_energy(design, bill(design))
    assert whole is not None and whole.value == pytest.approx(NAMEPLATES)
    assert cost_at_nameplates(design, bill(design)) == pytest.approx(1_000_000 + NAMEPLATES)
    bare = clean("cluster: {platform: dgx-h100, nodes: 4}\n")
    assert cost_at_nameplates(bare, bill(bare)) is None


def test_idle_nodes_draw_their_nameplates_where_the_power_of_the_accelerator_is_not_known() -> None:
    design = clean(POOL)
    assert design.cluster is not None
    unknown = replace(design.cluster.accelerator, power=None)
    found = pool_cost(
        replace(design, cluster=replace(design.cluster, accelerator=unknown)), bill(design), [PoolJob(2, 0.5, None)]
    )
    assert found is not None and energy(found).value == pytest.approx(NAMEPLATES)


def test_the_energy_of_a_job_is_that_of_its_nodes() -> None:
    known = job_energy(of_job(1000.0))
    assert known is not None and known.value == 1000
    assert job_energy(of_job(None)) is None and job_energy(None) is None
    assert job_energy(replace(of_job(1000.0), of_nodes=None)) is None


def test_a_job_in_a_pool_has_the_total_of_the_pool_and_its_own_run() -> None:
    run, each = Term("run", 100.0, "s", "t / g", low=90.0, high=120.0), Term("per_run", 40.0, "USD", "s * r")
    own, pool = replace(of_job(1000.0), run=run, per_run=each), of_job(2000.0, total=99.0)
    found = job_cost_in_pool(own, pool, 1, 1)
    assert (found.total, found.by_year, found.share) == (pool.total, pool.by_year, 1)
    assert (found.run, found.per_run, found.of_nodes) == (run, each, own.of_nodes)
    assert not found.has_other_jobs
    slow = job_cost_in_pool(own, pool, 0.5, 1.5)
    assert slow.run is not None and slow.per_run is not None and slow.has_other_jobs and slow.share == 0.5
    assert (slow.run.low, slow.run.value, slow.run.high) == (135, 150, 180)
    assert (slow.per_run.low, slow.per_run.value, slow.per_run.high) == (None, 60, None)
    assert slow.run.formula == "t / g * store_wait" and slow.run.inputs[-1][1].value == 1.5
    assert job_cost_in_pool(replace(own, charged_accelerators=24), pool, 1, 1).has_other_jobs, "three nodes of four"
    apart = job_cost_in_pool(own, pool, None, 1)
    assert apart.has_other_jobs and apart.share is None, "nodes of several pools"
    for unknown in (None, replace(pool, total=None)):
        assert job_cost_in_pool(own, unknown, 1, 1).total == own.total
    assert job_cost_in_pool(replace(own, run=None, per_run=None), pool, 1, 2).run is None


def test_a_job_is_billed_its_share_of_the_term_and_an_hour_of_use_the_cost_of_its_nodes() -> None:
    own = of_job(1000.0, total=8766.0)
    assert own.of_nodes is not None
    part = replace(own, of_nodes=replace(own.of_nodes, low=8000.0, high=9000.0), utilization=0.5)
    assert replace(part, share=0.25).billed == (2000, 2250)
    assert part.billed is None and replace(part, share=0.25, of_nodes=None).billed is None
    # two years are 17,532 h, of which half are of use
    assert part.per_hour_of_job == pytest.approx(1.0) and part.per_accelerator_hour == pytest.approx(8766 / 32 / 17_532)
    work = replace(part, accelerators_used=16.0, of_nodes=None)
    assert work.per_hour_at_work == pytest.approx(8766 / 8766 / 16)
    half = replace(work, of_nodes=replace(own.of_nodes, value=4383.0))
    assert half.per_hour_at_work == pytest.approx(0.5 / 16), "the cost of its own nodes"
    for unknown in (replace(half, years=None), replace(half, utilization=0.0)):
        assert unknown.per_hour_of_job is None and unknown.per_hour_at_work is None
    assert replace(half, of_nodes=None).per_hour_of_job is None
    assert replace(half, total=None).per_hour_at_work is None and replace(half, total=None).per_hour_of_job is not None
    assert replace(half, accelerators_used=None).per_hour_at_work is None
