"""Choices that a text states for a key: a cache in 16 bits, checkpoints in the background, flow control that is off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.rules.readers.clauses import clauses_of, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.rejections import turns_down
from clusterspec.rules.readers.statements.choice_words import CHOICES, CLAUSE, Choices
from clusterspec.rules.readers.statements.machine_choice_words import MACHINE_CHOICES
from clusterspec.rules.readers.statements.plain_findings import WrongFact
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

MOST_SENTENCES = 200
_NEAR = 40
"""Characters before a choice in which words rule it out."""
LONGEST = 600
"""Longest sentence that is read, in characters."""
_NOT = pattern(
    r"(?i)(?:\b(?:not|never|no|nor|none|nothing|nichts|rien|nada|niente|instead of|rather than|than|without|nicht|keine?[nrms]?|statt|anstatt|ohne|pas|jamais|au lieu (?:de|d['’])|sans|no|nunca|en vez de|en lugar de|sin|non|mai|invece (?:di|che)|senza|não|nunca|em vez de|sem|niet|geen|zonder)\b(?: [\w'’-]+){0,3} ?|(?:不|没有|沒有|未|而非|不是|无|無)[^。,,、]{0,6})$"
)
"""The end of the text before a choice that a text rules out."""
_WOULD = pattern(
    r"(?i)\b(?:would|could|might|wäre\w*|würden?|könnten?|hätten?|serai\w*|pourrai\w*|aurai\w*|podría\w*|sería\w*|habría\w*|sarebbe|potrebbe|avrebbe|seria|poderia)\b"
)
"""Words of a sentence about what is not planned."""
_OTHER_TIMES = pattern(
    r"(?i)\b(?:used to|formerly|previously|originally|at first|until|earlier|before|in the past|last (?:time|year|month|spring|summer|autumn|winter)|früher|zuvor|zunächst|bisher|auparavant|jusqu['’]|antes|hasta|prima|fino)\b|以前|过去|原来|かつて|예전"
)
"""Words of a clause about another time."""
_RELATIVE = pattern(
    r"(?i)\s*(?:which|that|who|whose|where|die|der|das|welche[rs]?|qui|que|dont|où|che|cui|donde|onde)\b"
)
_NEIGHBORS = pattern(r"(?i)\bneighbou?r\w*|\bnachbar\w*|\bvoisin\w*|\bvecin[oa]s?\b|\bvizinh\w+|隔壁|邻|隣|이웃|옆")
"""Words of a sentence about neighbors."""
_TRIAL = pattern(
    r"(?i)\b(?:trials?|tried|tests?|tested|comparison|compared?|versuch\w*|getestet|essais?|testé\w*|pruebas?|probad\w+|prov[ae]|provat\w+|essayé\w*|erprob\w+|testat\w+|testad\w+|testes?)\b|试用|试过|试验|測試|测试|試験|시험"
)
"""Words of a clause about a trial, whose settings are others."""


def wrong_choices(text: str, spec: Spec) -> Iterator[WrongFact]:
    """The keys for which a text states a single choice, which is not the one of the key."""
    sentences: Sequence[str] = ()
    for choices in (*CHOICES, *MACHINE_CHOICES):
        own = choice_of_key(spec, choices.key)
        if not own:
            continue
        named = [name for name, words in choices.words.items() if pattern(f"(?i){words}").search(text)]
        if not named or _names_own(text, choices, own, named) or _is_without_own(choices, own):
            continue
        sentences = sentences or [*islice(sentences_of(" ".join(text.split()), ".#"), MOST_SENTENCES)]
        stated = {name: words for sentence in sentences for name, words in _stated_choices(sentence, choices, named)}
        if len(stated) == 1:
            yield WrongFact(choices.key, next(iter(stated.values())), own.lower() if own in ("True", "False") else own)


def choice_of_key(spec: Spec, key: str) -> str:
    """The choice that a spec states for a key, as text; empty where it states none or a list."""
    value: object = spec
    for name in key.split("."):
        value = getattr(value, name, None)
    return str(value) if isinstance(value, str | int) else ""


def _names_own(text: str, choices: Choices, own: str, named: Sequence[str]) -> bool:
    """Whether a text names the choice of the key anywhere without ruling it out: then it contradicts nothing."""
    words = [each for name, each in choices.words.items() if own in name.split("|")]
    if choices.own_words.keys().isdisjoint(named):
        words += choices.own_words.get(own, ())
    matches = [match for each in words for match in pattern(f"(?i){each}").finditer(text)]
    return any(_NOT.search(text[max(0, match.start() - _NEAR) : match.start()]) is None for match in matches)


def _is_without_own(choices: Choices, own: str) -> bool:
    """Whether no words are known for the choice of the key, so that a text may state it in words that are not read."""
    return not choices.is_open and not any(own in name.split("|") for name in choices.words)


def _stated_choices(sentence: str, choices: Choices, named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The choices that a sentence states, each with its words."""
    if len(sentence) > LONGEST or _NEIGHBORS.search(sentence) is not None or _WOULD.search(sentence) is not None:
        return
    if turns_down(sentence):
        return
    parts = [sentence[start:end] for start, end in clauses_of(sentence)] if choices.part == CLAUSE else [sentence]
    for part in parts:
        if choices.subject and pattern(f"(?i){choices.subject}").search(part) is None:
            continue
        if choices.others and pattern(f"(?i){choices.others}").search(part) is not None:
            continue
        for name in named:
            match = pattern(f"(?i){choices.words[name]}").search(part)
            if match is None or _NOT.search(part[: match.start()]) is not None:
                continue
            clause = _clause_at(part, match.start())
            if _is_of_plan(clause.replace(match[0], " ")) and not words_of_another(clause.replace(match[0], " ")):
                yield name, match[0].strip()


def _clause_at(part: str, at: int) -> str:
    """The clause at a place, with the one before it if it begins with a relative pronoun."""
    clauses = [part[start:end] for start, end in clauses_of(part) if start <= at]
    relative = len(clauses) > 1 and _RELATIVE.match(clauses[-1]) is not None
    return " ".join(clauses[-2:] if relative else clauses[-1:])


def _is_of_plan(clause: str) -> bool:
    """Whether a clause is about the plan as it is, by the words around a choice."""
    is_other = is_hypothetical(clause) or is_of_other_plan(clause)
    return not is_other and not any(each.search(clause) for each in (_OTHER_TIMES, _TRIAL))
