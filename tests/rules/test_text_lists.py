"""What a text lists as parts of a whole, the planned stops of a service, and the pressure of a rack on its floor."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.plans.floor_loads import load_on_footprint, overload_of_floor
from clusterspec.rules.readers.results.lists import wrong_wholes
from clusterspec.rules.readers.services.planned_stops import stops_beyond_availability

HOUR = 3600.0


@pytest.mark.parametrize(
    ("text", "whole", "total"),
    [
        # 48 + 12 + 8
        ("De los 64 GPU, 48 son de física, 12 de química y 8 de docencia.", "64 GPU", "68"),
        # 1.76 + 0.045 + 0.28 + 0.075 million
        (
            "Der Preis von 2.180.000 EUR verteilt sich auf 1.760.000 EUR, 45.000 EUR, 280.000 EUR und 75.000 EUR.",
            "2.180.000 EUR",
            "2,160,000",
        ),
        # 90 % + 15 %
        ("90 % des requêtes viennent du service, 15 % du laboratoire.", "100 %", "105 %"),
    ],
)
def test_parts_that_do_not_sum_to_their_whole_are_named(text: str, whole: str, total: str) -> None:
    assert [(each.whole, each.total) for each in wrong_wholes(text)] == [(whole, total)]


@pytest.mark.parametrize(
    "text",
    [
        "De los 64 GPU, 40 son de física, 16 de química y 8 de docencia.",
        "Of the 64 GPUs, 48 belong to physics and 8 to teaching.",  # the rest is not named
        "Of the 64 GPUs, at most 48 belong to physics and up to 24 to teaching.",
        "95 % of the requests end within 2 s, 80 % within 1 s.",
        "Of the 2,180,000 EUR 30 % are due with the order.",
    ],
)
def test_parts_that_may_sum_to_their_whole_are_not_named(text: str) -> None:
    assert [*wrong_wholes(text)] == []


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        # 12 x 6 h in a year, of which 0.1 % are 8.8 h
        (
            "Verfügbarkeit: 99,9 % im Jahr. An jedem ersten Sonntag im Monat schaltet man alle Knoten 6 Stunden ab.",
            72 * HOUR,
        ),
        # 3 h in a month, of which 0.1 % are 44 min
        (
            "La disponibilité est de 99,9 % par mois. Une fois par mois tout est arrêté pendant trois heures.",
            3 * HOUR,
        ),
        # 52.2 x 2 h in a year, of which 0.5 % are 43.8 h
        (
            "La disponibilidad prometida es del 99,5 % al año, pero cada semana todo el servicio para durante 2 horas.",
            104.4 * HOUR,
        ),
    ],
)
def test_stops_of_the_whole_service_count_against_its_availability(text: str, stopped: float) -> None:
    (stop,) = stops_beyond_availability(text)
    assert stop.stopped == pytest.approx(stopped, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "Availability: 99.9 % a year, maintenance excluded. Every month all nodes are shut down for 6 hours.",
        "We promise an availability of 99.9 % a year. Every month one node after the other is shut down for 6 hours.",
        "We promise an availability of 99 % a year. Every month all nodes are shut down for 6 hours.",  # 72 of 88 h
    ],
)
def test_stops_that_an_availability_leaves_are_not_named(text: str) -> None:
    assert [*stops_beyond_availability(text)] == []


@pytest.mark.parametrize(
    ("text", "mass", "limit"),
    [
        # 740 / 0.72 = 1,028
        ("Das volle Rack wiegt 740 kg auf 0,6 m × 1,2 m. Der Statiker gibt höchstens 800 kg/m² frei.", 740, 800),
        ("Une baie équipée pèse 800 kg sur 0,72 m². Le plancher est certifié pour 900 kg/m² au plus.", 800, 900),
        # 10,000 N / 9.80665 m/s² = 1,019.7 kg
        ("A rack weighs 800 kg on a footprint of 0.72 m². The slab carries 10 kN/m².", 800, 1019.7),
    ],
)
def test_the_pressure_of_a_rack_is_its_mass_over_its_footprint(text: str, mass: float, limit: float) -> None:
    found = overload_of_floor(text)
    assert found is not None
    assert (found.mass, found.area) == (mass, 0.72) and found.pressure == pytest.approx(mass / 0.72)
    assert found.limit == pytest.approx(limit, rel=1e-4)


def test_a_rack_whose_mass_is_not_stated_has_that_of_its_platform() -> None:
    text = "A rack stands on 0.6 m x 1.2 m. The floor carries 1,500 kg/m²."  # 1,360 / 0.72 = 1,889
    assert overload_of_floor(text) is None
    found = overload_of_floor(text, 1360)
    assert found is not None and found.pressure == pytest.approx(1888.9, rel=1e-4)
    assert overload_of_floor(text, 1000) is None


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("The footprint of a rack is 0.72 m². The floor carries 1,000 kg/m².", 720),
        (
            "The footprint of a rack is 0.72 m². The floor carries 1,000 kg/m². The floor of hall B carries 500 kg/m².",
            None,
        ),
        ("The floor carries 1,000 kg/m².", None),
    ],
)
def test_a_floor_carries_its_pressure_on_the_footprint(text: str, carried: float | None) -> None:
    assert load_on_footprint(text) == carried


def test_a_floor_that_carries_the_rack_is_not_named() -> None:
    text = "A loaded rack weighs 700 kg on 0.6 m x 1.2 m; the floor carries at most 1,000 kg/m²."  # 972 kg/m²
    assert overload_of_floor(text) is None
    assert (
        overload_of_floor("A loaded rack weighs 900 kg on 0.72 m². At most 1,000 kg/m². Load spreaders are used.")
        is None
    )
