"""A peak does not say whether it counts sparsity.

## What it finds

`workload.peak_flops`, or a `peak` of an accelerator, that says neither `dense` nor `sparse`.

## Why it matters

Since the A100, data sheets print the 2:4-sparse peak in large type: 1,979 TFLOP/s of bf16 for an H100 that
does 989 on the dense matrices of training. A plan on the sparse figure promises half the real step time.

## What to do

Append the word, after checking the sheet's footnote: `989 TFLOP/s dense`.

## When to ignore it

Never: the figure is not used until it is settled.

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
- The same in another trainer: https://github.com/foundation-model-stack/fms-fsdp/issues/89
- How sheets print it: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/compute/accelerator/README.md#L324
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
