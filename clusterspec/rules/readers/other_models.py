"""Sentences of a text about another model than the planned one, by its number of parameters: its figures are right for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

SAME_SIZE = 0.15
"""Largest relative difference of two numbers of parameters that may name one model: names round them, and count embeddings or not."""
_SIZE = pattern(
    r"(?<![\w.,$€£-])(\d{1,4}(?:[.,]\d{1,2})?)B\b(?![/.]\w)(?! ?(?:tokens?|jetons|token[is]|parameter server))"
)
_EARLIER = pattern(
    r"(?i)\b(?:took|was|were|ran|had|tried|tested|trained|served|reached|needed|used to|instead|later|separate|"
    r"dauerte|war|waren|lief|liefen|brauchte|erreichte|später|stattdessen|a (?:duré|pris|tourné|atteint)|était|plus tard|"
    r"duró|tardó|fue|fueron|corrió|alcanzó|más tarde|durò|è stato|girava|raggiunse|duurde|draaide|durou|foi|rodou|trwał|trwało)\b"
)
"""Words by which a sentence is about what was, or about what comes instead or later."""


def without_other_models(text: str, own_sizes: Callable[[], Sequence[float]]) -> str:
    """The text without its sentences about another model, whose size in billions of parameters they name.

    ``own_sizes`` returns the numbers of parameters of the planned model.

    >>> own = lambda: (70.6e9,)
    >>> without_other_models("The 8B model took 5 days with 64 GPUs. The 70B model takes 20 days.", own)
    'The 70B model takes 20 days.'
    >>> without_other_models("It was trained on 300B tokens.", own), without_other_models("We train 8B.", own)
    ('It was trained on 300B tokens.', 'We train 8B.')
    """
    if _SIZE.search(text) is None or _EARLIER.search(text) is None:
        return text
    sizes = own_sizes()
    return ". ".join(each for each in sentences_of(text) if not _is_of_another_model(each, sizes))


def _is_of_another_model(sentence: str, own_sizes: Sequence[float]) -> bool:
    """Whether a sentence names sizes of models, none of them an own one, and says what was or comes later."""
    named = [float(match[1].replace(",", ".")) * 1e9 for match in _SIZE.finditer(sentence)]
    if not named or _EARLIER.search(sentence) is None:
        return False
    return bool(own_sizes) and all(abs(size / own - 1) > SAME_SIZE for size in named for own in own_sizes)
