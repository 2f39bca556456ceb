"""``clusterspec search``, ``solve``, ``sensitivity`` and ``sweep``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from clusterspec import analysis
from clusterspec.analysis.levers.conditions import ConditionFault
from clusterspec.analysis.rewrite import text_with_best
from clusterspec.analysis.searches.pins import LARGEST, NUMBERS, pin_fault
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.analysis.searches.sweeps import Axes, SweepFault, read_axes, row_of_point
from clusterspec.cli import FOUND, InternalError, SpecFault, UsageFault, parallel
from clusterspec.cli.commands.assignments import (
    OF_MACHINES,
    goal_options,
    refuse_options,
    run_fleet_search,
    run_machine_search,
)
from clusterspec.cli.inputs import (
    StudyReader,
    chosen_part,
    status_of,
    study_with_errors_named,
    with_errors_named,
)
from clusterspec.cli.options import format_option, nonempty_name, path, positive_integer, spec_argument
from clusterspec.cli.output import refuse_study_as_output, write_whole
from clusterspec.cli.terminal import Bar, ink_of, print_json, print_result, print_text
from clusterspec.report import layout_tables, search_text, sensitivity_text, solve_text, sweep_text
from clusterspec.report.json_text import json_text
from clusterspec.results.levers import SweepRow

# Options of ``clusterspec search``

SHOWN = 10
"""Layouts that are shown by default."""
TRAINING = ("step_time", "memory", "cost", "tokens_per_accelerator")
SERVING = ("accelerators", "cost", "tokens_per_accelerator", "tokens_per_user", "memory")
"""Objectives for the ranking of serving plans."""


def describe_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of `search` to its parser."""
    spec_argument(parser, optional=True)
    parser.add_argument(
        "--top",
        metavar="N",
        type=positive_integer,
        default=None,
        help=f"number of layouts to show (default: {SHOWN}; 3 assignments of a fleet)",
    )
    parser.add_argument(
        "--objective",
        choices=(*TRAINING, *(each for each in SERVING if each not in TRAINING), "time", "energy"),
        default="",
        help="the objective; in training step_time (default), memory, or cost and tokens_per_accelerator, which follow "
        "the step time on one machine; in serving accelerators (default with targets), cost, "
        "tokens_per_accelerator (default without), tokens_per_user or memory; of a fleet time (default), "
        "cost or energy",
    )
    _limit_options(parser)
    parser.add_argument(
        "--grid", metavar="AXIS,AXIS", type=axes, help="the best layout for every pair of two axes: tp,pp"
    )
    parser.add_argument(
        "--write",
        metavar="FILE",
        type=path,
        help="write a copy of the spec with the best layout or rollout placement; of a fleet, with the "
        "best layout of its job or the best assignment",
    )
    parser.add_argument(
        "--explain", action="store_true", help="show which parts of a step make the best layout faster than others"
    )
    goal_options(parser)
    format_option(parser, "text", "json", "csv")


def _limit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that leave layouts out of a search."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="fix a key of the layout, such as tp=8; in serving also pools=aggregated or pools=disaggregated",
    )
    parser.add_argument(
        "--min-headroom",
        metavar="SHARE",
        type=fraction,
        default=None,
        help="fraction of memory that the prediction leaves free, from 0 to 1 (default: the upper end of the memory "
        "range has to fit)",
    )


def fraction(text: str) -> float:
    """A fraction from 0 to below 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a fraction; write a number from 0 to below 1, such as 0.1")
    return value


AXES = ("tp", "cp", "pp", "dp", "ep", "expert_tp")


def axes(text: str) -> tuple[str, str]:
    """Two different axes of a layout, separated by a comma."""
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != 2 or names[0] == names[1] or not set(names) <= set(AXES):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a pair of axes; write two of {', '.join(AXES)}, such as tp,pp"
        )
    return names[0], names[1]


# Options of ``clusterspec solve``

KEYS = (
    "nic_bandwidth",
    "oversubscription",
    "scale_up.bandwidth",
    "scale_up.domain",
    "storage.bandwidth",
    "storage.read",
    "storage.per_client",
    "storage.slots",
    "storage.metadata_rate",
    "nodes",
    "global_batch",
    "sequence_length",
    "concurrency",
    "request_rate",
    "input_tokens",
)


SECTIONS = ("cluster", "cluster.scale_out", "cluster.networks", "layout", "workload", "workload.serving")
"""Sections in which `KEYS` lie."""


def lever_key(text: str) -> str:
    """The key of `KEYS` for a complete path. `cluster.nodes` stays as it is, since the job may use only part of the
    cluster.

    >>> lever_key("workload.serving.request_rate"), lever_key("cluster.scale_up.bandwidth"), lever_key("layout.nodes")
    ('request_rate', 'scale_up.bandwidth', 'nodes')
    """
    found = (key for key in KEYS if text in {f"{section}.{key}" for section in SECTIONS})
    return text if text == "cluster.nodes" else next(found, text)


def describe_solve(parser: argparse.ArgumentParser) -> None:
    """Add the options of `solve` to its parser."""
    spec_argument(parser)
    parser.add_argument(
        "--for",
        metavar="KEY",
        dest="key",
        type=lever_key,
        choices=(*KEYS, "cluster.nodes"),
        required=True,
        help=f"one of {', '.join(KEYS)}; or its whole path (nodes is what the job uses, cluster.nodes the machine)",
    )
    parser.add_argument(
        "--until",
        metavar="CONDITION",
        type=nonempty_name,
        required=True,
        help="fits, or a metric with a limit: mfu>=0.40, exposed<=5%%, time_to_train<=30d, run_time<=30d (with "
        "failures and checkpoints), slowdown<=3%%, power<=2MW (as drawn at work), power_peak<=2MW (nameplates), "
        "stall<=1%% (for checkpoints and data), restore<=5min (reads after a failure), goodput>=0.9; in serving "
        "loading<=60s (of all engines), targets (those of the spec are met), tpot<=50ms, ttft<=2s, "
        "request_latency<=30s, output_tokens_per_second>=10000; in reinforcement learning rl_step_time<=5min; for "
        "a job of a fleet elapsed<=30d (its run with pauses); for all pools fleet_power<=2MW (nameplates) and "
        "fleet_cost<=20000000 (over the term)",
    )
    parser.add_argument(
        "--layout",
        choices=("fixed", "best"),
        default="fixed",
        help="keep the layout of the spec, or search the best layout, or serving plan, at every value (default: fixed)",
    )
    format_option(parser, "text", "json")


# Options of ``clusterspec sensitivity``


def describe_sensitivity(parser: argparse.ArgumentParser) -> None:
    """Add the options of `sensitivity` to its parser."""
    spec_argument(parser)
    format_option(parser, "text", "json", "csv")


# Options of ``clusterspec sweep``


def describe_sweep(parser: argparse.ArgumentParser) -> None:
    """Add the options of `sweep` to its parser."""
    parser.add_argument(
        "axes", metavar="AXES", type=path, help="a YAML file with `base`, `axes` and `layout` (docs/sweep.md)"
    )
    parallel.parallel_options(parser)
    format_option(parser, "text", "csv", "jsonl")


# ``clusterspec search SPEC``


def run_search(args: argparse.Namespace) -> int:
    """Prints the best layouts of a job; ``--write`` puts the best into a copy of the spec."""
    if args.machines:
        refuse_options(args, "--machines", ("fleet",))
        return run_machine_search(args)
    if not args.spec:
        raise UsageFault("name the SPEC to search (`clusterspec search --help` lists the options)")
    if args.fleet:
        return run_fleet_search(args)
    refuse_options(args, "a search for layouts: add --fleet or --machines", ("within", "nodes"))
    refuse_options(args, "a search for layouts: add --machines", OF_MACHINES)
    top = args.top or SHOWN
    options = SearchOptions(pinned_keys(args.set), args.objective, top, args.min_headroom, args.grid, args.explain)
    whole = StudyReader(args).study(args.spec)
    study = with_errors_named(args, chosen_part(args, whole), args.spec)
    if args.write:
        refuse_study_as_output(args, "--write", args.write, study)
    serves = study.spec.workload is not None and study.spec.workload.implied_kind == "serve"
    _check_options(options, serves)
    bar = Bar("searching")
    try:
        report = analysis.search(study, options, args.caller.progress if args.caller else bar)
    finally:
        bar.close()
    if args.format == "json":
        print_json(report.to_json())
    elif serves:
        shown = sweep_text.search_csv(report) if args.format == "csv" else None
        print_text(shown if shown is not None else sweep_text.serving_search_as_text(report, ink_of(args)))
    else:
        print_text(
            layout_tables.search_csv(report)
            if args.format == "csv"
            else search_text.search_as_text(report, ink_of(args))
        )
    if args.write and report.layouts:
        write_whole(Path(args.write), text_with_best(whole, study, report).encode())
    return FOUND if report.incomplete else status_of(study, printed=True)


def _check_options(options: SearchOptions, serves: bool) -> None:
    """Raises `UsageFault` for an option that does not apply to the kind of work, training or serving."""
    kind, objectives = ("serving", SERVING) if serves else ("training", TRAINING)
    if options.objective and options.objective not in objectives:
        raise UsageFault(f"--objective {options.objective} does not rank {kind}; take one of {', '.join(objectives)}")
    if serves and options.grid:
        raise UsageFault("--grid tabulates layouts of training, not serving plans")
    for key, value in options.pins.items():
        if fault := pin_fault(key, value, serves=serves):
            raise UsageFault(f"--set {fault}")


def pinned_keys(texts: list[str]) -> dict[str, object]:
    """The keys that ``--set`` fixes. Raises `UsageFault` for a key that a search does not vary."""
    found: dict[str, object] = {}
    for text in texts:
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign:
            raise UsageFault(f"--set takes KEY=VALUE, not {text!r}")
        number = key in NUMBERS and value.isascii() and value.isdigit() and len(value) <= len(str(LARGEST))
        found[key] = int(value) if number else value
        if fault := pin_fault(key, found[key]):
            raise UsageFault(f"--set {fault}")
    return found


# ``clusterspec solve SPEC --for KEY --until CONDITION``


def run_solve(args: argparse.Namespace) -> int:
    """Print the smallest or largest value of a key that meets a condition."""
    whole = StudyReader(args).study(args.spec)
    study = with_errors_named(args, chosen_part(args, whole), args.spec)
    try:
        report = analysis.solve(study, args.key, args.until, best_layout=args.layout == "best", whole=whole)
    except ConditionFault as fault:
        raise UsageFault(str(fault)) from None
    print_result(args, report, solve_text.solve_as_text)
    return status_of(study, printed=True)


# ``clusterspec sensitivity SPEC``


def run_sensitivity(args: argparse.Namespace) -> int:
    """Print the effect of each parameter, one step up and one down."""
    study = study_with_errors_named(args, args.spec)
    report = analysis.sensitivity(study)
    print_result(args, report, sensitivity_text.sensitivity_as_text, sensitivity_text.sensitivity_csv)
    return status_of(study, printed=True)


# ``clusterspec sweep AXES``


def run_sweep(args: argparse.Namespace) -> int:
    """Print the best layout of every grid point as a table; 1 if the base has errors or no point has a layout."""
    try:
        axes = read_axes(Path(args.axes))
    except SweepFault as fault:
        raise UsageFault(str(fault)) from None
    except OSError as fault:
        raise UsageFault(f"{args.axes}: {fault.strerror}") from None
    if not axes.base.is_file():
        raise UsageFault(f"{args.axes}: its base {axes.base} is not a file")
    base = study_with_errors_named(args, str(axes.base.absolute()))
    if base.document is None or not isinstance(base.document.value, dict):
        raise SpecFault(f"{axes.base} cannot be read as a spec; `clusterspec check` reports why")
    rows = []
    bar = Bar("sweeping")
    try:
        for row in _sweep_rows(args, axes):
            rows.append(row)
            bar(len(rows), axes.size)
    finally:
        bar.close()
    if args.format == "jsonl":
        print_text("".join(json_text(row.to_json(), indent=None) for row in rows), exact=True)
    else:
        print_text(sweep_text.sweep_csv(rows) if args.format == "csv" else sweep_text.sweep_as_text(rows, ink_of(args)))
    failed = [row for row in rows if row.failed]
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise InternalError(f"{dict(failed[0].axes)}: {failed[0].why.removeprefix('internal error: ')}{more}")
    return FOUND if all(row.why for row in rows) else status_of(base)


def _sweep_rows(args: argparse.Namespace, axes: Axes) -> Iterator[SweepRow]:
    """The rows in the order of the points."""
    catalogs = tuple(Path(each) for each in args.catalog or ())
    return parallel.ordered_results(args, partial(row_of_point, axes, catalogs=catalogs), list(axes.points()))
