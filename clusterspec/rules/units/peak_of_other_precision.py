"""A stated peak belongs to another precision, or to another accelerator.

## What it finds

A `workload.peak_flops` more than 5 % from the catalog's dense peak for the precision of the workload, and within 3 % of
the same accelerator's peak for another precision, or of another accelerator's peak for the same precision. The other
accelerators are the vendor's or, where the difference is a quarter or more, all of the same kind (PCIe cards, or
modules with their own links). A custom part (the spec changes several figures) is compared only with its own
precisions. The finding is a warning, and an error where the difference is a quarter or more. A peak that matches no
part is

- a warning above 1.25 times the catalog's peak, which is at the highest clock,
- an error above 1.5 times, since it is usually the peak of a node,
- an error at a quarter of the catalog's peak or less.

## Why it matters

MFU divides by the peak. With the TF32 peak, a bf16 run reports twice its MFU. With the A100's 312 TFLOP/s, an H100 run
was published at 104 %.

## What to do

Remove the key: the catalog supplies the peak of the part and the precision. Or correct `precision`.

## When to ignore it

Ignore it where the GEMMs run in another precision than the one declared for the step.

## Fires

```yaml workload.peak_flops
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  peak_flops: 312 TFLOP/s dense
```

```yaml workload.peak_flops
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  peak_flops: 98.9 TFLOP/s dense
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

- MFU against the wrong precision: https://github.com/pytorch/torchtitan/issues/668
- MFU against the wrong part: https://github.com/karpathy/nanoGPT/pull/464
- The same in another framework: https://github.com/allenai/OLMo-core/pull/614
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.reader import Entry
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.peaks import SPARSE_GAIN, StatedPeak
from clusterspec.rules.knowledge.shares import A_QUARTER
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import display, plain
from clusterspec.units.display import AGREES, agrees_within

RULE = Rule.of(__name__, "warning", "likely")
WORKLOAD = "workload.peak_flops"
OFF = 0.05
SAME = 0.03
TOO_HIGH = 1.5
"""Ratio to the catalog's peak above which no other form factor or count of the same part explains the figure."""
TOO_LOW = 0.25
"""Ratio to the catalog's peak below which neither a clock nor a power cap explains the figure."""


def check(peaks: tuple[StatedPeak, ...], deviations: Deviations, catalog: Catalog) -> Iterator[Problem]:
    own = len({each.stated.at for each in deviations.of_kinds("accelerator")}) > 1
    for stated in peaks:
        if (
            stated.catalog_peak is None
            or abs(stated.ratio - 1) <= OFF
            or (stated.skips_zeros and agrees_within(stated.ratio, SPARSE_GAIN, AGREES))
        ):
            continue  # the sparse figure has its own rule
        others = [] if own and stated.at != WORKLOAD else _accelerators_with_peak(stated, catalog)
        owners = _peaks_in_other_precisions(stated) or others
        if owners:
            known = display(stated.catalog_peak, "FLOP/s")
            message = f"{stated.quantity.written} is the peak of {and_list(owners)}; {stated.whose} has {known} in {stated.precision}"
            severity = "error" if abs(stated.ratio - 1) >= A_QUARTER else ""
            yield RULE.problem(stated.at, message, "remove the key: the catalog supplies the figure", severity=severity)
        elif not TOO_LOW < stated.ratio < 1 + A_QUARTER and not own:
            known = display(stated.catalog_peak, "FLOP/s")
            message = f"{stated.quantity.written} is {plain(stated.ratio, 2)} times the {known} that {stated.whose} has in {stated.precision}"
            help_ = "state the peak of one accelerator, or remove the key: the catalog supplies the figure"
            severity = "error" if not TOO_LOW < stated.ratio <= TOO_HIGH else ""
            yield RULE.problem(stated.at, message, help_, severity=severity)


def _peaks_in_other_precisions(stated: StatedPeak) -> list[str]:
    return [
        f"{stated.whose} in {name}"
        for name, peak in stated.peaks_of_other_precisions.items()
        if _is_stated_peak(stated, peak)
    ]


def _accelerators_with_peak(stated: StatedPeak, catalog: Catalog) -> list[str]:
    """Up to three accelerators with this peak, of the same vendor if a variant of the part could have it too.

    The whole catalog is read only for a figure that differs.
    """
    own, far = catalog.find("accelerator", stated.whose), abs(stated.ratio - 1) >= A_QUARTER
    vendor = own.vendor if isinstance(own, Accelerator) else ""
    entries = (catalog.find("accelerator", id_) for id_ in catalog.ids("accelerator"))
    fits = [
        f"{entry.id} in {stated.precision}"
        for entry in entries
        if isinstance(entry, Accelerator)
        and (_is_card(entry) == _is_card(own) if far else entry.vendor == vendor)
        and (peak := entry.peaks.get(stated.precision)) is not None
        and _is_stated_peak(stated, peak.value)
    ]
    return fits[:3]


def _is_card(entry: Entry | None) -> bool:
    """Whether an accelerator is a card that reaches other accelerators only over PCIe."""
    return isinstance(entry, Accelerator) and all(name.startswith("pcie") for name in entry.interconnects)


def _is_stated_peak(stated: StatedPeak, peak: float) -> bool:
    return abs(stated.quantity.dense / peak - 1) <= SAME
