"""A function over many points: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from clusterspec.cli import UsageFault
from clusterspec.cli.options import nonempty_name, positive_integer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

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


def ordered_results(
    args: argparse.Namespace, compute: Callable[[Point], Result], points: Sequence[Point]
) -> Iterator[Result]:
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


# Several rounds of points, with processes that keep what they computed

Round = Callable[[Sequence[Point]], Iterable[Result]]
"""Returns the results of the given points, in their order."""


@contextmanager
def results_of_rounds(
    args: argparse.Namespace, compute: Callable[[Point], Result], key: Callable[[Point], Hashable]
) -> Iterator[Round[Point, Result]]:
    """The results of several rounds, each as in `ordered_results`. One process computes all points with the same key,
    so that ``compute`` can reuse what it cached for earlier points. On a Dask cluster nothing is reused.
    """
    jobs = args.jobs or os.cpu_count() or 1
    if args.dask or jobs <= 1:
        yield partial(ordered_results, args, compute)
        return
    with ExitStack() as opened:
        processes: list[Connection] = []
        by_key: dict[Hashable, Connection] = {}

        def process_of(point: Point) -> Connection:
            if key(point) not in by_key:
                if len(processes) < jobs:
                    processes.append(opened.enter_context(_process_of_rounds(compute)))
                by_key[key(point)] = processes[len(by_key) % len(processes)]
            return by_key[key(point)]

        def results_of_round(points: Sequence[Point]) -> Iterator[Result]:
            taken: dict[Connection, list[Point]] = {}
            for point in points:
                taken.setdefault(process_of(point), []).append(point)
            for process, some in taken.items():
                process.send(some)
            for point in points:
                result, fault = process_of(point).recv()
                if fault is not None:
                    raise fault
                yield result

        yield results_of_round


@contextmanager
def _process_of_rounds(compute: Callable[[Any], object]) -> Iterator[Connection]:
    """A process that takes lists of points and sends the result of each, or its exception."""
    from multiprocessing import Pipe, Process  # which a browser does not have

    end, other = Pipe()
    process = Process(target=_send_results, args=(other, compute), daemon=True)
    process.start()
    other.close()
    try:
        yield end
    finally:
        process.terminate()
        process.join()


def _send_results(end: Connection, compute: Callable[[Any], object]) -> None:
    """Answers lists of points until the other end is closed."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            for point in end.recv():
                try:
                    end.send((compute(point), None))
                except Exception as fault:
                    end.send((None, fault))
