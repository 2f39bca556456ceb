"""The drawing of a fleet in its report: pools, the jobs on their nodes, and the links between pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.report.charts.fleet import DrawnLink, DrawnNodes, DrawnPool, DrawnTurn, fleet_chart
from clusterspec.report.paper.blocks import Picture
from clusterspec.results.fleet import FleetReport, PoolUse
from clusterspec.spec.model import PoolLinkSpec
from clusterspec.units import display, percent, plural

MOST_POOLS = 12
"""Maximum number of pools that are drawn; larger fleets have tables only."""


def fleet_picture(report: FleetReport, tints: Mapping[str, str]) -> Iterator[Picture]:
    """The pools whose nodes are known, in one drawing; nothing if there are none, or very many."""
    known = {name: use for name, use in report.pools.items() if use.nodes}
    if not 0 < len(known) <= MOST_POOLS:
        return
    pools = [_drawn_pool(report, name, use, tints) for name, use in known.items()]
    links = list(_drawn_links(report, list(known)))
    told = [f"{pool.name}, {pool.note}: {'; '.join(run.label for run in pool.runs)}" for pool in pools]
    told += [f"link {pools[link.ends[0]].name} to {pools[link.ends[1]].name}: {link.label}" for link in links]
    caption = "The machine: pools, the jobs on their nodes" + (", and the links between pools" if links else "")
    yield Picture(fleet_chart(pools, links, ". ".join(told)), caption, "pools")


def _drawn_pool(report: FleetReport, name: str, use: PoolUse, tints: Mapping[str, str]) -> DrawnPool:
    runs = [
        DrawnNodes(one.nodes, _drawn_turns(report, one.jobs, tints), _run_label(report, one.jobs, one.nodes))
        for one in use.sets
        if one.nodes
    ]
    if use.idle:
        runs.append(DrawnNodes(use.idle, (), f"{plural(use.idle, 'node')} without a job"))
    return DrawnPool(name, f"{plural(use.nodes or 0, 'node')} of {use.machine}", tuple(runs), use.spares)


def _drawn_turns(report: FleetReport, jobs: tuple[str, ...], tints: Mapping[str, str]) -> tuple[DrawnTurn, ...]:
    shares = {job: report.jobs[job].share for job in jobs if job in report.jobs}
    whole = max(1.0, sum(shares.values()))
    return tuple(DrawnTurn(job, tints[job], share / whole) for job, share in shares.items())


def _run_label(report: FleetReport, jobs: tuple[str, ...], nodes: int) -> str:
    """The jobs on some nodes, each with its share of the term unless that is the whole term."""
    shares = {job: report.jobs[job].share for job in jobs if job in report.jobs}
    named = [job if share == 1 else f"{job} {percent(share, 2)}" for job, share in shares.items()]
    return f"{', '.join(named)}: {plural(nodes, 'node')}"


def _drawn_links(report: FleetReport, pools: list[str]) -> Iterator[DrawnLink]:
    for link in (report.spec.pool_links if report.spec else None) or ():
        ends = [pools.index(name) for name in link.between or () if name in pools]
        if len(ends) == 2:
            yield DrawnLink((min(ends), max(ends)), _link_label(report, link))


def _link_label(report: FleetReport, link: PoolLinkSpec) -> str:
    """The rate of a link with its latency, and the jobs that send over it."""
    rate = f"{display(link.bandwidth.value, 'B/s')} each way" if link.bandwidth else link.fabric or "rate not stated"
    late = f", {display(link.latency.value, 's')}" if link.latency else ""
    senders = next((list(one.mean) for one in report.links if set(one.between) == set(link.between or ())), [])
    return rate + late + (f"; used by {', '.join(senders)}" if senders else "; no job sends over it")
