"""How many characters from a figure the readers of texts look for the words that say what it is.

A row is a reader, a text in two parts, and the number of letters between them with which the reader still sees the
whole word. One letter more moves the first or last letter of the word out of reach.
"""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.rules.operations.compute_off_model import _quotient_problem
from clusterspec.rules.procurement.unit_cost_off_load import _loads
from clusterspec.rules.readers.loads import figures_in
from clusterspec.rules.readers.plans.address_plans import subnets_in
from clusterspec.rules.readers.plans.test_figures import test_figures as figures_of_tests
from clusterspec.rules.readers.quotes.links import slower_nics
from clusterspec.rules.readers.services.capacity import _counts_lost_units, _stated_load
from clusterspec.rules.readers.services.relations import requests_in_flight
from clusterspec.rules.readers.services.request_limits import _limits_of_buckets
from clusterspec.spec.model import Spec
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

SPEC = Spec("a.yaml")
TEXT = (
    "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
    "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1.6e12}\n"
)


def is_lost(text: str) -> bool:
    return any(_counts_lost_units(text, figure) for figure in figures_in(text))


def is_for_loopbacks(text: str) -> bool:
    return [subnet.role for subnet in subnets_in([text])] == ["loopback"]


def is_of_a_device(text: str) -> bool:
    return [figure.devices for figure in figures_of_tests(text)] == [1]


def is_of_a_node(text: str) -> bool:
    return [figure.nodes for figure in figures_of_tests(text)] == [1]


def is_another_quotient(text: str) -> bool:
    """Whether a number of tokens per parameter is that of a rule; the plan has 200 of 8 billion parameters."""
    work = study_text(TEXT, SETTINGS).design.workload
    assert work is not None
    return not [*_quotient_problem(text, work)]


REACHES: list[tuple[Callable[[str], bool], str, int, str]] = [
    # 40 characters before a share and behind it: `load`, the letters, and a space on either side
    (lambda text: bool(_loads(text, text, SPEC)), "load ", 34, " 40 %"),
    (lambda text: bool(_loads(text, text, SPEC)), "40 % ", 34, " load"),
    (lambda text: bool(_loads(text, "load", SPEC)), "mean ", 34, " 40 %"),
    (lambda text: bool(_loads(text, "", SPEC)), "idle ", 34, " 40 %"),
    (lambda text: _stated_load([text]) == 0.4, "At the peak, busy ", 34, " 40 %"),
    (lambda text: _stated_load([text]) == 0.4, "At the peak 40 % ", 34, " busy"),
    (lambda text: _stated_load([text]) is None, "At the peak hbm ", 35, " 40 % busy"),
    (lambda text: _stated_load([text]) is None, "At the peak busy 40 % ", 35, " hbm"),
    # 24 behind the number of units
    (is_lost, "2 nodes ", 18, " fail"),
    # 12 behind the rate of NICs: that of two ports is not compared
    (lambda text: slower_nics(text, 8, 50e9) is None, "8x connectx-7 200g ", 4, " 2 port"),
    # 40 before the tokens of a bucket and 20 behind them
    (lambda text: bool([*_limits_of_buckets(text)]), "bucket ", 32, " 40,000 tokens"),
    (lambda text: bool([*_limits_of_buckets(text)]), "40,000 tokens ", 12, " bucket"),
    # 28 before the time of a request and 20 behind it
    (lambda text: bool([*requests_in_flight(text)]), "20 requests/s, answer ", 20, " 12 s, 120 in flight."),
    (lambda text: bool([*requests_in_flight(text)]), "20 requests/s, 12 s ", 12, " answer, 120 in flight."),
    # 40 around the figure of a test: `per gpu` and `per node`
    (is_of_a_device, "hpl per gpu ", 31, " 40 tflop/s"),
    (is_of_a_device, "hpl 40 tflop/s ", 31, " per gpu"),
    (is_of_a_node, "hpl 40 tflop/s ", 30, " per node"),
    # 30 before the name of a test: a peak is no figure that it is to reach
    (lambda text: not [*figures_of_tests(text)], "peak ", 24, " hpl 40 tflop/s"),
    # 60 behind a subnet, ` for ` first, and 120 before it
    (is_for_loopbacks, "10.0.0.0/24 for ", 46, " loopback"),
    (is_for_loopbacks, "loopbacks ", 109, " 10.0.0.0/24"),
    # 60 before tokens per parameter, and 40 behind them: a number of a rule need not be that of the plan
    (is_another_quotient, "chinchilla ", 48, " 30 tokens per parameter"),
    (is_another_quotient, "30 tokens per parameter ", 28, " chinchilla"),
]


@each(("reader", "before", "letters", "behind"), REACHES)
def test_a_word_counts_as_far_as_its_reader_looks_and_no_further(
    reader: Callable[[str], bool], before: str, letters: int, behind: str
) -> None:
    assert reader(f"{before}{'x' * letters}{behind}")
    assert not reader(f"{before}{'x' * (letters + 1)}{behind}")
