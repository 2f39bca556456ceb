"""``clusterspec search --fleet``: which job on which pool with how many nodes."""

from __future__ import annotations

import argparse
from functools import partial

from clusterspec.analysis import fleet_search
from clusterspec.analysis.assignment import SolverMissing, solver
from clusterspec.analysis.fleet_search import FleetSearchFault, Goal
from clusterspec.cli import FOUND, UsageFault, parallel
from clusterspec.cli.inputs import StudyReader, status_of, with_errors_named
from clusterspec.cli.options import positive_integer
from clusterspec.cli.terminal import Bar, ink_of, print_json, print_text
from clusterspec.report import fleet_search_text
from clusterspec.units import UnitFault, read

SHOWN = 3
"""Assignments that are shown by default."""
SINGLE = ("grid", "write", "explain", "set", "min_headroom", "job", "pool")
"""Options of a search for the layouts of one design."""


def goal_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search over a fleet."""
    group = parser.add_argument_group("a fleet")
    group.add_argument(
        "--fleet",
        action="store_true",
        help="which job on which pool with how many nodes; --objective time (default), cost or energy",
    )
    group.add_argument(
        "--within",
        metavar="TIME",
        action="append",
        default=[],
        help="the longest time of a run, such as 30d; pretrain=30d for one job of a fleet",
    )
    group.add_argument(
        "--nodes",
        metavar="N,N",
        type=node_counts,
        default=(),
        help="the numbers of nodes to try, such as 8,16,32 (default: those of the spec, and steps between)",
    )
    group.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=positive_integer,
        default=60,
        help="time for the solver to find each assignment; the gap to the bound is printed (default: 60)",
    )
    parallel.parallel_options(group)


def node_counts(text: str) -> tuple[int, ...]:
    """Numbers of nodes, separated by commas."""
    return tuple(sorted({positive_integer(part.strip()) for part in text.split(",")}))


def limits_by_job(texts: list[str]) -> dict[str, float]:
    """The time limits of ``--within`` in seconds by job; ``""`` for all others. Raises `UsageFault`."""
    limits = {}
    for text in texts:
        name, sign, time = text.rpartition("=")
        if sign and not name.strip():
            raise UsageFault(f"--within takes TIME or JOB=TIME, not {text!r}")
        try:
            limits[name.strip()] = read(time.strip(), "time").value
        except UnitFault as fault:
            raise UsageFault(f"--within {text}: {fault}") from None
    return limits


def refuse_options(args: argparse.Namespace, mode: str, names: tuple[str, ...]) -> None:
    """Raises `UsageFault` for an option that a search of another kind takes."""
    given = next((name for name in names if getattr(args, name, None)), None)
    if given:
        raise UsageFault(f"--{given.replace('_', '-')} does not go with {mode}")


def run_fleet_search(args: argparse.Namespace) -> int:
    """Print the best assignments of a fleet; 1 if there is none."""
    refuse_options(args, "--fleet", SINGLE)
    if args.objective and args.objective not in fleet_search.OBJECTIVES:
        raise UsageFault(f"--objective {args.objective} does not rank a fleet; take one of time, cost, energy")
    study = with_errors_named(args, StudyReader(args).study(args.spec), args.spec)
    goal = Goal(args.objective or "time", limits_by_job(args.within), args.nodes, args.top or SHOWN, args.time_limit)
    bar = Bar("searching")
    try:
        places = fleet_search.places(study, goal)
        solver()
        options = []
        for row in parallel.results(args, partial(fleet_search.options_at, study, goal), places):
            options.append(row)
            bar(len(options), len(places))
        report = fleet_search.fleet_search(study, goal, options)
    except (FleetSearchFault, SolverMissing) as fault:
        raise UsageFault(str(fault)) from None
    finally:
        bar.close()
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "csv":
        print_text(fleet_search_text.options_csv(report))
    else:
        print_text(fleet_search_text.fleet_search_text(report, ink_of(args)))
    return status_of(study, told=True) if report.assignments else FOUND
