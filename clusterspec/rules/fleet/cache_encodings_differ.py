"""Engines exchange a cache in fp8 that their accelerators encode differently.

## What it finds

A serving job whose cache is fp8 and whose prefill and decode engines run on pools with accelerators of different fp8
encodings, as of `catalog/number-encodings.csv`.

## Why it matters

MI300X and MI325X compute with `e4m3fnuz`, whose exponent bias is 8; NVIDIA's accelerators and the MI350 series with
`e4m3fn`, whose bias is 7. The same byte means twice the value on one as on the other, and the byte of a negative
zero is NaN on the first. The engines for prefill hand over bytes, so that decode engines answer nonsense without an
error.

## What to do

Keep the cache in bf16 (`kv_precision: bf16`), or place the engines for prefill and decode on accelerators of one encoding.

## When to ignore it

Ignore it where the transfer converts the cache: scales times two, negative zeros to zero.

## Fires

```yaml jobs.chat.workload.kv_precision
clusterspec: 1
pools:
  prefill: {platform: mi355x-ubb8, nodes: 2}
  decode: {platform: mi300x-ubb8, nodes: 4}
pool_links: [{between: [prefill, decode], fabric: shared}]
jobs:
  chat:
    pool: decode
    workload:
      kind: serve
      model: llama-3.1-70b
      kv_precision: fp8
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 64
        disaggregated: {prefill: {pool: prefill, replicas: 2, tp: 8}, decode: {replicas: 4, tp: 8}}
    layout: {framework: vllm}
```

## Silent

```yaml
clusterspec: 1
pools:
  prefill: {platform: mi355x-ubb8, nodes: 2}
  decode: {platform: mi300x-ubb8, nodes: 4}
pool_links: [{between: [prefill, decode], fabric: shared}]
jobs:
  chat:
    pool: decode
    workload:
      kind: serve
      model: llama-3.1-70b
      kv_precision: bf16
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 64
        disaggregated: {prefill: {pool: prefill, replicas: 2, tp: 8}, decode: {replicas: 4, tp: 8}}
    layout: {framework: vllm}
```

## Sources

- Encodings that MI300 executes: https://rocm.docs.amd.com/projects/HIP/en/docs-6.2.0/reference/fp8_numbers.html
- Encoding that vLLM takes by architecture: https://github.com/vllm-project/vllm/blob/v0.11.0/vllm/platforms/rocm.py
- NVIDIA's e4m3: https://docs.nvidia.com/cuda/cuda-math-api/cuda_math_api/struct____nv__fp8__e4m3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.formats import encoding_of
from clusterspec.cluster.fleet import Fleet, named_engines
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
SIDES = ("prefill", "decode")


def check(fleet: Fleet) -> Iterator[Problem]:
    for name, job in (fleet.spec.jobs or {}).items():
        if job.workload is None or job.workload.kv_precision != "fp8":
            continue
        pools = {each.role: each.pool or job.pool for each in named_engines(job.workload)}
        sides = [_part_and_encoding(fleet, pools.get(side, job.pool)) for side in SIDES]
        encodings = {encoding for _, encoding in sides}
        if len(encodings) == len(SIDES) and "" not in encodings:
            (one, of_one), (other, of_other) = sides
            message = (
                f"engines for prefill write the fp8 cache as {of_one} ({one}), but engines for decode read it as "
                f"{of_other} ({other}): the same byte has twice the value in one of them"
            )
            at = ("jobs", name, "workload", "kv_precision")
            yield RULE.problem(at, message, "write `kv_precision: bf16`, or use accelerators of one encoding")


def _part_and_encoding(fleet: Fleet, pool: str | None) -> tuple[str, str]:
    """The accelerator of a pool and its encoding of fp8; empty if unknown."""
    known = fleet.pools.get(pool) if pool is not None else None
    if known is None or known.cluster is None:
        return "", ""
    part = known.cluster.accelerator
    return part.name, encoding_of(part.architecture, "fp8")
