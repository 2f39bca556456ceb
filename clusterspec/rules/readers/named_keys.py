"""How texts name the value of a key: the unit or noun of its figure, and the words around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.dimensions import Powers
from clusterspec.rules.readers.units import word_set
from clusterspec.standard import pattern

SAME, SAME_MODEL, SAME_PRICE = 0.05, 0.3, 0.011
"""Relative differences up to which two figures are equal: in general, for model sizes in names, and for prices."""
FARTHEST, NEAREST = 60, 12
"""Number of characters between a figure, or a number without a unit, and the words that say what it is."""
MEASURES: Mapping[str, Powers] = {
    "count": frozenset(),
    "time": frozenset({("s", 1)}),
    "size": frozenset({("B", 1)}),
    "rate": frozenset({("B", 1), ("s", -1)}),
    "watts": frozenset({("W", 1)}),
    "money": frozenset({("money", 1)}),
    "money/kWh": frozenset({("money", 1), ("W", -1), ("s", -1)}),
    "share": frozenset({("share", 1)}),
}
"""The powers of units that a row names; other names are nouns, with `/` before the noun of a rate."""


SETTINGS = frozenset(
    {
        "cluster.host_memory",
        "cluster.scale_out.nics_per_node",
        "cluster.spare_nodes",
        "operations.checkpoint.interval",
        "operations.checkpoint.keep",
        "operations.repair_time",
        "operations.restart_time",
        "procurement.discount",
        "procurement.electricity",
        "procurement.payment.acceptance",
        "procurement.payment.delivery",
        "procurement.payment.order",
        "procurement.pue",
        "procurement.support.response",
        "procurement.tax",
        "procurement.term",
        "procurement.warranty",
        "workload.sequence_length",
        "workload.tokens",
    }
)
"""Keys whose words and unit mean nothing else in a design. Of the first findings of other rows in long texts of blind rounds eight
in nine were wrong, as with sequences of a step or requests of a day; of these none was in the sound designs of all rounds.
"""


class NamedKey(NamedTuple):
    """A key with the powers of its figure, the words that name it in a clause, and the words that show another figure.

    ``cues`` and ``starts`` are lowercase words, and beginnings of words, without which no sentence names the key.
    ``least`` and ``most`` bound the figures that it reads, in SI; of `PATTERNED` ``least`` is the factor of the number.
    """

    key: str
    powers: frozenset[Powers]
    words: re.Pattern[str] | None
    cues: frozenset[str]
    starts: tuple[str, ...]
    unless: re.Pattern[str] | None = None
    unit: str = "1"
    same: float = SAME
    least: float = 0.0
    most: float = inf
    reach: int = FARTHEST
    """Characters between its figure and its words."""
    elsewhere: re.Pattern[str] | None = None
    """Words that show that the figures of a sentence belong to something else."""
    part: re.Pattern[str] | None = None
    """Words of a sentence about a part, which has less than the whole."""

    @property
    def counts(self) -> bool:
        """Whether its figures count things that a noun names."""
        return bool(self.powers) and all(map(_counts, self.powers))

    @property
    def is_instalment(self) -> bool:
        return self.key.startswith("procurement.payment.")

    @property
    def is_setting(self) -> bool:
        """Whether its words and unit mean nothing else in a design."""
        return self.key in SETTINGS

    @property
    def is_unmistakable(self) -> bool:
        """Whether its figures are of no other key, even where another has the value."""
        return self.counts or self.is_instalment


def _counts(powers: Powers) -> bool:
    return bool(powers) and not any(name in ("s", "B", "W", "money", "share", "token") for name, _ in powers)


def _powers(name: str) -> Powers:
    if name in MEASURES:
        return MEASURES[name]
    noun, _, per = name.partition("/")
    above = MEASURES.get(noun, frozenset({(noun, 1)}))
    return above | ({("s", -1)} if per == "s" else {(per, -1)} if per else set())


def named_keys_row(
    key: str,
    figures: str,
    words: str = "",
    cues: str = "",
    unless: str = "",
    unit: str = "1",
    same: float = SAME,
    least: float = 0.0,
    most: float = inf,
    reach: int | None = None,
) -> NamedKey:
    """A row: ``figures`` are measures or nouns; a sentence has one of the words in ``cues``, which may end with `*` for
    more letters.
    """
    found = cues.split()
    return NamedKey(
        key,
        frozenset(map(_powers, figures.split())),
        pattern(rf"(?i)(?<![\w-])(?:{words})") if words else None,
        word_set(" ".join(each for each in found if not each.endswith("*"))),
        tuple(each[:-1] for each in found if each.endswith("*")),
        pattern(rf"(?i)\b(?:{unless})\b") if unless else None,
        unit,
        same,
        least,
        most,
        reach if reach is not None else NEAREST if figures == "count" else FARTHEST,
    )
