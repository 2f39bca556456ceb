"""Shares of amounts in a text: discounts and taxes, capped shares, and rests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from clusterspec.rules.readers.dimensions import Figure, figures_of
from clusterspec.rules.readers.numerals import fractions_in
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.results.step_amounts import (
    MONEY,
    NEAR,
    RESULT,
    SAME,
    SHARE,
    claim_of,
    is_equal,
    is_money,
    is_off_result,
    may_be_money,
)
from clusterspec.standard import pattern, sum_of

_DISCOUNT = pattern(
    r"(?i)\b(?:discount\w*|rebate\w*|off|\w*nachlass\w*|\w*rabatt\w*|remise|rabais|descuento\w*|sconto|sconti|korting|rabat\w*|desconto)\b"
)
_TAX = pattern(
    r"(?i)\b(?:vat|tax\w*|\w*steuer|mwst|ust|tva|taxe\w*|iva|impuesto\w*|imposta|btw|moms\w*|podat\w+|imposto)\b"
)
_NO_RESULT = pattern(
    r"(?i)[;:()]|,(?! (?:(?:and|so|it|es|il|ce qui|und|et|y|e|en|och) )?(?:leaves?|leaving|remains?|is left|bleiben|bleibt|reste|restent|laisse|quedan?|restano|resta|blijft|blijven|återstår|zostaje)\b)|\b(?:of|on|from|auf|von|vom|sur|sobre|su|sul|op|van|av|på|od|z|against|below|under|than|gegen|unter|als|contre|contra|contro)(?: (?:the|den|die|das|le|la|les|el|los|il|het|de))? $|"
    r"\bd[eiu]l? (?!(?:vat|tax|tva|iva|btw|moms|podat|remise|descuento|sconto))[^\d]*$"
)
"""Pattern of the words between a share and an amount that is no result of it."""
_BECOMES = pattern(
    r"(?i)^[^\d.;,]{0,40}?\b(?:becomes?|turns? into|leaves?|leaving|falls? to|drops? to|brings?|to|makes?|werden|wird|bleiben|sinkt|sinken|auf|deviennent|devient|passent?|passe|reste|restent|tombe|quedan?|pasan?|bajan?|se reducen?|diventano|diventa|restano|scende|scendono|"
    r"op|wordt|worden|blijft|blijven|blir|till|sjunker|spada|do|ficam?|passam?) (?:[^\d.;,]{0,24} )?$"
)
"""Pattern of the words between an amount and what a discount or a tax makes of it."""
CAP = pattern(
    r"(?i)\b(?:capped at|at most|(?<!add )(?<!adds )(?<!come )(?<!comes )up to|(?:but )?no more than|not more than|limited to|a cap of|ceiling of|maximum of|höchstens(?: aber)?|maximal|begrenzt auf|bis zu|dans la limite de|au plus|plafonné\w* à|au maximum|como máximo|hasta|con un (?:máximo|tope) de|"
    r"al massimo|fino a|con un massimo di|ten hoogste|maximaal|hoogstens|högst|maximalt|najwyżej|maksymalnie|nie więcej niż|no máximo|até) $"
)
"""Pattern of the words before an amount that a share may not exceed."""
_CAPS = pattern(CAP.pattern.removesuffix(" $"))
_OF = pattern(
    r"(?i)^ ?(?:of|von|vom|der|des|de|du|del|dei|della|di|van|av|z|do|da)\b[^\d.;]{0,60}$|^ (?:seiner?|ihrer?|aller) [^\d.;]{0,60}$"
)
_ACROSS = pattern(
    r"(?i)^[^\d.;]{0,40}\. [^\d.;]{0,60}\b(?:therefore|so|thus|hence|amounts? to|is|also|beträgt|ist|somit|donc|est|s'élève à|atteint|por tanto|es|asciende a|quindi|è|ammonta a|dus|is|bedraagt|alltså|är|uppgår till|wynosi|więc)\b[^\d.;]{0,24}$"
)
_REST = pattern(
    r"(?i)\b(?:the rest|the remainder|what is left|den rest|der rest|das übrige|le reste|le solde|el resto|il resto|de rest|resten|resztę|reszta|o resto)\b[^\d.;]{0,24}$"
)


def wrong_caps(passage: str) -> Iterator[Claim]:
    """A share of an amount that exceeds its cap, or a cap that the share does not reach: `60 % of 5.2M, at most 2.8M`."""
    figures = figures_of(passage, bare=True) if _CAPS.search(passage) is not None else []
    for at, (share, base) in enumerate(pairwise(figures)):
        cap, result = (*figures[at + 2 : at + 4], None, None)[:2]
        if cap is None or result is None or share.powers != SHARE or not is_money(base) or not is_money(result):
            continue
        if _OF.match(passage[share.end : base.start]) is None or CAP.search(passage[base.end : cap.start]) is None:
            continue
        gap = passage[cap.end : result.start]
        if RESULT.search(gap) is None and _ACROSS.search(gap) is None:
            continue
        whole = share.value * base.value
        right, wrong = min(whole, cap.value), max(whole, cap.value)
        if abs(result.value / wrong - 1) <= SAME + result.rounding < abs(result.value / right - 1):
            words = f"{share.words} of {base.words}, at most {cap.words}"
            yield claim_of(result, right, words)


def wrong_shares(sentence: str, figures: Sequence[Figure], before: Sequence[Figure]) -> Iterator[Claim]:
    """An amount after a discount or with a tax that does not follow from the amounts before it."""
    earlier = [each.value for each in before if may_be_money(each)]
    factors = [1.0]
    for share, result in pairwise(figures):
        sign = _sign_of(sentence, figures, share) if share.powers == SHARE else 0
        if sign:
            factor = 1 + sign * share.value
            possible = [each * other * factor for each in earlier for other in factors]
            if result.powers == MONEY and _NO_RESULT.search(sentence[share.end : result.start]) is None:
                shares = [each * share.value for each in (*earlier, *(one / factor for one in possible))]
                near = [each for each in possible if is_off_result(result, each, NEAR)]
                if near and not any(is_equal(result, each) for each in (*possible, *shares, *earlier)):
                    right = min(near, key=lambda each: abs(each - result.value))
                    words = f"{right / factor:,.9g} {'less' if sign < 0 else 'plus'} {share.words}"
                    yield claim_of(result, right, words)
            factors += [each * factor for each in factors]
        earlier += [share.value] if may_be_money(share) else []


def wrong_bases(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """An amount that a discount or a tax makes of the amount between both: `15 % off the 2,600,000 leave 2,210,000`."""
    for share, base, result in zip(figures, figures[1:], figures[2:], strict=False):
        sign = _sign_of(sentence, figures, share) if share.powers == SHARE else 0
        if not sign or not may_be_money(base) or result.powers != MONEY:
            continue
        if _BECOMES.search(sentence[base.end : result.start]) is None:
            continue
        right = base.value * (1 + sign * share.value)
        if is_off_result(result, right, NEAR) and not is_equal(result, base.value * share.value):
            yield claim_of(result, right, f"{base.words} {'less' if sign < 0 else 'plus'} {share.words}")


def _sign_of(sentence: str, figures: Sequence[Figure], share: Figure) -> int:
    """-1 for the share of a discount, 1 for that of a tax, and 0 for others, by the words between its neighbors."""
    start = max((each.end for each in figures if each.end <= share.start), default=0)
    stop = min((each.start for each in figures if each.start >= share.end), default=len(sentence))
    words = sentence[max(start, sentence.rfind(", ", start, share.start)) : stop]
    discount, tax = _DISCOUNT.search(words) is not None, _TAX.search(words) is not None
    return 0 if discount == tax else -1 if discount else 1


def wrong_rests(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """The rest of an amount, of which fractions and shares are stated: `half of 900,000, 30 %, and the rest`."""
    for at, rest in enumerate(figures):
        amounts = [each for each in figures[:at] if each.powers == rest.powers and each.value > rest.value]
        if len(amounts) != 1 or _REST.search(sentence[figures[at - 1].end : rest.start]) is None:
            continue
        shares = [each for each in figures[:at] if each.powers == SHARE]
        if len(shares) + 1 != at:
            continue
        parts = [(each.value, each.words) for each in shares]
        parts += [(each.value, each.words) for each in fractions_in(sentence[: rest.start])]
        left = 1 - sum_of(value for value, _ in parts)
        right = left * amounts[0].value
        if parts and 0 < left < 1 and rest.value > right / 2 and is_off_result(rest, right, 1.0):
            words = f"{amounts[0].words} without {' and '.join(each for _, each in parts)}"
            yield claim_of(rest, right, words)
