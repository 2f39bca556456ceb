"""The figures of an entry are read the same way for arithmetic and for documentation."""

from __future__ import annotations

from clusterspec.catalog.build import BUILDERS
from clusterspec.catalog.reader import Fact, FactReader, RawEntry, si_value
from clusterspec.catalog.views import entry_view
from clusterspec.quantity import Quantity
from tests.catalog.shipped import CARDS
from tests.effort import each


class RecordingReader(FactReader):
    """A reader that keeps the SI value of every quantity that arithmetic uses, by fact."""

    def __init__(self, raw_entry: RawEntry) -> None:
        super().__init__(raw_entry)
        self.values: dict[str, float] = {}

    def _read_quantity(self, fact: Fact, value: object, kind: str) -> Quantity | None:
        quantity = super()._read_quantity(fact, value, kind)
        if quantity is not None and not isinstance(fact.value, list):
            self.values[fact.name] = si_value(quantity)
        return quantity


@each("raw_entry", CARDS)
def test_tables_and_arithmetic_agree_on_every_figure(raw_entry: RawEntry) -> None:
    reader = RecordingReader(raw_entry)
    BUILDERS[raw_entry.kind](reader)
    shown = entry_view(raw_entry)
    tabulated = {line.name: line.value for line in shown.facts}
    assert {name: tabulated[name] for name in reader.values} == reader.values
    measured = {line.name.removeprefix("achievable."): line.value for line in shown.achievable}
    assert {name: figure.value for name, figure in FactReader(raw_entry).achievable().items()} == measured
