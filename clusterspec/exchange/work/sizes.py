"""What the sizes of an imported model amount to: its parameters, counted as the cost model counts them."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.transformer import resolve_model
from clusterspec.cost.parameters import count
from clusterspec.document import parse
from clusterspec.exchange.merge import new_spec
from clusterspec.exchange.reading import At, Given, Notes
from clusterspec.records import replace
from clusterspec.source import Source
from clusterspec.spec.reader import read

TOLERANCE = 0.02
"""Of the parameters cited; biases and small norms are not counted."""


def give_parameters(notes: Notes, line: int = 0) -> None:
    """Counts the parameters of the model that was read, where its sizes are enough for that."""
    said = {each.path[-1] for each in notes.given if each.path[:2] == ("workload", "model")}
    if not {"layers", "hidden", "heads"} <= said:
        return
    reading = notes.reading()
    if "vocab" not in said:
        notes.unknown("workload.model.vocab", "not stated here: embeddings are not counted", line)
        reading = replace(reading, given=(*reading.given, Given(("workload", "model", "vocab"), 1, At(notes.file))))
    document, _ = parse(Source("model", new_spec(reading)))
    spec = read(document)[0] if document is not None else None
    if spec is None or spec.workload is None or spec.workload.model is None or isinstance(spec.workload.model, str):
        return
    model = resolve_model(spec.workload.model, Lookup(Catalog.open(), ResolutionLog(spec)))
    if model is None:
        return
    parameters = count(model)
    embeddings = parameters.embedding + parameters.positions + parameters.head
    if "vocab" in said:
        notes.count("parameters", round(parameters.total), line)
        if model.experts:
            notes.count("active_parameters", round(parameters.active), line)
    notes.count("parameters_without_embeddings", round(parameters.total - embeddings), line)


def check_parameters(name: str, notes: Notes, line: int) -> None:
    """Compares the parameters counted with those that the catalog cites for a model of this name."""
    from clusterspec.exchange.work.model_names import catalog_model

    counted = next((each.value for each in notes.counts if each.name == "parameters"), None)
    entry = catalog_model(name) if name else None
    if entry is None or not isinstance(counted, int):
        return
    cited = Catalog.open().model(entry).parameters
    if cited is None:
        return
    notes.count("catalog_model", entry, line)
    if abs(counted / cited.value - 1) > TOLERANCE:
        why = f"the catalog cites {cited.value:,.0f} for {entry}, and the sizes of this file give {counted:,}"
        notes.unknown("the number of parameters", why, line)
