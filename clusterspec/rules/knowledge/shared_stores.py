"""Checkpoints of several jobs on one storage system: the rate that each job needs, and how much longer runs take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.fleet import Fleet, Job, Pool
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.storage import data_reads
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.checkpoints import is_serving, saved_bytes
from clusterspec.standard import sum_of


class SavingRate(NamedTuple):
    """Bytes per second that a job writes while it saves (``burst``), and on average."""

    burst: float
    mean: float


class StoreDemand(NamedTuple):
    """The write rates of the jobs that share a storage system, by name, and its bandwidth, in B/s. Only the largest
    of jobs that take turns counts.
    """

    written: str
    bandwidth: float
    rates: dict[str, SavingRate]
    sets: tuple[SavingRate, ...]

    @property
    def mean(self) -> float:
        """Bytes per second of all jobs on average."""
        return sum_of(each.mean for each in self.sets)

    @property
    def burst_rate(self) -> float:
        """Rate in B/s if all jobs save at the same time."""
        return sum_of(each.burst for each in self.sets)

    def run_stretch(self, job: str) -> float:
        """The factor by which the other jobs on a storage system lengthen the run of a job; 1 if the storage system can
        take all their writes.

        If the demand ``mean`` exceeds ``bandwidth``, every save is delayed until each job's interval is mean /
        bandwidth times as long. The factor excludes the part of this delay that the job's own demand would cause.
        """
        alone = self.rates[job].mean if job in self.rates else 0.0
        return max(1.0, self.mean / self.bandwidth) / max(1.0, alone / self.bandwidth) if alone else 1.0


def store_demand(fleet: Fleet, pool: Pool) -> StoreDemand | None:
    """The demand of jobs on a pool's storage system, including jobs of other pools that use it; None without a stated
    bandwidth, or if fewer than two sets of nodes write checkpoints.
    """
    owner = fleet.store_pool(pool.name)
    return demand_of_jobs(fleet, pool, sets_on_store(fleet, owner))


class ReadingDemand(NamedTuple):
    """The rates in B/s at which jobs read training data at their predicted step times, by name, and the rate of the
    storage system. If jobs take turns, only the largest counts.
    """

    key: str
    written: str
    bandwidth: float
    rates: dict[str, float]
    needed: float


def reading_demand(fleet: Fleet, owner: Pool) -> ReadingDemand | None:
    """The jobs' read demand on a pool's storage system; None without a stated rate, or if fewer than two sets read."""
    store = owner.spec.networks.storage if owner.spec.networks else None
    rate = (store.read or store.bandwidth) if store is not None else None
    if store is None or rate is None:
        return None
    sets = sets_on_store(fleet, owner.name)
    if len(sets) < 2:
        return None
    found = [{name: needed for name in jobs if (needed := _reading_rate(fleet.jobs[name]))} for jobs in sets]
    found = [rates for rates in found if rates]
    together = {name: needed for rates in found for name, needed in rates.items()}
    needed = sum_of(max(rates.values()) for rates in found)
    key = "read" if store.read is not None else "bandwidth"
    return ReadingDemand(key, rate.written, rate.per_direction, together, needed) if len(found) > 1 else None


def _reading_rate(job: Job) -> float | None:
    """B/s of training data that the steps of a job read; None if it has no time or reads none."""
    reads = data_reads(legal_estimate(job.design)) if job.design is not None else None
    return reads.needed.value if reads is not None else None


def sets_on_store(fleet: Fleet, owner: str) -> list[tuple[str, ...]]:
    """The jobs on all pools that use the storage system of ``owner``; each group consists of jobs that take turns."""
    return [
        each.jobs
        for pool in fleet.pools.values()
        if fleet.store_pool(pool.name) == owner
        for each in pool.sets
        if each.path is None
    ]


def demand_of_jobs(fleet: Fleet, pool: Pool, jobs: Iterable[tuple[str, ...]]) -> StoreDemand | None:
    """The `store_demand` of some jobs; of jobs that take turns, only the largest counts."""
    networks = fleet.pools[fleet.store_pool(pool.name)].spec.networks
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
    """The checkpoint write rates of a job; None if it writes no checkpoints or states no time."""
    design = job.design
    operations = design.spec.operations if design else None
    if design is None or operations is None or design.workload is None or is_serving(design.workload):
        return None
    interval = operations.interval.value if operations.interval else 0.0
    saving = operations.checkpoint.write_time if operations.checkpoint else None
    written = saving or (None if operations.is_asynchronous else operations.pause)
    seconds = min(interval, written.value) if written is not None else interval
    size = saved_bytes(design.workload.model, design.workload)
    return SavingRate(size / seconds, size / interval) if seconds > 0 and size is not None else None
