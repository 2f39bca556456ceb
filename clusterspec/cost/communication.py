"""Communication of each axis of a layout in one step: one row per collective of each axis."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.collectives.model import CollectiveCost
from clusterspec.cost.record import ReplicaTransfers, StepRecord, TransferTime
from clusterspec.cost.term import Communication
from clusterspec.records import replace

UNCOUNTED = "first_and_last_layer"
"""Exposed time of transfers that other rows already count."""


Sent = tuple[Communication, CollectiveCost]
"""A row, and one call of its collective."""


def communication(record: StepRecord) -> tuple[Communication, ...]:
    """One row for each collective of each axis, in the order in which a step first runs them."""
    found: dict[tuple[str, str, int], Communication] = {}
    for row, _ in sent(record):
        key = (row.axis, row.collective, row.ranks)
        before = found.get(key)
        found[key] = row if before is None else _sum(before, row)
    return tuple(found.values())


def sent(record: StepRecord) -> Iterator[Sent]:
    """A row for every transfer of a step."""
    repeats = record.chunk_share * record.inputs.micro_batches
    for part, count in record.parts:
        for _, phase in part.phases:
            yield from (_row(one, repeats * count) for one in phase.transfers)
    repeats = 2 * record.inputs.micro_batches * record.inputs.virtual_stages
    yield from (_row(one, repeats) for one in record.sends)
    for group in record.replicas:
        yield from _shared(group)


def _row(one: TransferTime, repeats: float) -> Sent:
    transfer, cost = one.transfer, one.cost
    row = Communication(
        axis=transfer.axis,
        collective=transfer.collective,
        tier=cost.tier,
        ranks=cost.ranks,
        calls=repeats * transfer.calls,
        bytes=repeats * transfer.size * transfer.calls,
        seconds=repeats * one.seconds,
        exposed=repeats * one.exposed,
    )
    return row, cost


def _shared(group: ReplicaTransfers) -> Iterator[Sent]:
    """The exposed time of transfers that run together, divided in proportion to their times."""
    repeats, whole = group.exposure.repeats, group.exposure.seconds
    counted = 0.0 if group.exposure.name == UNCOUNTED else repeats
    for transfer, cost, seconds in zip(group.transfers, group.costs, group.seconds, strict=True):
        row = Communication(
            axis=transfer.axis,
            collective=transfer.collective,
            tier=cost.tier,
            ranks=cost.ranks,
            calls=counted,
            bytes=counted * transfer.size,
            seconds=counted * seconds,
            exposed=repeats * group.exposure.exposed * seconds / whole,
        )
        yield row, cost


def _sum(one: Communication, other: Communication) -> Communication:
    return replace(
        one,
        calls=one.calls + other.calls,
        bytes=one.bytes + other.bytes,
        seconds=one.seconds + other.seconds,
        exposed=one.exposed + other.exposed,
    )
