"""Parameter counts of imported models, with the formulas of the cost model."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.transformer import resolve_model
from clusterspec.cost.parameters import count
from clusterspec.document import parse
from clusterspec.exchange.import_result import FileLine, ImportBuilder, ImportedValue
from clusterspec.exchange.merge import new_spec
from clusterspec.records import replace
from clusterspec.source import Source
from clusterspec.spec.reader import read

TOLERANCE = 0.02
"""Of the parameters cited; biases and small norms are not counted."""


def set_parameters(builder: ImportBuilder, line: int = 0) -> None:
    """Record the parameter count of the imported model if its sizes are complete."""
    sizes = {each.path[-1] for each in builder.given if each.path[:2] == ("workload", "model")}
    if not {"layers", "hidden", "heads"} <= sizes:
        return
    reading = builder.reading()
    if "vocab" not in sizes:
        builder.unknown("workload.model.vocab", "not stated here: embeddings are not counted", line)
        reading = replace(
            reading, given=(*reading.given, ImportedValue(("workload", "model", "vocab"), 1, FileLine(builder.file)))
        )
    document, _ = parse(Source("model", new_spec(reading)))
    spec = read(document)[0] if document is not None else None
    if spec is None or spec.workload is None or spec.workload.model is None or isinstance(spec.workload.model, str):
        return
    model = resolve_model(spec.workload.model, Lookup(Catalog.open(), ResolutionLog(spec)))
    if model is None:
        return
    parameters = count(model)
    embeddings = parameters.embedding + parameters.positions + parameters.head
    if "vocab" in sizes:
        builder.count("parameters", round(parameters.total), line)
        if model.experts:
            builder.count("active_parameters", round(parameters.active), line)
    builder.count("parameters_without_embeddings", round(parameters.total - embeddings), line)


def check_parameters(name: str, builder: ImportBuilder, line: int) -> None:
    """Compare the parameter count with the one that the catalog cites for a model of this name."""
    from clusterspec.exchange.workloads.model_names import catalog_model

    counted = next((each.value for each in builder.counts if each.name == "parameters"), None)
    entry = catalog_model(name) if name else None
    if entry is None or not isinstance(counted, int):
        return
    cited = Catalog.open().model(entry).parameters
    if cited is None:
        return
    builder.count("catalog_model", entry, line)
    if abs(counted / cited.value - 1) > TOLERANCE:
        why = f"the catalog cites {cited.value:,.0f} for {entry}, but the sizes of this file give {counted:,}"
        builder.unknown("the number of parameters", why, line)
