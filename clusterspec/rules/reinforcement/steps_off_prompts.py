"""Steps, prompts or samples of reinforcement learning in a text do not fit each other or the keys.

## What it finds

- Samples of a step (`2,048 samples per step`) that are not `prompts_per_step` times `samples_per_prompt`.
- A number of steps and a number of prompts of the set with the passes over it, where the prompts of all steps are others.

## Why it matters

The samples of a step set the time of generation and update, and the steps the length of the run.

## What to do

Multiply the prompts of a step by its samples, and divide the prompts of the set by those of a step.

## When to ignore it

Ignore it where prompts are filtered before the update.

## Fires

```yaml description
clusterspec: 1
description: GRPO with 2,048 samples per step.
cluster: {platform: dgx-h100, nodes: 4}
workload: {kind: rl, model: qwen2.5-7b, rl: {prompts_per_step: 128, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000}}
layout: {framework: megatron-core}
```

## Silent

```yaml
clusterspec: 1
description: GRPO with 1,024 samples per step, two passes over 12,800 prompts in 200 steps.
cluster: {platform: dgx-h100, nodes: 4}
workload: {kind: rl, model: qwen2.5-7b, rl: {prompts_per_step: 128, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000}}
layout: {framework: megatron-core}
```

## Sources

- Prompts and samples of a step: https://verl.readthedocs.io/en/latest/examples/config.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_quantities import STEP, is_own, sentence_quantities
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS
from clusterspec.rules.knowledge.written_numbers import NUMBER, agree, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_SAMPLES = pattern(
    rf"(?i){NUMBER} (?:samples|answers|rollouts|completions|responses|trajectories) (?:per|a|in each|in every|each|for each) (?:optimizer |training |rl |grpo )?(?P<of>step|iteration|batch|update)\b"
)
_PROMPTS = pattern(
    rf"(?i){NUMBER} (?:distinct |unique |fresh |training )?(?:prompts|problems|questions|tasks)\b(?! (?:per|a|in each|each|with|of each|x))"
)
_PASSES = pattern(rf"(?i)\b(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}|a single) (?:full )?(?:epochs?|pass(?:es)?)\b")
SAME = 0.05


def check(own_remarks: str, workload: Workload) -> Iterator[Problem]:
    if not own_remarks or workload.rl is None:
        return
    if "step" not in own_remarks and "batch" not in own_remarks and "update" not in own_remarks:
        return
    rl = workload.rl
    for sentence, quantities in sentence_quantities(own_remarks):
        stated = _SAMPLES.search(sentence)
        updates = rl.minibatches
        if stated is not None:
            number = number_in_text(stated[1])
            fits = {rl.samples, rl.samples / updates, rl.samples_per_prompt, rl.prompts}
            if (
                number >= 64
                and not any(agree(number, each, SAME) for each in fits)
                and stated["of"] in ("step", "iteration")
            ):
                message = f"`{stated[0]}`: {rl.prompts:,} prompts with {rl.samples_per_prompt:,} samples each are {rl.samples:,}"
                yield RULE.problem("description", message, "correct the text or the keys")
                return
        steps = [each for each in quantities if each.unit == STEP and each.value >= 10 and is_own(sentence, each)]
        prompts, passes = _PROMPTS.search(sentence), _PASSES.search(sentence)
        if len(steps) != 1 or prompts is None or passes is None:
            continue
        count = NUMBER_WORDS.get(passes[1].lower()) or (1 if passes[1].lower() == "a single" else int(passes[1]))
        given, needed = number_in_text(prompts[1]) * count, steps[0].value * rl.prompts
        if given >= 1000 and not agree(needed, given, 0.1):
            message = f"{steps[0].words} of {rl.prompts:,} prompts see {needed:,.0f} prompts, and `{passes[0]}` over {prompts[1]} are {given:,.0f}"
            yield RULE.problem("description", message, f"plan {given / rl.prompts:,.0f} steps")
            return
