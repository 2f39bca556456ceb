"""Jobs save checkpoints to a storage system, or read data from one, that cannot serve all of them.

## What it finds

Training jobs whose checkpoints exceed `networks.storage.bandwidth` together, though not one job at a time. The jobs run
at the same time on one pool, or on pools that share a storage system (`networks.storage.pool`). It is an error where the
storage system cannot write the checkpoints of all jobs within their intervals; otherwise it is a warning, and the jobs
have to save one after the other. The rule also reports jobs whose predicted steps together read training data faster
than the storage system delivers it (`read`, else `bandwidth`), though each job alone does not: an error if they wait
more than 10 % of the time, else a warning. It is an error if the checkpoints that all jobs keep
(`operations.checkpoint.keep`), with the largest of their data sets, exceed the `capacity` although those of each single
job fit.

## Why it matters

Two jobs that save at the same moment take twice the time, and the goodput of both is lower than estimated. Steps that
wait for data leave the accelerators idle.

## What to do

Use a faster storage system, save less often, or save asynchronously. Copy the data to the drives of the nodes.

## When to ignore it

Ignore it where a scheduler keeps the jobs from saving at the same time.

## Fires

```yaml pools.train.networks.storage.bandwidth
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 16
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {bandwidth: 40 GB/s}
      out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
jobs:
  a: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
  b: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
```

```yaml pools.train.networks.storage.bandwidth
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 8
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {bandwidth: 40 GB/s}
      out_of_band: {nic_bandwidth: 1 Gb/s}
  tune:
    platform: dgx-h200
    nodes: 8
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {pool: train}
      out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
jobs:
  a: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
  b: {pool: tune, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
```

```yaml pools.train.networks.storage.capacity
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 16
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {bandwidth: 80 GB/s, capacity: 30 TB}
      out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {checkpoint: {interval: 30 min, write_time: 30 s, keep: 20}, burn_in: 72 h}
jobs:
  a: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
  b: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
```

## Silent

```yaml
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 16
    networks:
      frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
      storage: {bandwidth: 80 GB/s}
      out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s, burn_in: 72 h}
jobs:
  a: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
  b: {pool: train, nodes: 8, workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.fleet import Fleet, Job, Pool
from clusterspec.cost.storage import token_width
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import saved_bytes
from clusterspec.rules.knowledge.shared_stores import reading_demand, sets_on_store, store_demand
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.standard import sum_of
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
WAITS = 0.1
"""A job that waits for data for more than this share of the time is an error."""


def check(fleet: Fleet) -> Iterator[Problem]:
    owners = dict.fromkeys(fleet.store_pool(name) for name in fleet.pools)
    for pool in (fleet.pools[name] for name in owners):
        yield from _write_problems(fleet, pool)
        yield from _read_problems(fleet, pool)
        yield from _capacity_problems(fleet, pool)


def _write_problems(fleet: Fleet, pool: Pool) -> Iterator[Problem]:
    demand = store_demand(fleet, pool)
    if demand is None or any(each.burst > demand.bandwidth for each in demand.sets):
        return
    if demand.burst_rate > demand.bandwidth:
        over = demand.mean > demand.bandwidth
        when = "on average" if over else "where they save at the same time"
        needed = display(demand.mean if over else demand.burst_rate, "B/s")
        message = f"{len(demand.sets)} jobs of {_pool_text(fleet, demand.rates)} write {needed} of checkpoints {when}, but the storage system takes {demand.written}"
        later = "" if over else ", or save asynchronously"
        help_ = f"use a faster storage system{', or' if over else ','} save less often{later}"
        at = ("pools", pool.name, "networks", "storage", "bandwidth")
        yield RULE.problem(at, message, help_, severity="error" if over else "warning")


def _read_problems(fleet: Fleet, pool: Pool) -> Iterator[Problem]:
    demand = reading_demand(fleet, pool)
    if demand is None or demand.needed <= demand.bandwidth or max(demand.rates.values()) > demand.bandwidth:
        return  # a job that alone reads more is reported by itself
    waits = 1 - demand.bandwidth / demand.needed
    message = f"the steps of {len(demand.rates)} jobs of {_pool_text(fleet, demand.rates)} read {display(demand.needed, 'B/s')} of data together, but the storage system gives {demand.written}: they wait {percent(waits, 2)} of the time"
    help_ = "use a faster storage system, or copy the data to the nodes first"
    at = ("pools", pool.name, "networks", "storage", demand.key)
    yield RULE.problem(at, message, help_, severity="error" if waits > WAITS else "warning")


def _capacity_problems(fleet: Fleet, pool: Pool) -> Iterator[Problem]:
    """The problem of several jobs whose checkpoints, together with the largest of their data sets, exceed the storage
    system, although each job would fit.

    Jobs may share a data set.
    """
    store = pool.spec.networks.storage if pool.spec.networks else None
    if store is None or store.capacity is None:
        return
    jobs = [name for names in sets_on_store(fleet, pool.name) for name in names]
    kept = {name: size for name in jobs if (size := _kept_bytes(fleet.jobs[name]))}
    data = {name: _data_bytes(fleet.jobs[name]) for name in kept}
    saved, capacity = sum_of(kept.values()), store.capacity.value
    alone = max((kept[name] + data[name] for name in kept), default=0.0)
    if len(kept) > 1 and saved + max(data.values()) > capacity >= alone:
        parts = and_list(f"{display(size, 'B')} of `{name}`" for name, size in kept.items())
        data_text = f" in addition to {display(max(data.values()), 'B')} of data" if max(data.values()) else ""
        message = f"{len(kept)} jobs keep {display(saved, 'B')} of checkpoints ({parts}){data_text}, but the storage system has {store.capacity.written}"
        at = ("pools", pool.name, "networks", "storage", "capacity")
        yield RULE.problem(at, message, "keep fewer checkpoints, or plan a larger storage system", severity="error")


def _kept_bytes(job: Job) -> float:
    """Bytes of the checkpoints that a training job keeps; 0 if it saves none or does not state their number."""
    if job.design is None or job.design.spec.operations is None:
        return 0.0
    saving, work = job.design.spec.operations.checkpoint, job.design.workload
    if saving is None or saving.keep is None or work is None or work.kind != "train":
        return 0.0
    return saving.keep * (saved_bytes(work.model, work) or 0.0)


def _data_bytes(job: Job) -> float:
    """Bytes of the data set that a training job states; 0 if it states none."""
    design = job.design
    written = design.spec.workload if design is not None else None
    if written is None or written.dataset_tokens is None or design is None or design.workload is None:
        return 0.0
    return written.dataset_tokens.value * token_width(written, design.workload.model).value


def _pool_text(fleet: Fleet, jobs: Iterable[str]) -> str:
    """The pools of jobs as text."""
    names = dict.fromkeys(f"`{fleet.jobs[job].spec.pool}`" for job in jobs)
    return f"pool{'s' * (len(names) > 1)} {and_list(names)}"
