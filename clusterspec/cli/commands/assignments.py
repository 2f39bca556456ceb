"""``clusterspec search --fleet`` and ``--machines``: the assignment of jobs to pools and node counts, and the machine
to buy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from clusterspec.analysis.fleets import search as fleet_search
from clusterspec.analysis.fleets.assignment import SolverMissing, solver_module
from clusterspec.analysis.fleets.search import FleetSearchFault, Goal
from clusterspec.analysis.rewrite import text_with_assignment
from clusterspec.analysis.searches import candidates as machines
from clusterspec.analysis.searches import machines as machine_search
from clusterspec.analysis.searches.candidates import Limits, Machine
from clusterspec.cli import FOUND, UsageFault, parallel
from clusterspec.cli.inputs import StudyReader, chosen_part, status_of, with_errors_named
from clusterspec.cli.options import day, nonempty_name, path, positive_integer
from clusterspec.cli.output import refuse_study_as_output, write_whole
from clusterspec.cli.terminal import Bar, print_result
from clusterspec.money import read_amount
from clusterspec.quantity import DAY
from clusterspec.report import fleet_search_text, machines_text
from clusterspec.results.machine_search import MachineRow
from clusterspec.studies import Study
from clusterspec.units import UnitFault, read

SHOWN = 3
"""Assignments that are shown by default."""
SINGLE = ("grid", "explain", "set", "min_headroom", "job", "pool")
"""Options of a search for the layouts of one design."""


def goal_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search over a fleet, and of one over machines to buy."""
    _fleet_options(parser)
    _machine_options(parser)
    parallel.parallel_options(parser.add_argument_group("a fleet or machines"))


def _fleet_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a fleet")
    group.add_argument(
        "--fleet",
        action="store_true",
        help="search the pool and the number of nodes for each job; --objective time (default), cost or energy",
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
        "--all-choices",
        action="store_true",
        help="search also the choices whose runs are too long at the peak of their accelerators",
    )
    group.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=positive_integer,
        default=60,
        help="time for the solver to find each assignment; the gap to the bound is printed (default: 60)",
    )


def _machine_options(parser: argparse.ArgumentParser) -> None:
    machines = parser.add_argument_group("the machine to buy")
    machines.add_argument(
        "--machines",
        metavar="MACHINE",
        nargs="+",
        type=path,
        default=[],
        help="compare machines: platforms of the catalog, and specs with a `cluster`; without SPEC, the first spec "
        "states the work. --within and --nodes apply as well",
    )
    machines.add_argument(
        "--fabrics",
        metavar="ID,ID",
        type=separated_names,
        default=(),
        help="scale-out technologies to try with every machine, such as infiniband-ndr,infiniband-ndr@2:1",
    )
    machines.add_argument("--prices", metavar="FILE", type=path, help="prices of machines and parts (docs/machines.md)")
    machines.add_argument(
        "--budget",
        metavar="AMOUNT",
        type=amount,
        help="the highest cost of a machine over the term, such as 20M (default: that of the spec)",
    )
    machines.add_argument(
        "--max-power",
        metavar="POWER",
        type=power,
        help="the highest IT power at full load, such as 2 MW (default: the power budget of the spec)",
    )
    machines.add_argument(
        "--by", metavar="DATE", type=day, help="the day by which a run that begins today ends, instead of --within"
    )


def node_counts(text: str) -> tuple[int, ...]:
    """Numbers of nodes, separated by commas."""
    return tuple(sorted({positive_integer(part.strip()) for part in text.split(",")}))


def separated_names(text: str) -> tuple[str, ...]:
    """Names, separated by commas."""
    return tuple(dict.fromkeys(nonempty_name(part.strip()) for part in text.split(",")))


def amount(text: str) -> float:
    """An amount of money: ``20M``, ``20000000`` or ``20,000,000``."""
    found = read_amount(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount; write 20M or 20000000, without a currency")
    return found


def power(text: str) -> float:
    """A power in watts."""
    try:
        return read(text, "power").value
    except UnitFault as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None


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
    """Raises `UsageFault` for an option of another kind of search."""
    given = next((name for name in names if getattr(args, name, None)), None)
    if given:
        raise UsageFault(f"--{given.replace('_', '-')} cannot be combined with {mode}")


def run_fleet_search(args: argparse.Namespace) -> int:
    """Print the best assignments of a fleet; 1 if there is none."""
    refuse_options(args, "--fleet", (*SINGLE, *OF_MACHINES))
    if args.objective and args.objective not in fleet_search.OBJECTIVES:
        raise UsageFault(f"--objective {args.objective} does not rank a fleet; take one of time, cost, energy")
    study = with_errors_named(args, StudyReader(args).study(args.spec), args.spec)
    if args.write:
        refuse_study_as_output(args, "--write", args.write, study)
    top, limits = args.top or SHOWN, limits_by_job(args.within)
    goal = Goal(args.objective or "time", limits, args.nodes, top, args.time_limit, args.all_choices)
    bar = Bar("searching")
    try:
        solver_module()
        options = partial(fleet_search.options_of_sizes, study, goal, evaluated=fleet_search.KeptResults())
        # one process for the same jobs and pool
        with parallel.results_of_rounds(args, options, key=lambda group: group[0][:2]) as evaluate:
            report = fleet_search.fleet_search(study, goal, evaluate, bar)
    except (FleetSearchFault, SolverMissing) as fault:
        raise UsageFault(str(fault)) from None
    finally:
        bar.close()
    print_result(args, report, fleet_search_text.fleet_search_text, fleet_search_text.options_csv)
    if args.write and report.assignments:
        write_whole(Path(args.write), text_with_assignment(study, report.assignments[0]).encode())
    return status_of(study, printed=True) if report.assignments else FOUND


# The machine to buy

OF_MACHINES = ("fabrics", "prices", "budget", "max_power", "by")
"""Options that only a search for machines accepts."""
OF_LAYOUTS = ("grid", "write", "explain", "set", "min_headroom", "objective", "top")
"""Options that a search for machines does not accept."""


def run_machine_search(args: argparse.Namespace) -> int:
    """Print the machines with their best layouts; 1 if none meets all limits."""
    refuse_options(args, "--machines", OF_LAYOUTS)
    reader, names = StudyReader(args), _machine_names(args.machines)
    files = {name: reader.study(name) for name in names if _is_file(name)}
    work = chosen_part(args, reader.study(args.spec)) if args.spec else next(iter(files.values()), None)
    if work is None:
        raise UsageFault("--machines: name the SPEC of the work, or a spec among the machines")
    limits = _stated_limits(args, work)
    bar = Bar("searching")
    try:
        listed = [
            machines.candidate_of_spec(name, files[name])
            if name in files
            else machines.candidate_of_platform(name, work)
            for name in names
        ]
        for name in args.fabrics:
            machines.check_fabric(name, work)
        prices = machines.read_prices(Path(args.prices)) if args.prices else None
        report = machine_search.machine_search(
            work,
            listed,
            nodes=args.nodes,
            fabrics=args.fabrics or ("",),
            prices=prices,
            limits=limits,
            evaluate=lambda chosen: _machine_rows(args, work, limits, chosen, bar),
        )
    except machines.MachineFault as fault:
        raise UsageFault(str(fault)) from None
    except OSError as fault:
        raise UsageFault(f"{args.prices}: {fault.strerror}") from None
    finally:
        bar.close()
    print_result(args, report, machines_text.machines_text, machines_text.machines_csv)
    return 0 if any(row.meets for row in report.machines) else FOUND


def _machine_names(arguments: Sequence[str]) -> tuple[str, ...]:
    """The machine names of a call without duplicates. An argument that is not a file may have several names, separated
    by commas.

    >>> _machine_names(["dgx-h100,dgx-b200", "a,b.yaml", "dgx-h100"])
    ('dgx-h100', 'dgx-b200', 'a,b.yaml')
    """
    parts = ([name] if _is_file(name) else name.split(",") for name in arguments)
    names = tuple(dict.fromkeys(part.strip() for each in parts for part in each if part.strip()))
    if not names:
        raise UsageFault("--machines: name a platform of the catalog, or a spec")
    return names


def _is_file(name: str) -> bool:
    """Whether a machine is a file rather than a platform."""
    return name == "-" or "/" in name or name.endswith((".yaml", ".yml", ".json")) or Path(name).is_file()


def _machine_rows(
    args: argparse.Namespace, work: Study, limits: Limits, machines: Sequence[Machine], bar: Bar
) -> Iterator[MachineRow]:
    """The rows of the given machines, in their order, with a bar."""
    rows = parallel.ordered_results(args, partial(machine_search.machine_row, work, limits), machines)
    for done, row in enumerate(rows, 1):
        bar(done, len(machines))
        yield row


def _stated_limits(args: argparse.Namespace, work: Study) -> Limits:
    """The limits of a call, else the limits of the spec. Raises `UsageFault`."""
    spec = work.spec
    power = min((stated.value for _, stated in spec.power_budgets), default=None)
    budget = spec.procurement.budget if spec.procurement else None
    times = limits_by_job(args.within)
    if any(times) or (times and args.by):
        raise UsageFault("--within takes one TIME with --machines, and excludes --by")
    within = times.get("")
    if args.by is not None:
        within = (args.by - work.settings.today).days * DAY
        if within <= 0:
            raise UsageFault(f"--by {args.by} is not after {work.settings.today}")
    return Limits(
        within,
        args.budget if args.budget is not None else float(budget) if budget else None,
        args.max_power if args.max_power is not None else power,
    )
