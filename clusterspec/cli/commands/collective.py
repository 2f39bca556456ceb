"""``clusterspec collective SPEC COLLECTIVE --ranks N --size SIZE``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline, units
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.cost.collectives import names_of
from clusterspec.report import collective_text
from clusterspec.units import plural

DEFAULT_SIZES = tuple(f"{1 << power} B" for power in range(15, 35))
"""32 KiB to 16 GiB in doublings, as nccl-tests is usually run."""

LARGEST = 1e18
"""Bytes; more than any machine holds."""


def run(args: argparse.Namespace) -> int:
    """Print the table of a collective over message sizes."""
    written = args.size or DEFAULT_SIZES
    sizes = [size_of(text) for text in written]
    if args.algorithm and args.algorithm not in names_of(args.collective):
        raise UsageFault(f"--algorithm {args.algorithm}: {args.collective} has {', '.join(names_of(args.collective))}")
    study = study_with_errors_named(args, args.spec)
    cluster = study.design.cluster
    if cluster is not None and args.ranks > cluster.nodes * cluster.ranks_per_node:
        most = cluster.nodes * cluster.ranks_per_node
        raise UsageFault(f"--ranks {args.ranks}: the cluster has {plural(most, 'rank')}")
    report = pipeline.collective(study, args.collective, args.ranks, sizes, args.algorithm, asked=args.size)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(collective_text.csv(report) if args.format == "csv" else collective_text.text(report, ink(args)))
    return status_of(study, told=args.format == "text")


def size_of(text: str) -> float:
    """The bytes of a size option. Raises `UsageFault`."""
    try:
        size = units.read(text, "bytes").value
    except units.UnitFault as fault:
        raise UsageFault(f"--size: {fault}") from None
    if not 1 <= size <= LARGEST:
        raise UsageFault(f"--size {text}: a message has from one byte to {units.display(LARGEST, 'B')}")
    return size
