"""What a design lacks, one part at a time: a check that cannot do without it fails the tests of its page."""

from __future__ import annotations

import pytest

from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules import pages
from clusterspec.spec.model import DeliverySpec, OperationsSpec, ProcurementSpec, SupportSpec
from tests.absences import records_without
from tests.designs import TRAINED, layout_of, study_of

from .absences import failures_without_parts, parts_without, run_without_parts
from .conftest import Check

YEAR = Quantity(31_557_600.0, "s", "1 year")


def test_a_section_lacks_each_of_its_keys_alone() -> None:
    bought = ProcurementSpec(currency="EUR", support=SupportSpec(term=YEAR), delivery=DeliverySpec())
    found = dict(records_without(bought, 1))
    assert set(found) == {"currency", "delivery", "support", "support.term"}
    assert found["support.term"] == ProcurementSpec(currency="EUR", support=SupportSpec(), delivery=DeliverySpec())
    assert found["support"].support is None and found["support"].currency == "EUR"
    assert set(dict(records_without(bought, 0))) == {"currency", "delivery", "support"}


def test_parts_are_absent_where_their_names_say_so() -> None:
    layout, bought = layout_of(TRAINED), ProcurementSpec(currency="EUR")
    found = list(parts_without(("layout", "procurement?", "operations?", "remarks"), (layout, bought, None, "text")))
    of_layout = [absent for absent, _ in found if absent.startswith("layout.")]
    assert "layout" not in of_layout and "layout.stack" in of_layout
    rest = [(absent, parts) for absent, parts in found if absent not in of_layout]
    assert rest == [
        ("procurement", [layout, None, None, "text"]),
        ("procurement.currency", [layout, ProcurementSpec(), None, "text"]),
    ]


def test_a_check_that_raises_without_a_part_is_found() -> None:
    def careless(operations: OperationsSpec | None, bought: ProcurementSpec) -> list[Problem]:
        assert operations is not None
        assert bought.support is None or bought.support.term is not None
        return []

    parts = (OperationsSpec(), ProcurementSpec(currency="EUR", support=SupportSpec(term=YEAR)))
    found = failures_without_parts(careless, ("operations?", "procurement"), parts)
    assert [absent for absent, _ in found] == ["operations", "procurement.support.term"]


def test_a_rule_runs_without_each_part_that_it_may_lack() -> None:
    for name in ("absent-part-described", "keys-disagree", "power-cap-off-part"):
        run_without_parts(name, study_of(pages.page(name).fires[0].text).facts())


BARE = "{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 14336, vocab: 128256}"
SAMPLED = "{prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 500, output_tokens: 1000}"


@pytest.mark.parametrize(
    "work",
    [
        f"{{kind: train, model: {BARE}, sequence_length: 4096, global_batch: 64}}",
        f"{{kind: serve, model: {BARE}, serving: {{input_tokens: 1000, output_tokens: 200, concurrency: 16}}}}",
        f"{{kind: rl, model: {BARE}, rl: {SAMPLED}}}",
    ],
)
def test_every_rule_runs_on_a_model_of_sizes_alone(work: str, check: Check) -> None:
    found = check(f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 2}}\nworkload: {work}\nlayout: {{dp: 16}}\n")
    assert all(each.rule for each in found)
