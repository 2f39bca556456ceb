"""Conditions of a site and ratings of its power distribution units: on both sides of each limit, by hand."""

from __future__ import annotations

import pytest

from clusterspec import rules
from clusterspec.finding import Problem
from clusterspec.rules.physical.generator_fuel_short import _contradiction_within_text
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS


def problems(rule: str, power: str, text: str = "x", machine: str = "platform: dgx-h100") -> list[Problem]:
    spec = f'clusterspec: 1\ndescription: "{text}"\ncluster: {{{machine}, nodes: 4, power: {{{power}}}}}\n'
    study = study_text(spec, SETTINGS)
    assert not study.loading, study.loading
    return [problem for problem in rules.run_rules(study.facts(), {rule}) if problem.rule == rule]


AIR, LIQUID = "cooling: air", "cooling: liquid"
PARTS = "accelerator: h100-sxm-80gb, accelerators_per_node: 8"
DAMP = "The hall has 26 °C at 60 % humidity."


@each(
    ("text", "power", "machine", "words"),
    [
        # 30 °C of the maker, 35 °C of ASHRAE's class A2; from 50 °C on no air that people work in
        ("The cold aisle has 30 °C.", AIR, "platform: dgx-h100", ""),
        (
            "The cold aisle has 31 °C.",
            AIR,
            "platform: dgx-h100",
            "has 31 °C according to the text, but DGX H100 allows 30 °C",
        ),
        ("The cold aisle has 49 °C.", AIR, "platform: dgx-h100", "has 49 °C"),
        ("The cold aisle has 50 °C.", AIR, "platform: dgx-h100", ""),
        ("The cold aisle has 31 °C.", LIQUID, "platform: dgx-h100", ""),
        ("The cold aisle has 20 °C, the exhaust 45 °C.", AIR, "platform: dgx-h100", ""),
        ("The cold aisle has 35 °C.", AIR, PARTS, ""),
        ("The cold aisle has 36 °C.", AIR, PARTS, "servers of ASHRAE's class A2 allow 35 °C"),
        # 26 °C at 60 % have a dew point of 17.6 °C, 20 °C at 50 % of 9.3 °C, at 100 % of 20 °C
        (f"The coolant has 18 °C. {DAMP}", LIQUID, PARTS, ""),
        (f"The coolant has 17 °C. {DAMP}", LIQUID, PARTS, "26 °C and 60 % humidity is 17.6 °C: water condenses"),
        (f"The coolant has 17 °C. {DAMP}", LIQUID, PARTS, "keep the coolant above 19.6 °C"),
        (f"The coolant has 25 °C or 17 °C. {DAMP}", LIQUID, PARTS, "the coolant has 17 °C"),
        (f"The coolant has 17 °C. {DAMP}", AIR, PARTS, ""),
        (f"Rear doors with water of 17 °C. {DAMP}", AIR, PARTS, "the coolant has 17 °C"),
        ("The coolant has 9 °C. The hall has 20 °C, humidity of 50 %.", LIQUID, PARTS, "is 9.3 °C"),
        ("The coolant has 10 °C. The hall has 20 °C, humidity of 50 %.", LIQUID, PARTS, ""),
        ("The coolant has 19 °C. The hall has 20 °C at 100 % humidity.", LIQUID, PARTS, "is 20.0 °C"),
        ("The coolant has 19 °C. The hall has 20 °C at 101 % humidity.", LIQUID, PARTS, ""),
        ("The coolant has 1 °C. The hall has 20 °C at 0 % humidity.", LIQUID, PARTS, ""),
        ("The coolant has 17 °C. The hall has 26 °C, the room 28 °C at 60 % humidity.", LIQUID, PARTS, ""),
        # 30 kW at sea level, within 1 %
        ("Nominal 30 kW, 24 kW at this altitude.", "rack_limit: 30 kW", PARTS, "have 24 kW at this site"),
        ("Nominal 30 kW, 24 kW at this altitude.", "rack_limit: 30.2 kW", PARTS, "30.2 kW is the nominal capacity"),
        ("Nominal 30 kW, 24 kW at this altitude.", "rack_limit: 30.5 kW", PARTS, ""),
        ("Nominal 30 kW, 24 kW at this altitude.", "rack_limit: 24 kW", PARTS, ""),
        ("Nominal 30 kW, 24 kW.", "rack_limit: 30 kW", PARTS, ""),
        ("Nominal 30 kW, 30 kW at this altitude.", "rack_limit: 30 kW", PARTS, ""),
        ("Nominal 30 kW, 27 kW, 24 kW at this altitude.", "rack_limit: 30 kW", PARTS, ""),
        # 1 MW with water of 25 °C, 0.8 MW with 32 °C
        (
            "It moves 1 MW at 25 °C. It moves 800 kW at 32 °C. Our water has 32 °C.",
            "cdus: {count: 1, capacity: 1 MW}",
            PARTS,
            "have 800 kW at this site",
        ),
        (
            "It moves 1 MW at 25 °C. It moves 800 kW at 32 °C. Our water has 25 °C.",
            "cdus: {count: 1, capacity: 1 MW}",
            PARTS,
            "",
        ),
        ("It moves 1 MW at 25 °C. Our water has 32 °C.", "cdus: {count: 1, capacity: 1 MW}", PARTS, ""),
        (
            "It moves 1 MW at 25 °C. It moves 995 kW at 32 °C. Our water has 32 °C.",
            "cdus: {count: 1, capacity: 1 MW}",
            PARTS,
            "",
        ),
        (
            "It moves 1 MW at 25 °C. It moves 980 kW at 32 °C. Our water has 32 °C.",
            "cdus: {count: 1, capacity: 1 MW}",
            PARTS,
            "980 kW",
        ),
    ],
)
def test_a_site_has_the_conditions_that_its_parts_need(text: str, power: str, machine: str, words: str) -> None:
    found = [f"{one.message}; {one.help}" for one in problems("site-condition-unmet", power, text, machine)]
    assert any(words in each for each in found) if words else found == [], found


def units(volts: float, amperes: float, share: float, derating: str = "", phases: int = 1) -> list[tuple[str, str]]:
    """The severities and the last keys of a unit that a node loads with a share of its rating."""
    watts = volts * amperes * share * (3**0.5 if phases == 3 else 1.0)
    pdus = f"count: 1, voltage: {volts:g} V, current: {amperes:g} A, phases: {phases}{derating}"
    power = f"node: {watts:.4f} W, nodes_per_rack: 1, pdus: {{{pdus}}}"
    return [(str(one.severity), str(one.path[-1])) for one in problems("pdus-below-rack", power, machine=PARTS)]


NOTE, WARNING, ERROR = [("note", "pdus")], [("warning", "pdus")], [("error", "pdus")]


@pytest.mark.parametrize("phases", [1, 3])
def test_a_unit_carries_its_rating_and_four_fifths_of_it_for_hours(phases: int) -> None:
    for share, expected in ((0.79, []), (0.81, NOTE), (0.99, NOTE), (1.01, ERROR)):
        assert units(400, 32, share, phases=phases) == expected, share
    for share, expected in ((0.79, []), (0.81, ERROR)):
        assert units(400, 32, share, ", derating: 0.8", phases=phases) == expected, share
    assert units(400, 32, 0.9, ", derating: 1", phases=phases) == []


def test_ratings_of_breakers_tell_north_america_from_other_countries() -> None:
    for volts, amperes in ((220, 16), (230, 32), (380, 63), (400, 125)):
        assert units(volts, amperes, 0.9) == NOTE, (volts, amperes)
    for volts, amperes in ((220, 17), (231, 32), (381, 63), (401, 125), (415, 32), (400, 60)):
        assert units(volts, amperes, 0.9) == WARNING, (volts, amperes)
    american = [*((volts, 25) for volts in (208, 277, 480)), *((240, each) for each in (15, 20, 30, 50, 60, 100))]
    for volts, amperes in american:
        assert units(volts, amperes, 0.9, ", derating: 1") == [("warning", "derating")], (volts, amperes)
    for volts, amperes in ((240, 25), (209, 25), (240, 16), (240, 101)):
        assert units(volts, amperes, 0.9, ", derating: 1") == [], (volts, amperes)


FUEL = "The generator runs 24 h without refueling; its tank has {} liters, and it burns 0.25 liter per kWh."


@each(
    ("text", "words"),
    [
        # 280 l an hour for 24 h are 6,720 l, for two days 13,440 l
        ("the generator burns 280 l/h, and its tank of 6,720 l lasts 24 h", ""),
        (
            "the generator burns 280 l/h, and its tank of 6,719 l lasts 24 h",
            "6,719 liters last 24.0 h at 280 liters an",
        ),
        ("the generator burns 280 l/h, and its tank of 13,440 l lasts 2 days", ""),
        ("the generator burns 280 l/h, and its tank of 13,000 l lasts 2 days", "the text asks for 48 h"),
        ("the generator burns 280 l/h at half load, and its tank of 5,000 l lasts 24 h", ""),
        ("the generator burns 280 l/h, and its tank of 5,000 l lasts 24 h or 12 h", ""),
        # 1.2 MW for ten minutes are 200 kWh, and figures are rounded by 3 %
        ("the ups batteries of 195 kwh carry 1.2 mw for 10 minutes", ""),
        (
            "the ups batteries of 192 kwh carry 1.2 mw for 10 minutes",
            "batteries of 192 kWh carry 1.2 MW for 9.6 minutes",
        ),
        ("the ups batteries of 0.192 mwh carry 1200 kw for 10 minutes", "for 9.6 minutes, but the text asks for 10"),
        ("the heaters of 192 kwh carry 1.2 mw for 10 minutes", ""),
        ("the ups batteries of 192 kwh or 100 kwh carry 1.2 mw for 10 minutes", ""),
    ],
)
def test_a_tank_or_a_battery_lasts_as_long_as_its_sentence_says(text: str, words: str) -> None:
    found = _contradiction_within_text(text)
    assert (words in found[0] if found else False) if words else found is None, found


def test_a_tank_lasts_for_the_hours_at_the_draw_of_the_machine() -> None:
    """Four nodes of 10 kW and a switch of 1.72 kW take 41.72 kW: 24 h are 1,001.3 kWh, and 250.3 liters."""
    for liters, words in (
        (251, ""),
        (250, "250 liters last 24.0 h at 41.7 kW, but the text asks for 24 h: 250 liters"),
    ):
        found = problems("generator-fuel-short", "node: 10 kW", FUEL.format(liters), PARTS)
        assert [one.message for one in found] == ([words] if words else []), liters


@each(
    ("text", "words"),
    [
        # two nodes of 10 kW give 80 % of it, 16 kW a rack, to water of 4,180 J per liter and K: 22.97 liters at 10 K
        ("Every rack has 23 liters of water a minute at a rise of 10 K.", ""),
        ("Every rack has 22 liters of water a minute at a rise of 10 K.", "carry 15.3 kW, but a rack gives 16 kW"),
        ("Every rack has 22 liters of water a minute at a rise of 10 K.", "plan 23 liters a minute"),
        ("Every rack has 0.39 l/s of water at a rise of 10 K.", ""),
        ("Every rack has 0.38 l/s of water at a rise of 10 K.", "22.8 liters a minute that rise by 10 K"),
        ("Every rack has 1.38 m³/h of water at a rise of 10 K.", ""),
        ("Every rack has 1.37 m³/h of water at a rise of 10 K.", "a rack gives 16 kW"),
        ("Every rack has 6.07 gpm of water at a rise of 10 K.", ""),
        ("Every rack has 6.06 gpm of water at a rise of 10 K.", "a rack gives 16 kW"),
        ("Every rack has 23 l/min of water, supply 32 °C, return 42 °C.", ""),
        ("Every rack has 22 l/min of water, supply 32 °C, return 42 °C.", "rise by 10 K"),
        # 4,000 J of PG25: 24 liters
        ("Every rack has 24 liters of PG25 a minute at a rise of 10 K.", ""),
        ("Every rack has 23 liters of PG25 a minute at a rise of 10 K.", "carry 15.3 kW"),
        # 32 kW of four nodes: 45.9 liters
        ("The loop moves 46 liters a minute at a rise of 10 K.", ""),
        ("The loop moves 45 liters a minute at a rise of 10 K.", "but the nodes give 32 kW to the liquid"),
        # 1.36 liters carry 948 W, below 95 % of a kilowatt
        ("The loop has 1.37 l/min per kW at a rise of 10 K.", ""),
        ("The loop has 1.36 l/min per kW at a rise of 10 K.", "it is for 1 kW"),
        ("Every CDU has 9 liters of water a minute at a rise of 10 K.", ""),
        ("Every rack has 9 liters of water a minute.", ""),
    ],
)
def test_a_flow_carries_the_heat_of_its_racks(text: str, words: str) -> None:
    power = "node: 10 kW, nodes_per_rack: 2, cooling: liquid, liquid_share: 0.8"
    found = [f"{one.message}; {one.help}" for one in problems("coolant-flow-below-heat", power, text, PARTS)]
    assert any(words in each for each in found) if words else found == [], found
