"""``clusterspec sweep AXES``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from clusterspec.cli import FOUND, SpecFault, UsageFault
from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.progress import Bar
from clusterspec.cli.terminal import ink, print_text
from clusterspec.exploration.sweep import Axes, SweepFault, point, read_axes
from clusterspec.report import sweep_text
from clusterspec.report.findings_machines import dumps
from clusterspec.results.search import SweepRow


def run(args: argparse.Namespace) -> int:
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
        raise SpecFault(f"{axes.base}: cannot be read as a spec; `clusterspec check` reports why")
    rows = []
    bar = Bar("sweeping")
    try:
        for row in _rows(args, axes):
            rows.append(row)
            bar(len(rows), axes.size)
    finally:
        bar.close()
    if args.format == "jsonl":
        print_text("".join(dumps(row.to_json(), indent=None) for row in rows), exact=True)
    else:
        print_text(sweep_text.sweep_csv(rows) if args.format == "csv" else sweep_text.sweep(rows, ink(args)))
    return FOUND if all(row.why for row in rows) else status_of(base)


def _rows(args: argparse.Namespace, axes: Axes) -> Iterator[SweepRow]:
    """The rows in the order of the points, computed serially, in parallel or by Dask."""
    catalogs = tuple(Path(each) for each in args.catalog or ())
    worked_out = partial(point, axes, catalogs=catalogs)
    if args.dask:
        yield from _on_dask(args.dask, worked_out, axes)
        return
    jobs = min(args.jobs or os.cpu_count() or 1, axes.size)
    if jobs == 1:
        yield from map(worked_out, axes.points())
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(worked_out, axes.points())


def _on_dask(address: str, worked_out: partial[SweepRow], axes: Axes) -> Iterator[SweepRow]:
    """The rows from the workers of a Dask cluster with access to the same files; a point whose worker dies is retried
    on another."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise UsageFault("--dask needs the extra `dask`: pip install 'clusterspec[dask]'") from None
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--dask {address}: {fault or 'no scheduler answers'}") from None
    with client:
        yield from client.gather(client.map(worked_out, list(axes.points()), retries=5, pure=False))
