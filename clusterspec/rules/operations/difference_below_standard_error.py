"""A difference of two scores is treated as real although it is within the standard error.

## What it finds

The description or a comment lets a difference of two evaluation scores stop, start or select something, or calls it
significant, although it is below one standard error of a single score. Without a stated score the rule assumes 0.9,
which gives the smallest usual standard error. The rule also reports a standard error of a share that is not sqrt(p (1 -
p) / n).

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
from clusterspec.rules.readers.clauses import clause_at, is_hypothetical
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
BEST = 0.9
"""Score assumed if none is stated; a lower score has a larger standard error."""
FAR = 0.15
"""Relative difference of a standard error that rounding cannot explain."""
_NUMBER = r"(?<![\w.,])(\d{1,3}(?:[,. ]\d{3}){1,4}(?![\d.,]\d)|\d{2,6})"
_NOUN = r"(?:questions?|items?|prompts?|problems?|test cases|examples?|tasks?|samples|fragen|aufgaben|beispiele?n?|exercices|problèmes|tâches|preguntas|ejercicios|tareas)"
_ITEMS = pattern(
    rf"(?i){_NUMBER}[ -](?:\w{{3,14}}[ -]){{0,3}}?{_NOUN}\b|\bn ?= ?{_NUMBER}|\b(?:questions|items|prompts|problems|tasks) ?[|:=] ?{_NUMBER}"
)
_EVALUATED = pattern(
    r"(?i)\b(?:evaluat\w*|scores?|pass[- ]?rate|pass@1|accura\w+|taux|tasa|benchmark\w*|held-?out|right|correct\w*|graded|answers?|solves?|success rate|win rate|dev set|test set|checkpoint\w*|"
    r"genauigkeit|\w*quote|bewert\w*|auswertung|löst|gelöst|précision|évaluat\w*|réussite|exactitud|acierto|evaluac\w*)\b|\bp ?="
)
_ROOT = pattern(
    r"(?i)(?:sqrt ?|√ ?)\(? ?(0?[.,]\d{1,4}) ?[x×*·] ?(?:\(1 ?[-−–] ?0?[.,]\d{1,4}\)|0?[.,]\d{1,4}) ?/ ?(\d{1,3}(?:,\d{3})+|\d{2,7}) ?\)? ?[=≈] ?(\d{1,2}(?:[.,]\d{1,4})?|0?[.,]\d{1,5}) ?(%|percent|points?|pp|prozent\w*|punkte|puntos)?"
)
_SHARE_OF_RIGHT = r"(?:scores?|pass(?=@)|pass[- ]?rates?|success rates?|rates?|accura\w+|correct|right|solved|\w*quote|genauigkeit|précision|exactitud|taux(?: de réussite)?|réussite|tasa(?: de acierto)?|acierto|p)"
_FRACTION = r"(0[.,]\d{1,4}|\d{1,2}(?:[.,]\d{1,2})? ?(?:%|percent|prozent|pour cent))(?![\d ]*(?:points?|pp|confid))"
_SCORE = pattern(
    rf"(?i)\b{_SHARE_OF_RIGHT}(?:@1)?\b[^.;\d]{{0,40}}?{_FRACTION}|\bsolves? {_FRACTION}|\bfrom (?:its |the ){_FRACTION}|(?<![\w.,]){_FRACTION},? (?:of (?:them|the \w+) )?(?:are )?{_SHARE_OF_RIGHT}\b|\((?:currently |now |today |zurzeit |actuellement )?{_FRACTION}\)"
)
_POINTS = pattern(
    r"(?i)(?<![\w.,])(\d{1,2}(?:[.,]\d{1,2})?|one|two|half a|ein(?:en)?|zwei|un|deux|dos)[- ]?(?:percentage[- ]|prozent)?(?:points?|pp|punkte?n?|puntos?)\b"
)
_WORDS = {
    "one": 1.0,
    "two": 2.0,
    "half a": 0.5,
    "ein": 1.0,
    "einen": 1.0,
    "zwei": 2.0,
    "un": 1.0,
    "deux": 2.0,
    "dos": 2.0,
}
_FROM_TO = pattern(
    r"(?i)(?<![\w.,])(0[.,]\d{2,4}|\d{1,2}(?:[.,]\d{1,2})? ?(?:%|percent|prozent)) (?:to|auf|à|a|vs\.?|versus|against) (0[.,]\d{2,4}|\d{1,2}(?:[.,]\d{1,2})? ?(?:%|percent|prozent))"
)
_DIFFERENCE = pattern(
    r"(?i)\b(?:drops?|dropp\w+|falls?|loss(?:es)?|loses?|lost|gains?|rises?|improv\w*|differ\w*|decrease\w*|increase\w*|better|worse|lower|higher|more|less|regress\w*|declines?|progress|fortschritt|progrès|down|up|slips?|threshold|winner|went|gap|margin|delta|behind|ahead|below|above|"
    r"rückgang|abfall|fällt|sinkt|unterschied|verbesser\w*|schlechter|besser|verlier\w*|verlust|weniger|mehr|baisse\w*|écart|gain|perte|perd|moins|plus|caída|cae|bajada|diferencia|mejora|menos|más)\b"
)
_ACTS = pattern(
    r"(?i)\b(?:stops?|stopped|halts?|paus\w+|abort\w*|cancel\w*|kill\w*|roll(?:s|ed)?[- ]?back|revert\w*|reject\w*|discard\w*|accept\w*|select\w*|choos\w*|chosen|pick\w*|keeps?|wins?|winner|promot\w*|releas\w*|replac\w*|blocks?|fails?|gates?|trigger\w*|alarm\w*|"
    r"decid\w*|counts? as|gilt|gelten|progress|fortschritt|progrès|signifi\w*|real|prov\w+|shows? that|ends? the|beyond (?:the )?noise|more than (?:the |twice )?[^.;]{0,16}noise|"
    r"angehalten|bricht|abgebrochen|abbruch|stoppt|gestoppt|abgelehnt|verworfen|gewählt|zurück\w*|signifikant|entscheid\w*|arrêt\w*|rejet\w*|interromp\w*|choisi\w*|retenue?|décid\w*|détien\w*|detien\w*|rechaza\w*|elige|significativ\w*)\b"
)
_NOISE = pattern(
    r"(?i)\b(?:(?:is|are|as|within|below|inside|only) (?:the |mere |just )?(?:noise|standard error)|nothing|no action|not (?:stop|act|signific|count|enough|real)\w*|by chance|ignored?|insignific\w*|rauschen|nicht (?:signifikant|genug)|bruit|ruido)\b"
)
_STANDARD_ERROR = pattern(
    r"(?i)(?<!\w)(?:standard[- ]?errors?|standard[- ]?fehler\w*|s\.?e\.?m?|stderr|erreur[- ]type|error est[aá]ndar)\b|±"
)
_ONLY_POINTS = pattern(r"(?i)\b(?:decid\w*|suffic\w*|enough|genügen|entscheid\w*|suffis\w*|bast\w+)\b")
_HYPOTHETICAL = pattern(r"(?i)\b(?:would|could|might|würde\w*|könnte\w*|serait|pourrait|podría|sería)\b")
_PERCENTS = pattern(r"(?i)(?<![\w.,])(\d{1,2}(?:[.,]\d{1,2})?) ?(?:%|percent|prozent)")
_PAIRED = pattern(
    r"(?i)\b(?:paired|pairwise|mcnemar|bootstrap\w*|question by question|gepaart\w*|paarweise|appariée?s?|pareada?s?|(?:mean|average) of \w{1,12} (?:runs|seeds|evaluations)|seeds)\b"
)
_CUES = (
    "question",
    "item",
    "prompt",
    "problem",
    "case",
    "example",
    "task",
    "sample",
    "frage",
    "aufgabe",
    "beispiel",
    "exercice",
    "pregunta",
    "tâche",
    "n =",
    "n=",
)
_UNITS = ("point", "punkt", "punto", "sqrt", "√", " pp", "%", "standard")
OF_DIFFERENCE = sqrt(2)
"""Ratio of the standard error of the difference of two scores to that of one score."""


def check(statements: str | None) -> Iterator[Problem]:
    if not statements:  # also about former checkpoints, which texts about one machine do not have
        return
    folded = statements.casefold()
    if not any(cue in folded for cue in _CUES) or not any(cue in folded for cue in _UNITS):
        return
    text = " ".join(statements.replace("#", " ").split())
    wrong = _wrong_root(text) if "sqrt" in folded or "√" in folded else None
    if wrong is not None:
        yield wrong
        return
    counts = {number_in_text(each) for pair in islice(_ITEMS.findall(text), MOST_MATCHES) for each in pair if each}
    if (
        len(counts) != 1
        or (_EVALUATED.search(text) or _FROM_TO.search(text)) is None
        or _PAIRED.search(text) is not None
    ):
        return
    (count,) = counts
    scores = {_score_share(each) for groups in islice(_SCORE.findall(text), MOST_MATCHES) for each in groups if each}
    scores = {each for each in scores if 0 < each < 1}
    for sentence in sentences_of(text):
        found = _error_problem(sentence, count, scores) or _difference_problem(sentence, count, scores)
        if found is not None:
            yield found
            return


def _error_problem(sentence: str, count: float, scores: set[float]) -> Problem | None:
    """The problem of a standard error that does not follow from the only score and the number of questions."""
    match = _STANDARD_ERROR.search(sentence)
    if match is None or len(scores) != 1 or _NOISE.search(sentence) is not None:
        return None
    (score,) = scores
    right = 100 * sqrt(score * (1 - score) / count)
    behind = sentence[match.end() :]
    stated = _POINTS.search(behind) or next(
        (each for each in _PERCENTS.finditer(behind) if number_in_text(each[1]) != 100 * score), None
    )
    if stated is None or is_hypothetical(clause_at(sentence, *match.span())):
        return None
    points = _WORDS.get(stated[1].lower()) or number_in_text(stated[1])
    if any(abs(points - each) <= 2 * FAR * each for each in (right, right * OF_DIFFERENCE, 1.96 * right)):
        return None
    message = f"the standard error of a score of {score:g} over {count:,.0f} questions is {right:.2g} points, but the text has `{stated[0].strip()}`"
    return RULE.problem("description", message, "correct the standard error, and what follows from it")


def _difference_problem(sentence: str, count: float, scores: set[float]) -> Problem | None:
    """The problem of a sentence that acts on a difference below the standard error of one score."""
    if _ACTS.search(sentence) is None or _NOISE.search(sentence) is not None or _STANDARD_ERROR.search(sentence):
        return None
    found = [
        (points, score, 100 * sqrt(score * (1 - score) / count)) for points, score in _differences(sentence, scores)
    ]
    if not found or not all(0 < points < error for points, _, error in found):
        return None
    points, score, error = found[0]
    message = (
        f"a difference of {points:g} points is below the standard error of one score, {error:.2g} points for {count:,.0f} questions "
        f"and a score of {score:g}: the rule acts on noise"
    )
    return RULE.problem("description", message, _help(score, points))


def _differences(sentence: str, scores: set[float]) -> Iterator[tuple[float, float]]:
    """The differences of scores in percentage points in a sentence, each with the score that it starts from."""
    score = min(scores, key=lambda each: each * (1 - each)) if scores else BEST
    for match in islice(_FROM_TO.finditer(sentence), MOST_MATCHES):
        one, other = _score_share(match[1]), _score_share(match[2])
        yield round(100 * abs(other - one), 4), one
    if _DIFFERENCE.search(sentence) is not None or _ONLY_POINTS.search(sentence) is not None:
        for match in islice(_POINTS.finditer(sentence), MOST_MATCHES):
            clause = clause_at(sentence, *match.span())
            if _HYPOTHETICAL.search(clause) is None:
                yield _WORDS.get(match[1].lower()) or number_in_text(match[1]), score


def _help(score: float, points: float) -> str:
    """The number of questions with which a difference is twice its standard error, as text."""
    return f"act on a larger difference, compare in pairs, or ask {8 * score * (1 - score) / (points / 100) ** 2:,.0f} questions"


def _wrong_root(text: str) -> Problem | None:
    """The problem of a standard error that is not the square root that the text writes out."""
    for match in islice(_ROOT.finditer(text), MOST_MATCHES):
        score, written = (float(match[place].replace(",", ".")) for place in (1, 3))
        count = number_in_text(match[2])
        right = sqrt(score * (1 - score) / count)
        stated = written / 100 if match[4] else written
        readings = (stated,) if match[4] else (stated, stated / 100)
        if not any(abs(each - right) <= FAR * right for each in readings):
            shown = f"{100 * right:.2g} points" if match[4] or written >= 1 else f"{right:.2g}"
            stated_words = f"{match[3]} {match[4] or ''}".strip()
            message = f"sqrt({score:g} x {1 - score:.3g} / {count:,.0f}) is {shown}, but the text has `{stated_words}`"
            return RULE.problem("description", message, "correct the standard error, and what follows from it")
    return None


def _score_share(written: str) -> float:
    """A score as a share: `0.72`, `72 %`."""
    digits = written.partition(" ")[0].rstrip("%")
    value = number_in_text(digits)
    return value if value < 1 else value / 100
