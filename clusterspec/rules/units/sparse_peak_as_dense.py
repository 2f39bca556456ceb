"""A peak declared dense is the figure with 2:4 sparsity.

## What it finds

A `workload.peak_flops`, or a `peak` of the accelerator, declared dense, that is 1.9 to 2.1 times the catalog's dense
peak of that precision.

## Why it matters

The 1,979 TFLOP/s of an H100 require two of every four weights to be zero; the dense GEMMs of training have 989 TFLOP/s.
Used as the dense peak, the sparse figure turns an MFU of 42 % into 21 %, or halves the planned step time.

## What to do

Write the dense figure, or `sparse`. Where the figure is the next precision's (fp8 is twice bf16), change
`precision` instead.

## When to ignore it

Do not ignore it. If the weights are 2:4 sparse in training, write `sparse`.

## Fix safety

The fix is safe: it writes `sparse` for `dense` and keeps the number. The rule offers no fix where the figure is also
the dense peak of another precision.

## Fires

```yaml workload.peak_flops
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  peak_flops: 1979 TFLOP/s dense
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  peak_flops: 1979 TFLOP/s sparse
```

## Sources

- MFU halved by the sparse peak: https://github.com/NVIDIA/Megatron-LM/issues/1565
- The same in another framework: https://github.com/foundation-model-stack/fms-fsdp/issues/89
- Data sheets with both: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/compute/accelerator/README.md#L324
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.quantity import Sparsity
from clusterspec.rules.knowledge.peaks import StatedPeak
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.rules.words import and_list
from clusterspec.units import display

RULE = Rule.of(__name__, "error")


def check(peaks: tuple[StatedPeak, ...]) -> Iterator[Problem]:
    for stated in peaks:
        if stated.catalog_peak and stated.is_sparse:
            written, right = stated.quantity.written, display(stated.catalog_peak, "FLOP/s", 4)
            sparse = written.replace(Sparsity.DENSE, Sparsity.SPARSE)
            doubled = [
                other
                for other, peak in stated.peaks_of_other_precisions.items()
                if abs(stated.quantity.dense / peak - 1) < 0.03
            ]
            also = f"; it is also the dense peak in {and_list(doubled)}" if doubled else ""
            yield RULE.problem(
                stated.at,
                f"{written} is twice the {right} of {stated.whose} in {stated.precision}: it is the peak with 2:4 sparsity{also}",
                f"write `{sparse}` or `{right} dense`"
                + (f", or change the precision to {doubled[0]}" if doubled else ""),
                fix=value_fix(stated.at, sparse, safe=True) if not doubled and sparse != written else None,
            )
