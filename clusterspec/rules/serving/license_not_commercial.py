"""The license of the weights does not allow commercial use.

## What it finds

A service of a model whose catalog entry has a license for research or for other use that is not commercial
(`clusterspec catalog show command-a`). The finding is a note, and a warning where the texts say that there is no contract or
agreement with the maker.

## Why it matters

A company that serves such weights to customers or to its own staff needs an agreement with the maker. Its price is a part of
the cost, and without it the service ends when the maker objects.

## What to do

Ask the maker for a commercial license before the purchase, or choose a model whose license allows the use.

## When to ignore it

Ignore it for research, and where the agreement is signed.

## Fires

```yaml workload.model
clusterspec: 1
description: Assistant of a bank, with the open weights and without a contract with the vendor.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: command-a
  parameter_precision: fp8
  serving: {input_tokens: 2000, output_tokens: 300, request_rate: 1}
layout: {framework: vllm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
description: Assistant of a bank, under a commercial license agreement with Cohere.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: command-a
  parameter_precision: fp8
  serving: {input_tokens: 2000, output_tokens: 300, request_rate: 1}
layout: {framework: vllm, tp: 4}
```

## Sources

- The license of each model: `clusterspec catalog show`
- Weights for research: https://huggingface.co/CohereForAI/c4ai-command-a-03-2025
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "note", "likely")
NOT_COMMERCIAL = {
    "cc-by-nc-4.0": "CC-BY-NC 4.0",
    "mistral-research": "the Mistral Research License",
    "mistral-non-production": "the Mistral AI Non-Production License",
}
_AGREEMENT = r"(?:contracts?|agreements?|licen[cs]e[sd]?|licen[cs]ing|vertrag|lizenz\w*|contrat|licence|contrato|licencia|licença|contratto|licenza)"
_WITHOUT = pattern(rf"(?i)\b(?:without|no|ohne|kein\w*|sans|sin|sem|senza)\b (?:[\w-]{{1,16}} ){{0,2}}?{_AGREEMENT}\b")
_AGREED = pattern(
    rf"(?i)\b{_AGREEMENT}\b|\b(?:research|universit\w*|academ\w*|non-?commercial|forschung\w*|hochschule\w*|recherche|investigación|pesquisa|ricerca)\b"
)


def check(
    written_workload: WorkloadSpec, workload: Workload, model: Model, own_remarks: str | None
) -> Iterator[Problem]:
    if workload.kind != "serve" or model.license not in NOT_COMMERCIAL:
        return
    text = own_remarks or ""
    denied = _WITHOUT.search(text)
    if denied is None and _AGREED.search(text) is not None:
        return
    stated = f", but the text says `{denied[0]}`" if denied is not None else ""
    message = f"the weights of {model.name} are under {NOT_COMMERCIAL[model.license]}, which does not allow commercial use{stated}"
    severity = "warning" if denied is not None else "note"
    help_ = f"agree on a license with {model.vendor or 'the maker'}, or choose another model"
    yield RULE.problem("workload.model", message, help_, severity=severity)
