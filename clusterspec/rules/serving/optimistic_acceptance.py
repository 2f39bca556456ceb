"""The acceptance rate of speculative decoding, or the prefix hit rate, exceeds published values.

## What it finds

`speculative.acceptance` that needs each drafted token to be accepted in more than 92 % of the cases in which all before
it were: a share above 0.92 of one token, 0.85 of three, 0.7 of eight; more than 16 drafted tokens in a chain; drafting by `mtp` with a model for which the
catalog has no layers of multi-token prediction; and a `prefix_hit` above 0.95. These are warnings.

Drafting by `mtp` is an error where the released weights are known to have no such layers: its configuration states
none, the tensors add up without any, its publisher keeps them back, or the model is older than DeepSeek-V3, which
introduced them in December 2024. This holds, too, for a model that the spec describes with the sizes of such a one: engines
look for the layers in its checkpoint. A `prefix_hit` of 1 is an error, since every request has at least one new token.

## Why it matters

A drafted token counts only if all before it are accepted: at a rate of 0.8 for each, 17 % of chains of eight are, and
42 % of their tokens. Published rates are 0.5 to 0.9 for the first token, and fall with each further token.
`acceptance` is the share of all drafted tokens; the rate of each token given those before it, which many papers and
logs of engines state, is higher. The predicted throughput depends on it.

## What to do

State the share measured on your texts: the accepted tokens of a step over the drafted ones. Draft two to five tokens; name a draft model or EAGLE head where the model does
not predict several tokens. If the model has layers of multi-token prediction that the catalog does not list, state them
as `multi_token_prediction` in `workload.model`.

## When to ignore it

Ignore it where the rate was measured on the users' own texts, such as edits that copy most of their input.

## Fires

```yaml workload.serving.speculative.acceptance
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 3, acceptance: 0.99}}}
layout: {tp: 8}
```

```yaml workload.serving.speculative.method
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 1, acceptance: 0.8, method: mtp}}}
layout: {tp: 8}
```

```yaml workload.serving.speculative.method
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: gemma-4-31b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 1, acceptance: 0.8, method: mtp}}}
layout: {tp: 8}
```

```yaml workload.serving.speculative.acceptance
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 7, acceptance: 0.75}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 3, acceptance: 0.7, method: eagle}}}
layout: {tp: 8}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: glm-4.7-flash, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, speculative: {tokens: 1, acceptance: 0.8, method: mtp}}}
layout: {tp: 4, replicas: 2}
```

## Sources

- The second token of DeepSeek-V3 is accepted in 85 to 90 % of the cases: https://arxiv.org/abs/2412.19437
- Speculative decoding, acceptance by task: https://arxiv.org/abs/2211.17192
- EAGLE-3, accepted tokens by task: https://arxiv.org/abs/2503.01840
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.95
MOST_ACCEPTED = 0.92
"""Largest rate with which a drafted token is accepted if all before it were: published ones reach 0.9, and some are rounded."""
LONGEST = 16
"""Largest number of drafted tokens in a chain: engines and papers draft one to eight."""
AT = "workload.serving"


def check(workload: Workload, catalog: Catalog) -> Iterator[Problem]:
    load = workload.serving
    if load is None:
        return
    most = accepted_share(MOST_ACCEPTED, min(load.draft_tokens, LONGEST))
    if load.draft_tokens and load.draft_acceptance > most:
        of_chain = f" of {load.draft_tokens} drafted tokens" if load.draft_tokens > 1 else ""
        message = f"an acceptance of {percent(load.draft_acceptance, 3)}{of_chain} exceeds published shares, which are up to {percent(most, 3)}, with {percent(MOST_ACCEPTED)} of the tokens that follow an accepted one"
        help_ = "state the share of all drafted tokens that was measured on your texts, not that of one given those before it"
        yield RULE.problem(f"{AT}.speculative.acceptance", message, help_)
    if load.draft_tokens > LONGEST:
        message = f"of a chain of {load.draft_tokens} drafted tokens the last is accepted in {percent(MOST_ACCEPTED**load.draft_tokens, 2)} of the steps at most"
        yield RULE.problem(f"{AT}.speculative.tokens", message, "draft two to five tokens")
    if load.draft_method == "mtp":
        yield from _missing_layers_problem(workload.model, catalog)
    if load.prefix_hit >= 1:
        message = "with every input token in the cache, no request differs from an earlier one"
        yield RULE.problem(f"{AT}.prefix_hit", message, "state the share of tokens that repeat", severity="error")
    elif load.prefix_hit > MOST:
        message = f"{plain(100 * (1 - load.prefix_hit), 2)} % of the input tokens are new, and prefill is sized for them alone"
        yield RULE.problem(f"{AT}.prefix_hit", message, "state the share that was measured on your traffic")


def accepted_share(rate: float, tokens: int) -> float:
    """The share of the tokens of a chain that is accepted if each is with this rate, given all before it; the mean of the powers
    of the rate, by section 3.1 of https://arxiv.org/abs/2211.17192.

    >>> round(accepted_share(0.75, 7), 3), accepted_share(0.9, 1), accepted_share(0.9, 0)
    (0.371, 0.9, 0.0)
    """
    return sum(rate**at for at in range(1, tokens + 1)) / tokens if tokens else 0.0


def _missing_layers_problem(model: Model, catalog: Catalog) -> Iterator[Problem]:
    """The problem of multi-token prediction without prediction layers: an error if the released weights are known to
    have none, a warning if the catalog has none for the model or its shape.
    """
    at, help_ = f"{AT}.speculative.method", "name `eagle`, `draft-model` or `ngram`"
    if model.no_prediction_weights:
        subject = f"the published checkpoint of {model.name}" if model.prediction else model.name
        message = f"{subject} has no layers for multi-token prediction that could draft"
        yield RULE.problem(at, message, help_, severity="error")
    elif model.drafts:
        return
    elif (same := _without_layers(model, catalog)) is not None:
        message = f"the model of the spec has the sizes of {same.name}, whose checkpoint has no layers for multi-token prediction that could draft"
        stated = "state them as `multi_token_prediction` in `workload.model` if your weights have some, else"
        yield RULE.problem(at, message, f"{stated} {help_}", severity="error")
    elif not _shape_predicts(model, catalog):
        whose = model.name if model.id else "the model of the spec"
        message = f"the catalog has no layers of {whose} for multi-token prediction that could draft"
        stated = "state them as `multi_token_prediction` in `workload.model` if it has some, else"
        yield RULE.problem(at, message, f"{stated} {help_}")


def _shape_predicts(model: Model, catalog: Catalog) -> bool:
    """Whether the catalog has prediction layers for a model of the same shape; a model derived from it keeps them."""
    return any(each.drafts for each in _models_of_shape(model, catalog))


def _without_layers(model: Model, catalog: Catalog) -> Model | None:
    """A model of the catalog of the same shape, where all of this shape are known to have no prediction layers."""
    same = [*_models_of_shape(model, catalog)] if not model.id else []
    return same[0] if same and all(each.no_prediction_weights for each in same) else None


def _models_of_shape(model: Model, catalog: Catalog) -> Iterator[Model]:
    """The models of the catalog with the sizes of this one."""
    entries = (catalog.find("model", id_) for id_ in catalog.ids("model"))
    sizes = _architecture_sizes(model)
    return (each for each in entries if isinstance(each, Model) and _architecture_sizes(each) == sizes)


def _architecture_sizes(model: Model) -> tuple[int, ...]:
    """The sizes that identify an architecture: models of one architecture share them, others rarely do."""
    return (model.layers, model.hidden, model.heads, model.vocab, model.experts, model.expert_ffn_hidden)
