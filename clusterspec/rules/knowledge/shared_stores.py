"""Checkpoints of several jobs on the store of one pool: the rates that they ask for, and how much longer runs take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.fleet import Fleet, Job, Pool
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.checkpoints import saved_bytes, serves
from clusterspec.summation import sum_of


class SavingRate(NamedTuple):
    """Bytes per second that a job writes while it saves (``burst``), and on average."""

    burst: float
    mean: float


class StoreDemand(NamedTuple):
    """The rates of the jobs that save to one store, by name, and its bandwidth in B/s; jobs in turn as the largest."""

    written: str
    bandwidth: float
    rates: dict[str, SavingRate]
    sets: tuple[SavingRate, ...]

    @property
    def mean(self) -> float:
        """Bytes per second of all jobs on average."""
        return sum_of(each.mean for each in self.sets)

    @property
    def burst(self) -> float:
        """Bytes per second of all jobs that save at the same time."""
        return sum_of(each.burst for each in self.sets)

    def stretch(self, job: str) -> float:
        """The factor by which the other jobs lengthen the run of a job; 1 where the store takes what all save.

        A store that is asked for ``mean`` and takes ``bandwidth`` delays every save until the interval of each job is
        mean / bandwidth times as long. What the job asks for alone lengthens its run in any case.
        """
        alone = self.rates[job].mean if job in self.rates else 0.0
        return max(1.0, self.mean / self.bandwidth) / max(1.0, alone / self.bandwidth) if alone else 1.0


def store_demand(fleet: Fleet, pool: Pool) -> StoreDemand | None:
    """What jobs ask of the store of a pool; None without a stated bandwidth, or where fewer than two sets of nodes save."""
    return demand_on(fleet, pool, [each.jobs for each in pool.sets])


def demand_on(fleet: Fleet, pool: Pool, jobs: Iterable[tuple[str, ...]]) -> StoreDemand | None:
    """`store_demand` of some jobs on a pool, those that take turns together."""
    networks = pool.spec.networks
    store = networks.storage if networks else None
    if store is None or store.bandwidth is None:
        return None
    found = [dict(_rates(fleet, each)) for each in jobs]
    sets = tuple(max(rates.values()) for rates in found if rates)
    together = {name: rate for rates in found for name, rate in rates.items()}
    if len(sets) < 2:
        return None
    return StoreDemand(store.bandwidth.written, store.bandwidth.per_direction, together, sets)


def _rates(fleet: Fleet, jobs: tuple[str, ...]) -> Iterator[tuple[str, SavingRate]]:
    for name in jobs:
        rate = _saving_rate(fleet.jobs[name])
        if rate is not None:
            yield name, rate


def _saving_rate(job: Job) -> SavingRate | None:
    """The rates of a job; None where it saves no checkpoint or says no time."""
    design = job.design
    operations = design.spec.operations if design else None
    if design is None or operations is None or design.workload is None or serves(design.workload):
        return None
    interval = operations.interval.value if operations.interval else 0.0
    saving = operations.checkpoint.write_time if operations.checkpoint else None
    written = saving or (None if operations.asynchronous else operations.pause)
    seconds = min(interval, written.value) if written is not None else interval
    size = saved_bytes(design.workload.model, design.workload)
    return SavingRate(size / seconds, size / interval) if seconds > 0 and size is not None else None
