"""A bill and a cost of a design without each key that it may lack."""

from __future__ import annotations

from clusterspec.cost.estimate import estimate
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import cost
from clusterspec.records import replace
from tests.absences import DEPTH, records_without
from tests.cluster.resolving import clean
from tests.procurement.test_cost import OWNED


def test_a_bill_and_a_cost_are_made_without_each_key() -> None:
    """Without its section a purchase has no cost; what is bought is the same whatever is known of prices and work."""
    whole = clean(OWNED)
    plan, items = estimate(whole), bill(whole).items
    without: dict[str, bool] = {}
    for path, spec in records_without(whole.spec, DEPTH):
        if path == "broken":
            continue
        design = replace(whole, spec=spec)
        made = bill(design)
        found = cost(design, plan, made)
        without[path] = found is not None and found.total is not None and found.total.value > 0
        if not path.startswith(("procurement", "cluster")):
            assert [item.quantity for item in made.items] == [item.quantity for item in items], path
    assert without["procurement.pue"] and without["procurement.electricity"] and without["operations"]
    assert not without["procurement"]


def test_a_bill_is_made_of_a_machine_without_each_part() -> None:
    whole = clean(OWNED)
    assert whole.cluster is not None
    for path, cluster in records_without(whole.cluster, 0):
        items = bill(replace(whole, cluster=cluster)).items
        assert [item.quantity for item in items if item.kind == "node"] == [31], path
