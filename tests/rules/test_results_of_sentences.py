"""Results that sentences state of their own figures: right, wrong and unread sentences of each kind, worked by hand."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.figures import related_figures, with_digits
from clusterspec.rules.readers.results.relations import contradictions

WRONG = [
    ("512 GPUs at 700 W each draw 260 kW.", "358.4 kW"),
    ("The 40 racks of 17 kW add up to 880 kW.", "680 kW"),
    ("Twelve drives of 30.72 TB give a server 250 TB.", "368.6 TB"),
    ("The 24 switches cost 31,000 USD each, 844,000 USD in total.", "744,000 USD"),
    ("The eight GPUs of a node hold 141 GB each, 1.5 TB together.", "1.128 TB"),
    ("64 sequences of 4,096 tokens each hold 131,072 tokens.", "262,100 tokens"),
    ("One replica makes 2,400 tokens/s, so six replicas make 18,000 tokens/s.", "14,400 tokens/s"),
    ("A token of cache has 160 kB, so 100,000 tokens of context take 1.6 GB.", "16 GB"),
    ("The lease costs 48 months at 81,000 EUR a month, 2.9 million EUR.", "3.888 million EUR"),
    ("A step of 4.2 million tokens takes 6 s, so the machine trains 420,000 tokens/s.", "700,000 tokens/s"),
    ("The 15 T tokens fill 1.6 million steps of 4.2 million tokens.", "3.571 million steps"),
    ("With an MTBF of 6 h a run of 30 days sees 60 interruptions.", "120 interruptions"),
    ("19 % VAT on 3,128,000 EUR make 3,522,320 EUR.", "3,722,000 EUR"),
    ("4 of the 32 nodes are spares, which is 25 %.", "12.5 %"),
    ("Of the 32 nodes 32 are in use, which is 50 %.", "100 %"),
    ("256 GPUs for 30 days are 18,400 GPU-hours.", "184,300 GPU-hours"),
    ("The 12 racks draw 1.6 MW, which is 95 kW a rack.", "133.3 kW a rack"),
    ("512 sequences over 64 replicas are 16 sequences each.", "8 sequences"),
    ("Training reads 50,000 samples/s of 100 kB, so the store must give 500 MB/s.", "5000 MB/s"),
    ("Five percent of 1,024 optics are 102 optics.", "51.2 optics"),
    ("8 pumps move 120 l/min each, together 640 l/min.", "960 l/min"),
    ("We keep 3 copies of the 200 TB data set, 400 TB in all.", "600 TB"),
    ("4.3 million requests a day are 120 requests/s.", "49.77 requests/s"),
]
RIGHT = [
    "512 GPUs at 700 W each draw 358 kW.",
    "32 nodes with 700 W GPUs draw 179 kW.",  # eight GPUs a node, by the plan
    "The 24 switches cost 31,000 USD each, 744,000 USD in total.",
    "With an MTBF of 6 h a run of 30 days sees about 120 interruptions.",
    "4.3 million requests a day are 50 requests/s.",
    "Less 8 % discount the 3,400,000 EUR become 3,128,000 EUR.",
    "Of 36 months at 81,000 EUR a month, 2.916 million EUR are due in all.",
    "The weights of 405 B parameters in bf16 take 810 GB.",
    "1.6 MW over 12 racks are 133 kW a rack.",
    "256 GPUs for 30 days are 184,320 GPU-hours.",
    "5 % of 1,024 optics are 51 optics.",
    "Prices rise by 5 % a year, so 100,000 USD are 105,000 USD after one year.",
]
UNREAD = [
    "At least 32 nodes at 10.2 kW draw 100 kW.",
    "32 nodes at 10.2 kW would draw 100 kW.",
    "32 nodes at 10.2 kW draw 426 kW, including 100 kW of another room.",
    "8 x 9.5 kW = 67 kW.",  # `arithmetic-does-not-close` reads it
    "1,000 JPY are 6.5 USD.",
    "A row draws 400 kW and the chiller takes 550 kW.",
    "The 24 switches that the vendor of the fabric quoted last week cost 31,000 USD each, 500,000 USD in total.",
    "With an MTBF of 6 h a run of 30 days is saved 60 times.",
    "4.2 million tokens take 6 s, so the engine serves 20 requests/s.",
    f"32 nodes at 10.2 kW draw 226 kW, {'and so on ' * 40}.",
]


@pytest.mark.parametrize(("sentence", "right"), WRONG)
def test_a_wrong_result_of_a_sentence_is_found_with_the_right_one(sentence: str, right: str) -> None:
    assert [each.right_words for each in contradictions(sentence, (32.0, 256.0, 8.0))] == [right]


@pytest.mark.parametrize("sentence", [*RIGHT, *UNREAD])
def test_right_results_bounds_and_conditions_are_no_contradiction(sentence: str) -> None:
    assert list(contradictions(sentence, (32.0, 256.0, 8.0))) == []


@pytest.mark.parametrize(("factor", "found"), [(0.88, True), (0.94, False), (1.0, False), (1.06, False), (1.12, True)])
def test_a_result_may_be_rounded_by_eight_percent(factor: float, found: bool) -> None:
    assert bool(list(contradictions(f"40 racks of 17 kW are {680 * factor:.1f} kW."))) == found


@pytest.mark.parametrize(("factor", "found"), [(0.97, True), (0.99, False), (1.01, False), (1.03, True)])
def test_amounts_of_money_are_exact_to_one_and_a_half_percent(factor: float, found: bool) -> None:
    assert bool(list(contradictions(f"24 switches at 31,251 USD each cost {750_024 * factor:.0f} USD."))) == found


def test_figures_have_the_noun_that_they_count_and_what_they_are_for() -> None:
    found = related_figures(with_digits("Twelve HGX nodes with 8 GPUs a node at 3 kW, 40 % of 1.2 MW"))
    assert [(each.value, each.noun, each.per, each.is_share) for each in found] == [
        (12, "node", (), False),
        (8, "gpu", ("node",), False),
        (3000, "", (), False),
        (0.4, "", (), True),
        (1_200_000, "", (), False),
    ]
