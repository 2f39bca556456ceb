"""A function over many points: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

from clusterspec.cli import UsageFault
from clusterspec.cli.options import nonempty_name, positive_integer

Point = TypeVar("Point")
Result = TypeVar("Result")


def parallel_options(parser: argparse._ActionsContainer) -> None:
    """Add ``--jobs`` and ``--dask``."""
    parser.add_argument(
        "--jobs", metavar="N", type=positive_integer, help="number of processes (default: one per core)"
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", type=nonempty_name, help="a Dask scheduler, such as tcp://10.0.0.1:8786"
    )


def results(args: argparse.Namespace, compute: Callable[[Point], Result], points: Sequence[Point]) -> Iterator[Result]:
    """The results of all points in their order. Function and points are pickled, except with one process.

    Raises `UsageFault` where no Dask scheduler answers, or Dask is not installed.
    """
    if args.dask:
        yield from _dask_results(args.dask, compute, points)
        return
    jobs = min(args.jobs or os.cpu_count() or 1, len(points))
    if jobs <= 1:
        yield from map(compute, points)
        return
    from concurrent.futures import ProcessPoolExecutor  # which a browser does not have

    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(compute, points)


def _dask_results(address: str, compute: Callable[[Point], Result], points: Sequence[Point]) -> Iterator[Result]:
    """The results from a Dask cluster with access to the same files. If a worker dies, another retries its point."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise UsageFault("--dask needs the extra `dask`: pip install 'clusterspec[dask]'") from None
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--dask {address}: {fault or 'no scheduler answers'}") from None
    with client:
        yield from client.gather(client.map(compute, list(points), retries=5, pure=False))
