"""A peak states neither dense nor sparse.

## What it finds

`workload.peak_flops`, or a `peak` of an accelerator, without `dense` or `sparse`.

## Why it matters

Since the A100, data sheets print the peak with 2:4 sparsity: 1,979 TFLOP/s of bf16 for an H100, which has 989 TFLOP/s
for the dense GEMMs of training. A plan with the sparse figure predicts half the real step time.

## What to do

Append `dense` or `sparse` after checking the footnote of the data sheet: `989 TFLOP/s dense`.

## When to ignore it

Do not ignore it: the figure is not used until it is stated as dense or sparse.

## Fix safety

The fix is unsafe: it appends `dense` or `sparse`, whichever agrees with the catalog. The figure may be a measured one.

## Fires

```yaml workload.peak_flops
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  peak_flops: 989 TFLOP/s
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  peak_flops: 989 TFLOP/s dense
```

## Sources

- Megatron-LM users whose MFU was off by two: https://github.com/NVIDIA/Megatron-LM/issues/1565
- The same in another framework: https://github.com/foundation-model-stack/fms-fsdp/issues/89
- Data sheets with both: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/compute/accelerator/README.md#L324
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
