"""``clusterspec estimate``, ``clusterspec collective`` and ``clusterspec simulate``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import analysis, units
from clusterspec.cli import SpecFault, UsageFault
from clusterspec.cli.inputs import fleet_or_study, status_of, study_of, study_with_errors_named
from clusterspec.cli.options import format_option, nonempty_name, path, positive_integer, spec_argument, suggestion_text
from clusterspec.cli.terminal import Bar, ink_of, print_error, print_json, print_result, print_text
from clusterspec.cost.collectives.algorithms import algorithm_names
from clusterspec.results import EstimateReport
from clusterspec.units import plural

# Options of ``clusterspec estimate``


def describe_estimate(parser: argparse.ArgumentParser) -> None:
    """Add the options of `estimate` to its parser."""
    spec_argument(parser)
    format_option(parser, "text", "json")
    parser.add_argument(
        "--explain",
        metavar="NAME",
        type=nonempty_name,
        help="show one printed name, such as 'step time' or MFU, with its formula, inputs, origins and parts",
    )
    parser.add_argument("--assumptions", action="store_true", help="list the assumptions for absent keys of the spec")
    parser.add_argument("--constants", action="store_true", help="list the constants that no data sheet states")


# Options of ``clusterspec collective``

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")


def describe_collective(parser: argparse.ArgumentParser) -> None:
    """Add the options of `collective` to its parser."""
    spec_argument(parser)
    parser.add_argument("collective", choices=COLLECTIVES, metavar="COLLECTIVE", help=", ".join(COLLECTIVES))
    parser.add_argument("--ranks", metavar="N", type=positive_integer, required=True, help="number of ranks")
    parser.add_argument(
        "--size",
        metavar="SIZE",
        action="append",
        default=[],
        help="bytes as nccl-tests counts them, such as 1 GiB (repeatable)",
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        type=nonempty_name,
        help="ring, tree, nvls, nvls-tree, collnet, direct, staged, torus or hierarchical (default: the fastest)",
    )
    parser.add_argument(
        "--processes",
        choices=("node", "rank"),
        help="one process for all ranks of a node, as nccl-tests -g 8, or one for each rank, as mpirun and torchrun",
    )
    format_option(parser, "text", "json", "csv")


# Options of ``clusterspec simulate``


def describe_simulate(parser: argparse.ArgumentParser) -> None:
    """Add the options of `simulate` to its parser."""
    spec_argument(parser)
    parser.add_argument(
        "--seed",
        metavar="N",
        type=seed_number,
        default=0,
        help="seed of the random arrivals; equal seeds give equal output",
    )
    parser.add_argument(
        "--requests",
        metavar="N",
        type=positive_integer,
        help="number of requests (default: `requests` of the spec, else 5000, and 20 for each one in flight with "
        "`concurrency`, 5 with `request_rate`)",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        type=path,
        help="a trace in place of the load of the spec: a CSV file with the columns time (seconds), input_tokens and "
        "output_tokens, or a trace of Mooncake, ServeGen, BurstGPT or Azure; with `concurrency` its arrival times are "
        "ignored",
    )
    format_option(parser, "text", "json")


def seed_number(text: str) -> int:
    """A seed: a whole number of zero or more."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 999999999")
    return int(text)


# ``clusterspec estimate SPEC``

MOST_NAMED = 12
"""Number of names listed in the message about an unknown name."""


def run_estimate(args: argparse.Namespace) -> int:
    """Print the estimate of a design, as far as it can be computed. Returns 1 if the spec has errors."""
    detailed = args.explain or args.assumptions or args.constants
    study = study_of(args, args.spec) if detailed else fleet_or_study(args, args.spec)
    if study.fleet is not None:
        from clusterspec.cli.commands.fleets import print_fleet

        return print_fleet(args, study, "estimate")
    report = analysis.estimate(study)
    if args.explain:
        print_text(explanation(report, args))
    elif args.format == "json":
        print_json(report.to_json())
    elif args.assumptions or args.constants:
        print_text(assumption_lists(report, args))
    else:
        from clusterspec.report import estimate_text  # JSON needs none of its modules

        print_text(estimate_text.estimate_as_text(report, ink_of(args), analysis.influences(study)))
    whole = args.format == "text" and not (args.explain or args.assumptions or args.constants)
    return status_of(study, printed=whole)


def assumption_lists(report: EstimateReport, args: argparse.Namespace) -> str:
    """All assumptions, all constants, or both."""
    from clusterspec.report import assumption_rows

    parts = [assumption_rows.assumptions_text(report, ink_of(args))] if args.assumptions else []
    parts += [assumption_rows.constants_text(report, ink_of(args))] if args.constants else []
    return "\n".join(parts)


def explanation(report: EstimateReport, args: argparse.Namespace) -> str:
    """The explanation of a name.

    Raises `UsageFault` with the known names if it is unknown, `SpecFault` if the spec states too little.
    """
    from clusterspec.analysis.losses import utilization_losses
    from clusterspec.report import explanations

    found = explanations.explanation_text(report, args.explain, ink_of(args), utilization_losses(report.plan))
    if found is None:
        if report.plan.step is None and report.plan.serving is None:
            raise SpecFault(f"{args.spec} states too little for an estimate of time; `clusterspec check` reports why")
        known = explanations.explainable_names(report)
        meant = suggestion_text(args.explain, known) or f"; there are {', '.join(known[:MOST_NAMED])} and their parts"
        raise UsageFault(f"nothing is called {args.explain!r}{meant}")
    return found


# ``clusterspec collective SPEC COLLECTIVE --ranks N --size SIZE``

DEFAULT_SIZES = tuple(f"{1 << power} B" for power in range(15, 35))
"""32 KiB to 16 GiB in doublings, as nccl-tests is usually run."""

LARGEST_MESSAGE = 1e18
"""Bytes; more than any machine holds."""


def run_collective(args: argparse.Namespace) -> int:
    """Print the table of a collective over message sizes."""
    written = args.size or DEFAULT_SIZES
    sizes = [size_of(text) for text in written]
    if args.algorithm and args.algorithm not in algorithm_names(args.collective):
        raise UsageFault(
            f"--algorithm {args.algorithm}: {args.collective} has {', '.join(algorithm_names(args.collective))}"
        )
    study = study_with_errors_named(args, args.spec)
    cluster = study.design.cluster
    if cluster is not None and args.ranks > cluster.nodes * cluster.ranks_per_node:
        most = cluster.nodes * cluster.ranks_per_node
        raise UsageFault(f"--ranks {args.ranks}: the cluster has {plural(most, 'rank')}")
    report = analysis.collective(
        study, args.collective, args.ranks, sizes, args.algorithm, stated_sizes=args.size, processes=args.processes
    )
    if args.format == "json":
        print_json(report.to_json())
    else:
        from clusterspec.report import measurement_text  # an estimate measures nothing

        print_text(
            measurement_text.collective_csv(report)
            if args.format == "csv"
            else measurement_text.collective_text(report, ink_of(args))
        )
    return status_of(study, printed=args.format == "text")


def size_of(text: str) -> float:
    """The bytes of a size option. Raises `UsageFault`."""
    try:
        size = units.read(text, "bytes").value
    except units.UnitFault as fault:
        raise UsageFault(f"--size: {fault}") from None
    if not 1 <= size <= LARGEST_MESSAGE:
        raise UsageFault(f"--size {text}: a message has from one byte to {units.display(LARGEST_MESSAGE, 'B')}")
    return size


# ``clusterspec simulate SPEC``


def run_simulate(args: argparse.Namespace) -> int:
    """Print the latencies of the requests of a serving plan. Returns 1 if the spec has errors."""
    from clusterspec.analysis.simulation.traffic import SimulationFault
    from clusterspec.logs.traces import TraceFault
    from clusterspec.report.simulation_text import simulation_as_text

    study = study_with_errors_named(args, args.spec)
    trace = Path(args.trace) if args.trace else None
    bar = Bar("simulating")
    try:
        report = analysis.simulate(study, seed=args.seed, requests=args.requests, trace=trace, progress=bar)
    except (SimulationFault, TraceFault) as fault:
        status = status_of(study)
        message = f"{args.spec}: {fault}" if isinstance(fault, SimulationFault) else str(fault)
        if status:
            print_error(f"clusterspec: {message}")
            return status
        raise UsageFault(message) from None
    finally:
        bar.close()
    print_result(args, report, simulation_as_text)
    return status_of(study, printed=True)
