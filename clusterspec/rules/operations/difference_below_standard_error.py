"""A difference of two scores is taken for a real one, though it is within the standard error of the evaluation.

## What it finds

An evaluation of a number of questions in the description or a comment whose difference of scores stops, starts or selects
something, or is called significant, though it is below one standard error of a single score. Also a standard error of a share that
is not sqrt(p (1 - p) / n). Without a stated score, the standard error of a score of 0.9 is taken, the least that is usual.

## Why it matters

A score of n questions is a mean of n draws, with the standard error sqrt(p (1 - p) / n): 2.2 points for 400 questions and a score
of 0.72. A difference of two scores has about 1.4 times as much. A rule that acts on less acts on noise.

## What to do

Ask more questions, compare the answers to the same questions in pairs, or act on a larger difference.

## When to ignore it

Ignore it where the scores are compared in pairs, question by question.

## Fires

```yaml description
clusterspec: 1
description: Each checkpoint answers 400 questions; the pass rate is 0.72. A drop of 1.5 points stops the training.
cluster: {platform: dgx-h200, nodes: 8}
```

```yaml description
clusterspec: 1
description: Each checkpoint answers 400 questions. The standard error is sqrt(0.72 x 0.28 / 400) = 0.7 points.
cluster: {platform: dgx-h200, nodes: 8}
```

## Silent

```yaml
clusterspec: 1
description: Each checkpoint answers 400 questions; the pass rate is 0.72. A drop of 7 points stops the training.
cluster: {platform: dgx-h200, nodes: 8}
```

## Sources

- Standard errors of evaluations: E. Miller, Adding Error Bars to Evals, https://arxiv.org/abs/2411.00640
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import sqrt

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.written_numbers import MOST_MATCHES, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
BEST = 0.9
"""Score without a stated one: a lower one has a larger standard error."""
FAR = 0.15
"""Relative difference of a stated standard error that no rounding explains."""
_NUMBER = r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d{2,6})"
_ITEMS = pattern(
    rf"(?i){_NUMBER} (?:\w{{3,14}}[ -]){{0,3}}?(?:questions?|items|prompts|problems|test cases|examples|tasks|fragen|aufgaben|questions|exercices|preguntas|ejercicios)\b"
)
_EVALUATED = pattern(
    r"(?i)\b(?:evaluat\w*|scores?|pass[- ]?rate|pass@1|accuracy|benchmark\w*|held-?out|right|correct\w*|graded|answers?|genauigkeit|trefferquote|bewert\w*|auswertung|précision|évaluat\w*|exactitud|evaluac\w*)\b"
)
_ROOT = pattern(
    r"(?i)(?:sqrt ?|√ ?)\(? ?(0?[.,]\d{1,4}) ?[x×*·] ?(?:\(1 ?[-−–] ?0?[.,]\d{1,4}\)|0?[.,]\d{1,4}) ?/ ?(\d{1,3}(?:,\d{3})+|\d{2,7}) ?\)? ?[=≈] ?(\d{1,2}(?:[.,]\d{1,4})?|0?[.,]\d{1,5}) ?(%|percent|points?|pp|prozent\w*|punkte|puntos)?"
)
_SCORE = pattern(
    r"(?i)\b(?:scores?|pass[- ]?rates?|accuracy|correct|right|trefferquote|genauigkeit|précision|exactitud|taux de réussite|tasa de acierto)\b[^.;\d]{0,40}?(0[.,]\d{1,4}|\d{1,2}(?:[.,]\d{1,2})? ?(?:%|percent|prozent))"
)
_DIFFERENCE = pattern(
    r"(?i)\b(?:drops?|falls?|loss(?:es)?|loses?|gains?|rises?|improve\w*|differences?|decrease\w*|increase\w*|better|worse|regressions?|declines?|rückgang|abfall|fällt|sinkt|unterschied|verbesser\w*|baisse\w*|écart|gain|caída|cae|bajada|diferencia|mejora)\b"
    r"[^.;\d]{0,32}?(\d{1,2}(?:[.,]\d{1,2})?)[- ]?(?:percentage[- ]|prozent)?(?:points?|pp|punkte?n?|puntos)\b"
)
_BEHIND = pattern(
    r"(?i)(?<![\w.,])(\d{1,2}(?:[.,]\d{1,2})?)[- ]?(?:percentage[- ]|prozent)?(?:points?|pp|punkte?n?|puntos)\b (?:or more )?(?:better|worse|less|more|lower|higher|below|above|drop|gain|loss|regression|besser|schlechter|de moins|de plus|menos|más)\b"
)
_ACTS = pattern(
    r"(?i)\b(?:stops?|stopped|halts?|abort\w*|roll(?:s|ed)? back|reject\w*|accept\w*|select\w*|chosen|keeps?|wins?|promot\w*|blocks?|fails?|gates?|trigger\w*|signifi\w*|real|beyond (?:the )?noise|more than (?:the |twice )?[^.;]{0,16}noise|angehalten|bricht|stoppt|abgelehnt|gewählt|signifikant|arrête\w*|rejet\w*|choisi\w*|detiene|rechaza\w*|elige|significativ\w*)\b"
)
_PAIRED = pattern(
    r"(?i)\b(?:paired|pairwise|mcnemar|bootstrap\w*|question by question|gepaart\w*|paarweise|appariée?s?|pareada?s?|(?:mean|average) of \w{1,12} (?:runs|seeds|evaluations)|seeds)\b"
)
_CUES = ("question", "item", "prompt", "problem", "case", "example", "task", "frage", "aufgabe", "exercice", "pregunta")


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES) or not any(
        cue in folded for cue in ("point", "punkt", "punto", "sqrt", "√", " pp")
    ):
        return
    text = " ".join(own_remarks.replace("#", " ").split())
    wrong = _wrong_root(text)
    if wrong is not None:
        yield wrong
        return
    counts = {number_in_text(each) for each in islice(_ITEMS.findall(text), MOST_MATCHES)}
    if len(counts) != 1 or _EVALUATED.search(text) is None or _PAIRED.search(text) is not None:
        return
    (count,) = counts
    scores = {_score_share(each) for each in _SCORE.findall(text)}
    score = min(scores, key=lambda each: each * (1 - each)) if scores else BEST
    error = 100 * sqrt(score * (1 - score) / count)
    for sentence in sentences_of(text):
        if _ACTS.search(sentence) is None:
            continue
        for each in (*_DIFFERENCE.findall(sentence), *_BEHIND.findall(sentence)):
            points = number_in_text(each)
            if 0 < points < error:
                message = (
                    f"a difference of {points:g} points is below the standard error of one score, {error:.2g} points for {count:,.0f} questions "
                    f"and a score of {score:g}: the rule acts on noise"
                )
                yield RULE.problem("description", message, _help(score, points))
                return


def _help(score: float, points: float) -> str:
    """The questions for which a difference is twice its standard error."""
    return f"act on a larger difference, compare in pairs, or ask {8 * score * (1 - score) / (points / 100) ** 2:,.0f} questions"


def _wrong_root(text: str) -> Problem | None:
    """The problem with a standard error that is not the root that the text writes out."""
    for match in islice(_ROOT.finditer(text), MOST_MATCHES):
        score, written = (float(match[place].replace(",", ".")) for place in (1, 3))
        count = number_in_text(match[2])
        right = sqrt(score * (1 - score) / count)
        stated = written / 100 if match[4] else written
        readings = (stated,) if match[4] else (stated, stated / 100)
        if not any(abs(each - right) <= FAR * right for each in readings):
            shown = f"{100 * right:.2g} points" if match[4] or written >= 1 else f"{right:.2g}"
            stated_words = f"{match[3]} {match[4] or ''}".strip()
            message = f"sqrt({score:g} x {1 - score:.3g} / {count:,.0f}) is {shown}, and the text has `{stated_words}`"
            return RULE.problem("description", message, "correct the standard error, and what follows from it")
    return None


def _score_share(written: str) -> float:
    """A score as a share: `0.72`, `72 %`."""
    digits = written.partition(" ")[0].rstrip("%")
    value = number_in_text(digits)
    return value if value < 1 else value / 100
