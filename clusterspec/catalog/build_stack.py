"""Conversion of catalog facts to a software stack."""

from __future__ import annotations

from math import inf

from clusterspec.catalog.framework_memory import FrameworkMemory, Spread
from clusterspec.catalog.reader import FactReader
from clusterspec.catalog.serving_software import ServingSoftware

GROUP = "memory"
SERVING = "serving"
_FLAGS = (
    "sharded_master",
    "accumulators",
    "placeholders",
    "quantized_inputs",
    "cuts_residual",
    "pipeline_copies",
    "late_gradients",
    "whole_logits",
)


def framework_memory(read: FactReader) -> FrameworkMemory:
    """The facts of ``memory``; an absent fact means that the framework does not do it, or that it uses no memory."""
    names = [name.removeprefix(f"{GROUP}.gradients.") for name in read.raw_entry.facts if ".gradients." in name]
    written = {name: read.text(f"{GROUP}.gradients.{name}") for name in names}
    live, at_once, reduced = (read.number(f"{GROUP}.{name}") for name in ("live", "layers_at_once", "reduced"))
    return FrameworkMemory(
        logits=_spread(read, "logits", "bytes"),
        context=_spread(read, "context", "bytes"),
        fragmentation=_spread(read, "fragmentation", "number"),
        gradients={name: value for name, value in written.items() if value is not None},
        gradient_copy=read.number(f"{GROUP}.gradient_copy") or 0.0,
        outputs_kept=read.count(f"{GROUP}.outputs_kept") or 0,
        buckets=read.number(f"{GROUP}.buckets") or 0.0,
        communicators=read.count(f"{GROUP}.communicators") or 0,
        offloads_selective=read.texts(f"{GROUP}.offloads_selective"),
        layers_at_once=2 if at_once is None else int(at_once),
        live=inf if live is None else live,
        tables_kept=read.texts(f"{GROUP}.tables_kept"),
        reduced=4.0 if reduced is None else reduced,
        **{name: read.flag(f"{GROUP}.{name}") or False for name in _FLAGS},
    )


def _spread(read: FactReader, name: str, kind: str) -> Spread | None:
    """A figure with its bounds ``<name>_low`` and ``<name>_high``; exact without them."""
    value = read.figure(f"{GROUP}.{name}", kind)
    if value is None:
        return None
    low, high = (read.figure(f"{GROUP}.{name}_{bound}", kind) for bound in ("low", "high"))
    return Spread(value, low.value if low else value.value, high.value if high else value.value)


def serving_software(read: FactReader) -> ServingSoftware | None:
    """The facts of ``serving``; None for software that does not serve."""
    fraction = read.number(f"{SERVING}.memory_fraction")
    if fraction is None:
        return None
    return ServingSoftware(
        memory_fraction=fraction,
        of_free=read.text(f"{SERVING}.memory_of") == "free",
        whole_requests=read.text(f"{SERVING}.reserves") == "whole requests",
        chunk_tokens=read.count(f"{SERVING}.chunk_tokens"),
        max_sequences=read.count(f"{SERVING}.max_sequences"),
        quantized_cache=read.text(f"{SERVING}.quantized_cache"),
    )
