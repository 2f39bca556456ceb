"""An error-free bit error test is too short for the bound that the text derives from it.

## What it finds

The description or a comment concludes from an error-free test that a link is below a bit error ratio, although the test
sends too few bits for this conclusion at the stated confidence (95 % if the text states none). The number of bits is
the stated one, or the rate (in the text, or of the NIC in the keys) times the duration.

## Why it matters

Errors of a link arrive as a Poisson process. After n bits without an error, the ratio is below p with the confidence 1
- exp(-n p): 95 % takes 3.0/p bits, or 7,500 s at 400 Gb/s and 1e-15. A shorter test also passes links that are worse
than the bound.

## What to do

Run the test longer, or state the bound that this number of bits proves.

## When to ignore it

Ignore it where the bits of several links are counted together, and the bound applies to all of them together.

## Fires

```yaml description
clusterspec: 1
description: Each link carries 400 Gb/s for ten minutes. One without an error has a bit error ratio below 1e-15 with 95 % confidence.
cluster: {platform: dgx-b200, nodes: 8}
```

## Silent

```yaml
clusterspec: 1
description: Each link carries 400 Gb/s for 130 minutes. One without an error has a bit error ratio below 1e-15 with 95 % confidence.
cluster: {platform: dgx-b200, nodes: 8}
```

## Sources

- Confidence of a bit error ratio by the Poisson distribution: https://www.sitime.com/ber-confidence-level-calculator






























"""

from __future__ import annotations

import math
from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.readers.quantities import SECOND, sentence_quantities
from clusterspec.rules.readers.written_numbers import number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display, display_bits, percent

RULE = Rule.of(__name__, "warning", "likely")
USUAL = 0.95
"""Confidence level of a bound whose text states none."""
ROUNDED = 0.95
"""Smallest share of the required bits at which a test is long enough: 3/p is an approximation, and texts round figures and
durations.
"""
_RATIO = pattern(
    r"(?i)\b(?:bit[- ]?errors?(?:[- ](?:ratio|rate))?|errors?[- ](?:ratio|rate)|ber|teb|bert|prbs\d*|fehlerrate|bitfehler(?:rate|quote|verhältnis|häufigkeit)?|taux d['’]erreurs?(?: binaires?| sur les bits)?|tasa de errores?(?: de bits?| binarios?)?)\b"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_POWER = pattern(
    r"(?<![\w.,])(?:(\d(?:[.,]\d{1,3})?) ?(?:e|E)[-−–](\d{1,2})|(?:(\d(?:[.,]\d{1,3})?) ?[x×·*] ?)?10 ?(?:\^|\*\*)? ?\(?[-−–](\d{1,2})\)?)(?![\d.,]\d)"
)
_CLEAN = pattern(
    r"(?i)\b(?:without (?:an?|any|a single|one) (?:bit )?errors?|no (?:bit )?errors?|zero (?:bit )?errors?|0 errors|error-?free|(?:runs?|is|are|stays?|remains?) clean|fehlerfrei\w*|ohne (?:einen )?(?:bit)?fehler|kein\w* (?:bit)?fehler|sans (?:aucune )?erreurs?|aucune erreur|sin (?:ningún )?error(?:es)?|ningún error)\b"
)
_CONFIDENCE = pattern(
    r"(?i)(\d{2}(?:[.,]\d{1,3})?) ?(?:%|percent|prozent|pour cent|por ciento)[^.;\d]{0,24}?\b(?:confiden\w*|sicher\w*|konfidenz\w*|vertrauen\w*|confiance|confianza)\b"
    r"|\b(?:confiden\w*|konfidenz\w*|vertrauens\w*|confiance|confianza)\b[^.;\d]{0,24}?(\d{2}(?:[.,]\d{1,3})?) ?(?:%|percent|prozent)"
)
_BITS = pattern(
    r"(?i)(?<![\w.,])(\d(?:[.,]\d{1,3})?) ?(?:e\+?|[x×·*] ?10 ?(?:\^|\*\*)? ?)(\d{1,2}) (?:error-?free |clean |fehlerfreie[nr]? )?bits?\b(?! errors?)"
)
_RATE = pattern(r"(?i)(?<![\w.,])(\d{1,4}(?:[.,]\d)?) ?(?:g(?:bit|b)/s|gbps|gbit/s)\b")
_TOGETHER = pattern(
    r"(?i)\b(?:together|in total|in sum|all (?:\d+ )?(?:links|ports|cables)|sum of|pooled|insgesamt|zusammen|au total|en total)\b"
)
_CUES = ("teb", "prbs", "error r", "fehlerrate", "bit err", "bit-err", "bitfehler", "erreur", "errores", "ber")


def check(own_remarks: str, scale_out: ScaleOut | None) -> Iterator[Problem]:
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES) or not any(sign in folded for sign in ("e-", "10", "e−", "e–")):
        return
    text = " ".join(own_remarks.replace("#", " ").split()).translate(_SUPERSCRIPTS)
    sentences = [each for each in sentences_of(text) if each.strip(" .")]
    for number, sentence in enumerate(sentences):
        ratio = _ratio_in(sentence)
        if not ratio or _CLEAN.search(sentence) is None:
            continue
        near = [sentence, *reversed(sentences[max(0, number - 2) : number]), *sentences[number + 1 : number + 2]]
        told = [(where, sent) for where in near if (sent := _bits_in(where, scale_out)) is not None]
        if not told or any(_TOGETHER.search(where) is not None for where in (sentence, told[0][0])):
            continue
        stated = _CONFIDENCE.search(". ".join(near[:2]))
        confidence = number_in_text(stated[1] or stated[2]) / 100 if stated is not None else USUAL
        needed = -math.log(1 - confidence) / ratio if confidence < 1 else 0.0
        if told[0][1][0] < ROUNDED * needed:
            yield _problem(told[0][1], ratio, confidence, needed)
            return


def _problem(sent: tuple[float, float], ratio: float, confidence: float, needed: float) -> Problem:
    bits, rate = sent
    time = f", {display(needed / rate, 's')} at {display_bits(rate / 8)}" if rate else ""
    message = (
        f"{bits:.2g} bits without an error show a bit error ratio below {ratio:.0e} with {percent(-math.expm1(-bits * ratio), 2)} confidence; "
        f"{percent(confidence, 3)} take {needed:.2g} bits{time}"
    )
    help_ = f"run the test longer, or state the {needed / bits * ratio:.2g} that its bits show"
    return RULE.problem("description", message, help_)


def _ratio_in(sentence: str) -> float | None:
    """The bit error ratio that a sentence names; None if it names none or several.

    >>> _ratio_in("a bit error ratio below 1e-15"), _ratio_in("BER < 10^-12"), _ratio_in("BER 5 x 10-13"), _ratio_in("1e-15 V")
    (1e-15, 1e-12, 5e-13, None)
    """
    if _RATIO.search(sentence) is None:
        return None
    found = {
        number_in_text(match[1] or match[3] or "1") * 10.0 ** -int(match[2] or match[4])
        for match in _POWER.finditer(sentence)
    }
    return found.pop() if len(found) == 1 else None


def _bits_in(sentence: str, scale_out: ScaleOut | None) -> tuple[float, float] | None:
    """The number of bits of a test of one link, and its rate in bit/s; the rate is 0 where the text states the bits.
    None if neither is stated.
    """
    stated = {number_in_text(match[1]) * 10.0 ** int(match[2]) for match in _BITS.finditer(sentence)}
    rates = {number_in_text(each) * 1e9 for each in _RATE.findall(sentence)}
    rate = _only_value(rates) or (scale_out.nic_bandwidth.value * 8 if not rates and scale_out is not None else 0.0)
    if stated:
        return (stated.pop(), rate) if len(stated) == 1 else None
    times = {each.value for _, found in sentence_quantities(sentence) for each in found if each.unit == SECOND}
    return (rate * times.pop(), rate) if rate and len(times) == 1 else None


def _only_value(values: set[float]) -> float:
    return next(iter(values)) if len(values) == 1 else 0.0
