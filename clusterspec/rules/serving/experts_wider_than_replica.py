"""Experts are distributed over more ranks than an engine has.

## What it finds

A serving layout whose ep × `expert_tp` exceeds the tp × `attention_dp` ranks of one stage of an engine; in
disaggregated serving, of a prefill or a decode engine.

## Why it matters

The experts of an engine lie on its own ranks. Replicas (`dp`) are separate engines that exchange no tokens: an engine
cannot reach experts on the ranks of another. With vLLM, SGLang and TensorRT-LLM the ranks of wide expert parallelism
are the ranks of attention data parallelism.

## What to do

Use an ep of at most tp × `attention_dp`, or write the replicas that share experts as `attention_dp`.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 2}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {tp: 8, ep: 16, framework: vllm}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 2}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {tp: 1, attention_dp: 16, ep: 16, framework: vllm}
```

## Sources

- The size of expert groups in vLLM: https://docs.vllm.ai/en/latest/serving/expert_parallel_deployment/
- The same on Trainium: https://awsdocs-neuron.readthedocs-hosted.com/en/latest/vllm-neuron/docs/design/parallelism/expert_parallelism.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import DECODE, PREFILL
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "error")


def check(workload: Workload, written_layout: LayoutSpec, layout: Layout) -> Iterator[Problem]:
    load = workload.serving
    if load is None or workload.model.experts == 0:
        return
    if load.prefill is not None and load.decode is not None:
        for key, engines in ((PREFILL, load.prefill), (DECODE, load.decode)):
            yield from _problems(f"{key}.ep", engines.ep * engines.expert_tp, engines.tp * engines.attention_dp)
        return
    written = (written_layout.ep or 1) * (written_layout.expert_tp or 1)
    yield from _problems("layout.ep", written, layout.tp * layout.attention_dp)


def _problems(key: str, wanted: int, ranks: int) -> Iterator[Problem]:
    if wanted > ranks:
        yield RULE.problem(
            key,
            f"ep × expert_tp distributes experts over {wanted:,} ranks, but a stage of an engine has {ranks:,} "
            "(tp × attention_dp): engines share no experts",
            f"use an ep of at most {ranks:,}, or write the engines that share experts as `attention_dp`",
        )
