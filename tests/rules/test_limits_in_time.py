"""Limits of texts that hold only for a time: closures of a site, and power that comes after the start of operation."""

from __future__ import annotations

import pytest

from tests.rules.conftest import Check

BOUGHT = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h100, nodes: 16, power: {{node: 10 kW, switch: 2 kW, budget: 255 kW}}}}
procurement: {{currency: EUR, as_of: 2026-11-16, needed_by: 2027-09-01, delivery: {{weeks: 20}}}}
"""
"""The last delivery is on 5 April 2027, and the nodes alone draw 160 kW."""
CLOSURES = [
    # a time of closure that holds the last delivery, and one that does not
    ("The dock is closed from {} April 2027.", "1 to 20", "8 to 20"),
    ("Between {} April 2027, the site takes no deliveries.", "1 and 20", "8 and 20"),
    ("Das Gebäude ist vom {} April 2027 gesperrt.", "1. bis 20.", "8. bis 20."),
    ("Die Halle ist vom {} April 2027 geschlossen.", "20. März bis 20.", "8. bis 20."),
    ("Le quai est fermé du {} avril 2027.", "1er au 20", "8 au 20"),
    ("El muelle estará cerrado del {} de abril de 2027.", "1 al 20", "8 al 20"),
    ("La banchina è chiusa dal {} aprile 2027.", "1 al 20", "8 al 20"),
    ("De zaal is gesloten van {} april 2027.", "1 tot 20", "8 tot 20"),
]
LATER = [
    # the power until a day and after it; a day after, and one before the machine is needed
    ("Until {} 2028 the hall gives at most 135 kW, then 255 kW.", "May", ""),
    ("Up to 1 {} the transformer carries no more than 135 kW, and 255 kW after that.", "March 2028", "May 2027"),
    ("Bis {} liefert die Halle höchstens 135 kW, danach 255 kW.", "März 2028", "Mai 2027"),
    ("Jusqu'en {} la salle fournit au plus 135 kW, ensuite 255 kW.", "mars 2028", "mai 2027"),
    ("Hasta {} la sala da como máximo 135 kW, después 255 kW.", "marzo de 2028", "mayo de 2027"),
    ("Fino a {} la sala fornisce al massimo 135 kW, poi 255 kW.", "marzo 2028", "maggio 2027"),
    (
        "Until the second feeder is live, the hall gives 135 kW, and 255 kW from then on. The second feeder: {}.",
        "March 2028",
        "May 2027",
    ),
    (
        "Bis das neue Kabel liegt, liefert die Halle höchstens 135 kW, danach 255 kW. Das neue Kabel liegt im {}.",
        "März 2028",
        "Mai 2027",
    ),
]
NO_LIMITS = [
    "The hall gives at most 255 kW. The old hall gave 135 kW until March 2028, then 255 kW.",
    "The hall gives at most 255 kW until March 2028, then 400 kW.",
    "Die Halle liefert höchstens 255 kW, und danach kommen 135 kW an den Nachbarn.",
]
"""Texts without a limit below 160 kW at the start."""


@pytest.mark.parametrize(("text", "closed", "opened"), CLOSURES)
def test_a_delivery_into_a_closure_is_reported(check: Check, text: str, closed: str, opened: str) -> None:
    found = check(BOUGHT.format(text=text.format(closed)), "delivery-misses-date")
    assert [each.rule for each in found if each.rule == "delivery-misses-date"] == ["delivery-misses-date"]
    sound = check(BOUGHT.format(text=text.format(opened)), "delivery-misses-date")
    assert not [each for each in sound if each.rule == "delivery-misses-date"]


@pytest.mark.parametrize(("text", "late", "early"), LATER)
def test_power_that_comes_after_the_start_is_no_limit_at_the_start(
    check: Check, text: str, late: str, early: str
) -> None:
    found = check(BOUGHT.format(text=text.format(late)), "power-over-budget")
    assert [each.rule for each in found if each.rule == "power-over-budget"] == ["power-over-budget"]
    sound = check(BOUGHT.format(text=text.format(early)), "power-over-budget") if early else ()
    assert not [each for each in sound if each.rule == "power-over-budget"]


@pytest.mark.parametrize("text", NO_LIMITS)
def test_power_of_another_time_is_no_limit(check: Check, text: str) -> None:
    found = check(BOUGHT.format(text=text), "power-over-budget")
    assert not [each for each in found if each.rule == "power-over-budget"]
