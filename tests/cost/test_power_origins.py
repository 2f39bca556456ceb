"""Where each figure of a power comes from: a key that the spec has, or the catalog entry, and what a sum is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from clusterspec.cluster.fabric import counted_fabric
from clusterspec.cost.power import MachinePower, drawn_power
from clusterspec.cost.term import Term
from clusterspec.source import Written
from clusterspec.studies import Study, study_text
from tests.cost.expressions import evaluate
from tests.settings import SETTINGS

WORK = """workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1152, tokens: 1T}
layout: {framework: megatron-core, tp: 4}
"""
FABRIC = "scale_out: {topology: rail-optimized, switch: quantum-2-qm9700}"
PRICED = """operations: {carbon: {intensity: 0.3}}
procurement: {currency: EUR, electricity: 0.12, tariff: [{from: "22:00", to: "06:00", price: 0.08}]}
"""


@dataclass(frozen=True)
class Machine:
    """A cluster with the watts of its switches and of its racks in addition to their nodes."""

    cluster: str
    switches: float
    rack_overhead: float


MACHINES = {
    # eight racks of 132 kW with 18 trays of 5.4 kW each: 22.8 kW a rack
    "racks": Machine("{platform: gb200-nvl72, nodes: 144}", 0, 8 * 22800),
    # 12 switches of 1 kW, and 8 racks of 500 W
    "stated": Machine(
        f"{{platform: dgx-h100, nodes: 32, {FABRIC}, "
        "power: {nodes_per_rack: 4, rack_overhead: 500 W, switch: 1 kW, node_idle: 2 kW, feeds: 2N}, "
        "floor: {racks_per_row: 4}}",
        12 * 1000,
        8 * 500,
    ),
    # more room than there are nodes: 8 of 16 in a rack, 1 of 4 racks in a row; no overhead is stated
    "half empty": Machine(
        "{platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 16, feeds: N+1}, floor: {racks_per_row: 4}}", 0, 0
    ),
}


def study_of(machine: Machine) -> Study:
    return study_text(f"clusterspec: 1\ncluster: {machine.cluster}\n{WORK}{PRICED}", SETTINGS)


def drawn_of(study: Study, *, switches: bool) -> MachinePower:
    found = drawn_power(study.plan, counted_fabric(study.design) if switches else None, run=1e6)
    assert found is not None and found.busy is not None
    return found


def terms_below(term: Term) -> Iterator[Term]:
    yield term
    for part in term.parts:
        yield from terms_below(part)


@pytest.mark.parametrize("name", MACHINES)
def test_a_figure_that_is_said_to_be_written_is_a_key_of_the_spec(name: str) -> None:
    study = study_of(MACHINES[name])
    document = study.document
    assert document is not None
    terms = drawn_of(study, switches=bool(MACHINES[name].switches)).terms
    written = {
        figure.origin.key
        for term in terms.values()
        for each in terms_below(term)
        for _, figure in each.inputs
        if isinstance(figure.origin, Written)
    }
    assert written and [key for key in written if tuple(key.split(".")) not in document.places] == []


@pytest.mark.parametrize("name", MACHINES)
def test_the_power_of_a_machine_tells_its_switches_from_its_racks(name: str) -> None:
    machine = MACHINES[name]
    found = drawn_of(study_of(machine), switches=bool(machine.switches))
    for term in (found.busy, found.idle, found.peak):
        assert term is not None
        parts = {part.name: part.value for part in term.parts}
        assert parts.get("switches", 0.0) == pytest.approx(machine.switches)
        assert parts.get("rack_overhead", 0.0) == pytest.approx(machine.rack_overhead)
        names = {key: figure.value for key, figure in term.inputs} | parts
        assert evaluate(term.formula, names) == pytest.approx(term.value)
        assert ("rack_overhead" in term.formula) is bool(machine.rack_overhead)


def test_the_overhead_of_a_rack_as_sold_names_its_platform() -> None:
    rack = drawn_of(study_of(MACHINES["racks"]), switches=False).supply.rack
    assert rack is not None
    overhead = dict(rack.inputs)["overhead"]
    assert overhead.value == pytest.approx(22800) and "platform/gb200-nvl72" in str(overhead.origin)
