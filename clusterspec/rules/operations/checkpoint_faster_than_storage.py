"""The stated checkpoint time is shorter than the storage system needs.

## What it finds

A checkpoint time more than 10 % below the time in which the storage system can write 14 bytes × parameters (weights in
bf16, and weights and two moments in fp32). It writes at its `bandwidth`, or at the rate that the clients of the job
reach together (`per_client`, their NICs, `slots`), after it has created one file for each rank (`metadata_rate`). The
checkpoint time is `checkpoint.write_time` where saving is asynchronous, else the pause of training. A pause without a
stated mode counts as synchronous, like `checkpoint_time`.

## Why it matters

The storage system cannot write that fast. 70.6B parameters are 988 GB of checkpoint: 25 s at 40 GB/s, not 5 s.

## What to do

Use a faster storage system, or state the real time. Where training goes on while the checkpoint is written, state
`checkpoint: {mode: asynchronous}`.

## When to ignore it

Do not ignore it: `mode` says whether training waits.

## Fires

```yaml operations.checkpoint_time
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 40 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, checkpoint_time: 5 s}
```

```yaml operations.checkpoint.write_time
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 40 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint: {interval: 30 min, pause: 5 s, write_time: 15 s, mode: asynchronous}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 40 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint_interval: 30 min, checkpoint_time: 30 s}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 40 GB/s}, frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
operations: {checkpoint: {interval: 30 min, pause: 5 s, mode: asynchronous}}
```

## Sources

- Checkpoints and stores: https://glennklockwood.com/garden/storage-for-llm-training
- Checkpoint bandwidth at scale: https://sc25.conference-program.com/presentation/?id=ws_pdswwip108&sess=sess202
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import ROUNDED, is_serving, stored_checkpoint_time
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


def check(
    operations: OperationsSpec, networks: NetworksSpec, model: Model, workload: Workload | None, layout: Layout | None
) -> Iterator[Problem]:
    if networks.storage is None or networks.storage.bandwidth is None or is_serving(workload):
        return
    saving = operations.checkpoint
    written = saving.write_time if saving else None
    stated, key = (written, "operations.checkpoint.write_time") if written else (operations.pause, operations.pause_key)
    needed = stored_checkpoint_time(networks, model, workload, layout)
    if stated is None or needed is None or (written is None and operations.is_asynchronous):
        return
    if stated.value >= needed.seconds * (1 - ROUNDED):
        return
    message = f"a checkpoint of {display(needed.size, 'B')} at {needed.store} takes {display(needed.seconds, 's')}, not {stated.written}"
    open_ = written is None and (saving is None or saving.mode is None)
    faster = "raise what each node writes (`per_client`)" if needed.behind_clients else "use a faster storage system"
    help_ = f"{faster}, or state the real time"
    yield RULE.problem(
        key,
        message,
        f"{help_}; state `checkpoint: {{mode: asynchronous}}` where training goes on meanwhile" if open_ else help_,
    )
