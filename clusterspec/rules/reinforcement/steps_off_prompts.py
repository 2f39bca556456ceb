"""Steps, prompts or samples of reinforcement learning in a text do not fit each other or the keys.

## What it finds

- Samples of a step (`2,048 samples per step`) that are not `prompts_per_step` times `samples_per_prompt`.
- A number of steps whose prompts together are not the stated prompts of the set times the passes over it.

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

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.cluster.model import Workload
from clusterspec.cluster.samples import Rl
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clause_at, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.figures import with_digits
from clusterspec.rules.readers.quantities import STEP, is_own, plain_sentences, sentence_quantities
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.windows import MOST_SENTENCES
from clusterspec.rules.readers.written_numbers import NUMBER, are_close, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_COUNT = r"(?<![\w.,/-])(\d{1,3}(?:[,. ]\d{3}){1,5}(?![.,]?\d)|\d{1,6})"
_SAMPLE = r"(?:samples?|answers?|rollouts?|completions?|responses?|trajectory|trajectories|generations?|episodes?|outputs?|antworten|stichproben|trajektorien|réponses|échantillons|respuestas|muestras)"
_PROMPT = r"(?:prompts?|problems?|questions?|tasks?|queries|aufgaben|fragen|tareas|preguntas)"
_BETWEEN = r"(?:[ -](?!x\b|per\b|each\b|with\b|times\b|and\b|for\b|of\b|in\b)[^\W\d_]{2,14}){0,2}?[ -]"
_COUNTED = pattern(
    rf"(?i){_COUNT}{_BETWEEN}(?:(?P<sample>{_SAMPLE})|(?P<prompt>{_PROMPT}))\b|\b(?:(?P<samples>{_SAMPLE})|(?P<prompts>{_PROMPT})) ?[:=|] ?{_COUNT}"
)
_GROUP = pattern(
    rf"(?i)\b(?:group(?:s|[ _]size)?|gruppengröße|gruppen?|taille de groupe|samples_per_prompt|num_generations|rollout\.n|rollouts? per prompt)(?: of| is| von| de|:)? ?[=:]? ?{_COUNT}\b"
)
_STEP = pattern(
    r"(?i)\b(?:(?:grpo |ppo |rl |optimizer |training |policy |gradient )?(?:steps?|iterations?|updates?|updated|batch(?:es)?|round)|schritte?n?|iteration(?:en)?|pas|étapes?|itérations?|mise à jour|pasos?|iteraci[oó]n(?:es)?)\b"
)
_OF_PROMPT = pattern(
    r"(?i)^,? ?(?:(?:are|is|were|sampled|drawn|generated|produced|made|come|werden|sont|son) ){0,2}(?:each\b(?! (?:step|iteration))|apiece|(?:per|a|for (?:each|every)|for each of|je|pro|par|por|to each|of each|for one|on each) (?:the )?(?:\d[\d,]* )?(?:prompt|problem|question|task|group|aufgabe|frage|tarea)s?\b|jeweils)"
)
_EACH = pattern(r"(?i)^,? ?(?:each|apiece|jeweils)\b(?! (?:prompt|problem|question|task|aufgabe|frage))")
_PROMPT_BEFORE = pattern(rf"(?i)\b{_PROMPT}\b[^.;:]{{0,40}}$")
_BEFORE_PROMPT = pattern(
    r"(?i)\b(?:prompts?|problems?|questions?|tasks?|aufgaben|fragen)\b,? ?(?:times|x|×|\*|with|mit|avec|con|je|à|zu je|gets?|has|have|is answered by)(?: each)? ?$|\b(?:each|every|per|jede[rsmn]?|pro|chaque|cada) (?:prompt|problem|question|task|aufgabe|frage)\b[^,.;\d]{0,30}$"
)
_ELSEWHERE = pattern(
    r"(?i)\b(?:evaluat\w*|validat\w*|tests?|held-?out|benchmark\w*|up to|at most|no more than|in flight|at once|concurrent\w*|queued?|buffer\w*|data ?set|pool|the set|in total|altogether|"
    r"per (?:gpu|node|engine|rank|replica|device|worker)|micro\w*|mini\w*|filter\w*|progress|patience|discard\w*|kept|keeps?|drop\w*|duplicat\w*|sft|pass@|reward model|judge|cache|logged|log|saved|stored|printed|"
    r"gleichzeitig|höchstens|simultané\w*|validierung|évaluation)\b"
)
_PER_STEP = pattern(
    r"(?i)^,? ?(?:are drawn |are sampled |go |enter |are used |are rolled out )?(?:(?:per|a|an|in (?:each|every|one)|each|every|for (?:each|every|one)|into (?:each|every|a|one)|je|pro|par|por|à chaque|dans chaque|en cada) (?:\w+ )?(?:step|iteration|update|batch|round|schritt|pas|étape|itération|paso|iteración)\b)"
)
_STEP_HAS = pattern(
    r"(?i)\b(?:each|every|a|an|one|the|per|jeder|ein|eine|pro|je|un|une|chaque|par|cada|por) (?:\w+ )?(?:step|iteration|update|batch|round|schritt|pas|étape|itération|paso)\b[^.;,\d]{0,40}$|\bbatch(?: size)?(?: is| of|:)? ?$"
)
_JOINT = pattern(r"(?i),? ?(?:x|×|\*|times|with|mit|avec|con|je|mal|fois|and|at)? ?(?=\d)")
_PROMPTS = pattern(
    rf"(?i){NUMBER} (?:distinct |unique |fresh |training )?(?:prompts|problems|questions|tasks)\b(?! (?:per|a|in each|each|with|of each|x))"
)
_STEPS = pattern(
    rf"(?i){_COUNT} (?:grpo |ppo |rl |optimizer |training |policy |gradient )?(?:steps|iterations|updates|schritte[n]?|iterationen|pas|étapes|itérations|pasos|iteraciones)\b"
)
_EPOCH = pattern(r"(?i)\b(?:epochs?|pass(?:es)?|epochen?|durchl[aä]uf\w*|époques?|épocas?)\b")
_PASSES = pattern(rf"(?i)\b(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}|a single) (?:full )?(?:epochs?|pass(?:es)?)\b")
_CUES = ("step", "batch", "update", "iterat", "round", "schritt", "pas", "étape", "itérat", "jour")
_OF_EACH = pattern(
    r"(?i)\b(?:each|jede[rs]?|chacune?|cada un[oa])(?: (?:engine|worker|rank|gpu|motor|moteur|replica))? (?:holds?|gets?|takes?|has|sees?|processes|generates?|hält|bekommt|tient|reçoit|recibe|tiene)\b[^.;\d]{0,16}$"
)
"""Words before the samples of each of some engines or ranks."""
SAME = 0.05
FEWEST = 64
"""Number of samples below which a count may be the samples of one prompt."""


def check(own_remarks: str, workload: Workload) -> Iterator[Problem]:
    if not own_remarks or workload.rl is None:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    yield from islice((*_count_problem(own_remarks, workload.rl), *_passes_problem(own_remarks, workload.rl)), 1)


def _count_problem(text: str, rl: Rl) -> Iterator[Problem]:
    """Problems of prompts or samples per step, or samples per prompt, that differ from the keys."""
    for sentence in islice(plain_sentences(text), MOST_SENTENCES):
        if _STEP.search(sentence) is None:
            continue
        digits = with_digits(sentence)
        for match in islice(_COUNTED.finditer(digits), MOST_SENTENCES):
            if _is_wrong_count(digits, match, rl):
                yield _problem(match[0], rl)
        for match in islice(_GROUP.finditer(digits), MOST_SENTENCES):
            if _is_of_step(digits, match) and _count_of(match[1]) != rl.samples_per_prompt:
                yield _problem(match[0], rl)


def _is_wrong_count(sentence: str, match: re.Match[str], rl: Rl) -> bool:
    """Whether a number of prompts or samples differs from the keys."""
    number, before, behind = _count_of(match[1] or match[6]), sentence[: match.start()], sentence[match.end() :]
    if not _is_of_step(sentence, match) or _OF_EACH.search(before) is not None:
        return False
    of_prompt = _OF_PROMPT.match(behind) or _BEFORE_PROMPT.search(before)
    if of_prompt and _EACH.match(behind) and _PROMPT_BEFORE.search(before) is None:
        of_prompt = None  # each of something else
    of_samples = match["sample"] or match["samples"]
    if of_samples and of_prompt:
        return 1 < number != rl.samples_per_prompt
    if of_samples:
        fits = [rl.samples, rl.samples / rl.minibatches, rl.samples_per_prompt, rl.prompts]
        if _PER_STEP.match(behind) is None and _STEP_HAS.search(before) is None:
            fits += _samples_of_steps(sentence, rl)
        return number >= FEWEST and not any(are_close(number, each, SAME) for each in fits)
    with_samples = _COUNTED.match(sentence, _next_number(sentence, match.end())) is not None
    of_step = (
        with_samples
        or match["prompts"] is not None
        or _PER_STEP.match(behind) is not None
        or _STEP_HAS.search(before) is not None
    )
    fits = [rl.prompts, rl.prompts / rl.minibatches, rl.samples]
    return of_step and number >= 8 and not any(are_close(number, each, SAME) for each in fits)


def _samples_of_steps(sentence: str, rl: Rl) -> Iterator[float]:
    """The samples of all steps that a sentence counts, and those of all prompts of an epoch."""
    yield from (_count_of(match[1]) * rl.samples for match in islice(_STEPS.finditer(sentence), MOST_SENTENCES))
    if _EPOCH.search(sentence) is not None:
        prompts = (each for each in islice(_COUNTED.finditer(sentence), MOST_SENTENCES) if each["prompt"])
        yield from (_count_of(each[1]) * rl.samples_per_prompt for each in prompts)


def _next_number(sentence: str, at: int) -> int:
    """The position of the number after `x`, `with` or `times`; the given position if there is none of these."""
    joint = _JOINT.match(sentence, at)
    return joint.end() if joint is not None else at


def _is_of_step(sentence: str, match: re.Match[str]) -> bool:
    """Whether a number is one per training step, and not that of another plan, a bound or a test."""
    clause = clause_at(sentence, *match.span())
    others = _ELSEWHERE.search(clause) or _ELSEWHERE.search(sentence[: match.end()])
    return others is None and not is_of_other_plan(clause) and not is_hypothetical(clause)


def _count_of(digits: str) -> float:
    return float("".join(filter(str.isdigit, digits)))


def _problem(words: str, rl: Rl) -> Problem:
    message = (
        f"`{words.strip()}`: {rl.prompts:,} prompts with {rl.samples_per_prompt:,} samples each are {rl.samples:,}"
    )
    return RULE.problem("description", message, "correct the text or the keys")


def _passes_problem(text: str, rl: Rl) -> Iterator[Problem]:
    """The problem of steps whose prompts do not match the stated passes over a set of prompts."""
    for sentence, quantities in sentence_quantities(text):
        steps = [each for each in quantities if each.unit == STEP and each.value >= 10 and is_own(sentence, each)]
        prompts, passes = _PROMPTS.search(sentence), _PASSES.search(sentence)
        if len(steps) != 1 or prompts is None or passes is None:
            continue
        count = NUMBER_WORDS.get(passes[1].lower()) or (1 if passes[1].lower() == "a single" else int(passes[1]))
        given, needed = number_in_text(prompts[1]) * count, steps[0].value * rl.prompts
        if given >= 1000 and not are_close(needed, given, 0.1):
            message = f"{steps[0].words} of {rl.prompts:,} prompts see {needed:,.0f} prompts, but `{passes[0]}` over {prompts[1]} are {given:,.0f}"
            yield RULE.problem("description", message, f"plan {given / rl.prompts:,.0f} steps")
