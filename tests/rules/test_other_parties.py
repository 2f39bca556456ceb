"""Whose figure a sentence gives: that of another party, or one of this machine, also where a party demands it.

In ``parties.txt`` `+` begins a sentence about another party, and `-` one about this machine.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.other_parties import words_of_party
from tests.rules.conftest import Check

LINES = Path(__file__).with_name("parties.txt").read_text("utf-8").splitlines()


def test_sentences_of_other_parties_are_told_from_those_of_this_machine() -> None:
    assert [line for line in LINES if bool(words_of_party(line[2:])) != (line[0] == "+")] == []


def test_every_reader_of_other_machines_knows_them() -> None:
    assert [line for line in LINES if line[0] == "+" and not words_of_another(line[2:])] == []


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("The hall was built for 20 kW racks. Its air handlers remove 160 kW.", [160e3]),
        ("Die Halle wurde für Schränke mit 20 kW gebaut. Die Kühlung führt höchstens 160 kW ab.", [160e3]),
        ("La salle a été conçue pour des baies de 20 kW. La climatisation évacue au plus 160 kW.", [160e3]),
        ("The hall was built for racks of at most 20 kW.", [20e3]),
        ("A rack may draw at most 20 kW. The hall is designed for racks of at most 12 kW.", [20e3]),
    ],
)
def test_what_a_hall_was_built_for_binds_only_without_another_limit(text: str, limits: list[float]) -> None:
    assert [each.value for each in demands_in(text)] == limits


DELIVERY = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h200, nodes: 8}}
procurement: {{currency: EUR, as_of: 2026-11-01, delivery: {{weeks: 26}}}}
"""


@pytest.mark.parametrize(
    ("text", "is_late"),
    [
        ("The builder hands over the hall 20 weeks after the order.", False),
        ("The hall is handed over by the contractor 20 weeks after the order.", False),
        ("De aannemer levert hal 2 pas op 24 mei op, twintig weken na de order.", False),
        ("L'entreprise livre la salle vingt semaines après la commande.", False),
        ("The supplier has to deliver the nodes within 20 weeks after the order.", True),
        ("De leverancier levert de servers uiterlijk 20 weken na de order.", True),
    ],
)
def test_the_handing_over_of_a_hall_is_no_delivery(check: Check, text: str, is_late: bool) -> None:
    assert any(each.rule == "bound-off-keys" for each in check(DELIVERY.format(text=text))) == is_late
