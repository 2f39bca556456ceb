"""Sentences: where they end, what their numbers count, and which figure each phrase qualifies, up to its reach."""

from __future__ import annotations

import pytest

from clusterspec.catalog import Catalog
from clusterspec.prose.blocks import BlockKind, ProseLine
from clusterspec.prose.claims import count_before, has_adjacent_memory_size, is_specified
from clusterspec.prose.lexicon import FigureScope, Hint, phrase_matches
from clusterspec.prose.sentence import MAX_WORDS, NUMERALS, Sentence, split_sentences
from clusterspec.prose.subjects import NameIndex
from clusterspec.prose.tokenize import tokens
from clusterspec.quantity import Direction
from tests.effort import each

NAMES = NameIndex(Catalog.open())


def read(text: str) -> Sentence:
    return Sentence.from_words(tokens([ProseLine(1, text)]), BlockKind.PROSE, NAMES)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One. Two", ["One.", "Two"]),
        ("One! Two? 3", ["One!", "Two?", "3"]),
        ("One. two", ["One. two"]),
        ("One.Two", ["One.Two"]),
        ("e.g. Two", ["e.g. Two"]),
        ("approx. 5 GB", ["approx. 5 GB"]),
        ("rate. 5 GB", ["rate.", "5 GB"]),
        (". Two", [".", "Two"]),
        ("One.", ["One."]),
        ("", []),
    ],
)
def test_a_sentence_ends_at_a_stop_before_a_capital_or_a_figure(text: str, ends: list[str]) -> None:
    found = split_sentences(tokens([ProseLine(1, text)]), BlockKind.PROSE, NAMES)
    assert [one.text(0, len(one.words)) for one in found] == ends


def test_a_sentence_ends_at_the_end_of_a_line_and_at_its_limit() -> None:
    rows = tokens([ProseLine(1, "a rate."), ProseLine(2, "Next")])
    assert len(list(split_sentences(rows, BlockKind.PROSE, NAMES))) == 2
    long = list(split_sentences(tokens([ProseLine(1, "a " * 600)]), BlockKind.PROSE, NAMES))
    assert [len(one.words) for one in long] == [MAX_WORDS + 1, MAX_WORDS + 1, 600 - 2 * MAX_WORDS - 2]


@each(
    ("text", "counts"),
    [
        ("18 links", [(18, FigureScope.LINK)]),
        ("eight GPUs", [(8, FigureScope.DEVICE)]),
        ("any two GPUs", []),
        ("8 x 400 Gb/s", [(8, None)]),
        ("8 x links", [(8, FigureScope.LINK)]),
        ("8 ConnectX-7", [(8, FigureScope.PORT)]),
        ("8 x ConnectX-7", [(8, FigureScope.PORT)]),
        ("12 Infinity Fabric links", [(12, FigureScope.LINK)]),
        ("2 a b c d links", [(2, FigureScope.LINK)]),
        ("2 a b c d e links", []),
        ("8 13 links", [(13, FigureScope.LINK)]),
        ("8 12 links", [(12, FigureScope.LINK)]),
        ("8 11 links", [(8, FigureScope.LINK), (11, FigureScope.LINK)]),
        ("8 new, links", []),
        ("8 new-type links", [(8, FigureScope.LINK)]),
        ("1 link", [(1, FigureScope.LINK)]),
        ("0.5 links", []),
        ("PCIe 5 x16", []),
        ("3 servers of 8 GPUs", [(3, FigureScope.NODE), (8, FigureScope.DEVICE)]),
        ("2 pods", [(2, FigureScope.SUM)]),
        ("8 lanes", [(8, FigureScope.LANE)]),
    ],
)
def test_a_number_counts_the_noun_within_five_words(text: str, counts: list[tuple[float, FigureScope | None]]) -> None:
    assert [(count.value, count.noun) for count in read(text).counts] == counts


def test_numerals_are_the_numbers_they_name() -> None:
    written = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    written += ["sixteen", "eighteen"]
    assert [NUMERALS[word] for word in written] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 18]
    assert len(NUMERALS) == len(written)


@each(
    ("text", "scope"),
    [
        ("18 links give 50 GB/s each", FigureScope.LINK),
        ("1 link gives 50 GB/s each", None),
        ("2 links give 50 GB/s each", FigureScope.LINK),
        ("18 links, each at 50 GB/s", FigureScope.LINK),
        ("18 links give 50 GB/s a b each", FigureScope.LINK),
        ("18 links give 50 GB/s a b c each", None),
        ("18 links give 50 GB/s each way", None),
        ("18 links give 50 GB/s each direction", None),
        ("18 links; 50 GB/s each", None),
        ("18 links while at 50 GB/s each", None),
        ("18 links a b c d e f g h i j k 50 GB/s each", FigureScope.LINK),  # 14 tokens, with `links`
        ("18 links a b c d e f g h i j k l m 50 GB/s each", None),
        ("900 GB/s per GPU", FigureScope.DEVICE),
        ("900 GB/s per H100", FigureScope.DEVICE),
        ("900 GB/s per DGX H100", FigureScope.NODE),
        ("900 GB/s for each H100 link", FigureScope.LINK),
        ("900 GB/s of an H100", None),
        ("a total of 900 GB/s", FigureScope.SUM),
        ("900 GB/s total", FigureScope.SUM),
        ("900 GB/s per GPU total", FigureScope.DEVICE),
        ("a total of 900 GB/s x y z w per GPU", FigureScope.DEVICE),
        ("a total of 900 GB/s x y z w v per GPU", FigureScope.SUM),
        ("100 Gb/s ports", FigureScope.PORT),
        ("4 NICs of 100 Gb/s", FigureScope.PORT),
        ("links at 50 GB/s", FigureScope.LINK),
        ("links with 50 GB/s", FigureScope.LINK),
        ("links beside 50 GB/s", None),
        ("GPUs at 50 GB/s", None),
        ("8 ports x 400 Gb/s", FigureScope.PORT),
        ("8 ports @ 400 Gb/s", FigureScope.PORT),
        ("8 GPUs x 400 Gb/s", None),
        ("8 per node, 400 Gb/s", None),
    ],
)
def test_the_scope_of_a_figure_comes_from_the_words_within_reach(text: str, scope: FigureScope | None) -> None:
    sentence = read(text)
    assert sentence.scope(sentence.quantities[0]) == scope


@each(
    ("text", "direction"),
    [
        ("900 GB/s bidirectional", [Direction.DUPLEX]),
        ("900 GB/s a b c d e f g duplex", [Direction.DUPLEX]),
        ("900 GB/s a b c d e f g h duplex", [None]),
        ("900 GB/s, a b c d duplex", [Direction.DUPLEX]),  # a comma counts three
        ("900 GB/s, a b c d e duplex", [None]),
        ("900 GB/s; duplex", [Direction.DUPLEX]),  # a semicolon counts seven
        ("900 GB/s; a duplex", [None]),
        ("900 GB/s) a b c d e duplex", [Direction.DUPLEX]),  # a bracket that closes counts two
        ("900 GB/s) a b c d e f duplex", [None]),
        ("900 GB/s (a b c d e f g duplex", [Direction.DUPLEX]),
        ("450 GB/s a duplex a 900 GB/s", [Direction.DUPLEX, None]),  # on a tie, of the figure before
        ("450 GB/s a b duplex a 900 GB/s", [None, Direction.DUPLEX]),
        ("duplex 900 GB/s one way", [None]),
        ("duplex 900 GB/s a one way", [Direction.DUPLEX]),
    ],
)
def test_a_phrase_qualifies_the_nearest_figure_within_reach(text: str, direction: list[Direction | None]) -> None:
    sentence = read(text)
    assert [sentence.sole_meaning(at, Direction) for at in sentence.quantities] == direction


@pytest.mark.parametrize(
    ("text", "hint", "holds"),
    [
        ("about 900 GB/s", Hint.ABOUT, True),
        ("about a 900 GB/s", Hint.ABOUT, True),
        ("about a b 900 GB/s", Hint.ABOUT, False),
        ("900 GB/s about", Hint.ABOUT, False),
        ("over 900 GB/s", Hint.BOUND, True),
        ("over a b 900 GB/s", Hint.BOUND, False),
        ("not 900 GB/s", Hint.DENIED, True),
        ("not a b c 900 GB/s", Hint.DENIED, True),
        ("not a b c d 900 GB/s", Hint.DENIED, False),
    ],
)
def test_a_word_of_doubt_qualifies_the_figure_right_after_it(text: str, hint: Hint, holds: bool) -> None:
    sentence = read(text)
    assert sentence.has_meaning(sentence.quantities[0], hint) == holds


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("900 GB/s in each direction", "900 GB/s in each direction"),
        ("duplex 900 GB/s", "duplex 900 GB/s"),
        ("900 GB/s a b c d e f g duplex", "900 GB/s a b c d e f g duplex"),
        ("900 GB/s a b c d e f g h duplex", "900 GB/s (duplex)"),
        ("900 GB/s " + "a" * 64 + " duplex", "900 GB/s " + "a" * 64 + " duplex"),
        ("900 GB/s " + "a" * 65 + " duplex", "900 GB/s (duplex)"),
        ("900 GB/s", "900 GB/s"),
        ("duplex a b 900 GB/s duplex", "900 GB/s duplex"),
    ],
)
def test_a_message_quotes_a_figure_with_the_nearest_words_of_its_direction(text: str, written: str) -> None:
    sentence = read(text)
    assert (
        sentence.words_of_direction(sentence.quantities[0], Direction.DUPLEX if "duplex" in text else Direction.ONE_WAY)
        == written
    )


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("all reduce", [(0, 2, Hint.COLLECTIVE)]),
        ("all-reduce", [(0, 3, Hint.COLLECTIVE)]),
        ("all_reduce_bench.py", []),
        ("all_reduce bench", [(0, 2, Hint.COLLECTIVE)]),
        ("in total", [(0, 2, Hint.TOTAL), (1, 2, Hint.TOTAL)]),
    ],
)
def test_a_phrase_is_found_with_its_hyphens_and_not_in_the_name_of_a_program(
    text: str, hints: list[tuple[int, int, Hint]]
) -> None:
    matches = phrase_matches(tokens([ProseLine(1, text)]))
    assert [(one.start, one.end, one.meaning) for one in matches if isinstance(one.meaning, Hint)] == hints


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("H100", 1),
        ("8x H100", 8),
        ("8 × H100", 8),
        ("eight H100", 8),
        ("an H100", 1),
        ("between two H100", 1),
        ("among 8 H100", 1),
        ("x H100", 1),
        ("16 H100", 16),
    ],
)
def test_parts_are_counted_by_the_number_before_their_name(text: str, count: float) -> None:
    sentence = read(text)
    assert count_before(sentence, sentence.named[0].start) == count


@each(
    ("text", "specified"),
    [
        ("H200 has 141 GB of HBM3e", True),
        ("H200: 141 GB HBM3e", True),
        ("H200 has 141 GB", False),
        ("H200 has 141 GB of a memory", True),
        ("H200 has 141 GB of a new memory", False),
        ("H200 has 141 GB of HBM3e free", False),
        ("H200 with memory at 4.8 TB/s", True),
        ("H200 runs at 4.8 TB/s", False),
        ("H200 memory 4.8 TB/s", False),
        ("8x H200 with 141 GB of HBM3e", False),
        ("1x H200 with 141 GB of HBM3e", True),
        ("half of H200 has 70 GB of HBM3e", False),
        ("memory of H200 is 141 GB of HBM3e", True),
        ("H200 has 700 W", False),
        ("141 GB of HBM3e on H200", False),
    ],
)
def test_a_figure_is_of_a_part_where_words_of_having_join_them(text: str, specified: bool) -> None:
    sentence = read(text)
    assert is_specified(sentence, sentence.quantities[-1]) == specified


@each(
    ("text", "beside"),
    [
        ("256 GB of HBM3 at 6 TB/s", True),
        ("256 GB of HBM3 with 6 TB/s", True),
        ("256 GB at 6 TB/s", False),
        ("256 GB of HBM3 feeding 6 TB/s", False),
        ("MI300X (192 GB, 5.3 TB/s)", True),
        ("MI300X 192 GB, 5.3 TB/s", True),
        ("MI300X (192 GB, 100 GB/s)", False),
        ("MI300X (192 GB, 192 GB/s)", False),
        ("192 GB, 5.3 TB/s", False),
        ("5.3 TB/s of HBM3 at 5 TB/s", False),
        ("256 GB of HBM3 and 5 GB", False),
        ("6 TB/s", False),
    ],
)
def test_a_rate_next_to_a_memory_size_is_of_the_memory(text: str, beside: bool) -> None:
    sentence = read(text)
    assert has_adjacent_memory_size(sentence, sentence.quantities[-1]) == beside
