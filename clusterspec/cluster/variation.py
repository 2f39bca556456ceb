"""Changed designs: the only module that makes a design, a spec or a resolved machine with other values.

A change is a value at a key path. `varied` changes keys of the spec and resolves it again with the catalog of the
design; `with_values` changes values of the resolved design, for figures that no key of a spec states. Both keep the
measured shares of links: a measurement replaces an efficiency, which the other design keeps.
"""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog import Catalog
from clusterspec.cluster import resolve
from clusterspec.cluster.degrees import MOST_STAGES, even_stages
from clusterspec.cluster.model import Design, Layout
from clusterspec.finding import Problem
from clusterspec.records import is_dataclass, replace
from clusterspec.source import Path
from clusterspec.spec import keys_of, types_of
from clusterspec.spec.model import ClusterSpec, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from clusterspec.cluster.requests import Engines
    from clusterspec.logs.traces import TraceSummary

    R = TypeVar("R")


Changes = Mapping[Path, object]
"""New values by key path; None removes a key of a spec."""
DEGREES = frozenset({"tp", "cp", "pp", "nodes", "nodes_per_domain", "attention_dp"})
"""Keys of a layout from which dp follows."""
STAGES = frozenset({"pp", "virtual_stages"})
"""Keys of a layout from which the number of stages follows."""


PIPELINE = ("virtual_stages", "schedule")
"""Keys of a layout that describe its pipeline."""


class NoSuchKeyError(ValueError):
    """Raised for a path that a spec or a design does not have."""


def layout_changes(changes: Mapping[str, object]) -> dict[Path, object]:
    """Changes to keys of the layout, without the keys that follow from a changed one: dp and the layers of stages, or,
    without a pipeline, all keys that describe one.

    >>> layout_changes({"pp": 4})
    {('layout', 'pp'): 4, ('layout', 'dp'): None, ('layout', 'stage_layers'): None}
    """
    whole = dict(changes)
    if DEGREES & changes.keys():
        whole.setdefault("dp", None)
    if STAGES & changes.keys():
        whole.setdefault("stage_layers", None)
    if changes.get("pp") == 1:
        whole = {**dict.fromkeys(PIPELINE), **whole}
    return {("layout", key): value for key, value in whole.items()}


def design_with_keys(design: Design, changes: Changes) -> Design:
    """The design of the spec with other values of the types of `spec.model`."""
    return design_of_changed_spec(design, changed_spec(design.spec, changes))[0]


def design_of_engines(design: Design, engines: Engines) -> Design | None:
    """The design with its engines other than the decode engines as the layout; None if there are no other engines."""
    if design.layout is None or design.workload is None:
        return None
    layout = layout_of_engines(design.layout, engines, design.workload.model.layers)
    return replace(design, layout=replace(layout, separate_engines=True))


def design_of_spec(
    spec: Spec, catalog: Catalog, traces: Mapping[str, TraceSummary] | None = None
) -> tuple[Design, list[Problem]]:
    """The design of a spec as written, and its problems.

    Engines or a storage system may name a pool that the spec of a single machine does not describe. They are then taken
    to be on that machine, and each is a problem.
    """
    away = _engines_on_unknown_pools(spec) | _store_of_unknown_pool(spec)
    if not away:
        return resolve(spec, catalog, traces)
    design, problems = resolve(changed_spec(spec, dict.fromkeys(away)), catalog, traces)
    message = "no pool is called `{}`: the spec describes one machine"
    help_ = "drop the key, or describe both machines under `pools` and the job under `jobs`"
    found = (Problem("unknown-pool", path, message.format(pool), help_) for path, pool in away.items())
    return design, [*problems, *found]


def _engines_on_unknown_pools(spec: Spec) -> dict[Path, str]:
    """The pools that engines name but the spec does not describe, by key path."""
    work = spec.workload
    if work is None or not (work.rl or (work.serving and work.serving.disaggregated)):
        return {}
    from clusterspec.cluster.fleet import named_engines  # few specs have engines that may name one

    return {(*each.path, "pool"): each.pool for each in named_engines(work) if each.pool not in (spec.pools or {})}


def _store_of_unknown_pool(spec: Spec) -> dict[Path, str]:
    """The pool that the storage system names but the spec does not describe, by key path."""
    networks = spec.cluster.networks if spec.cluster else None
    pool = networks.storage.pool if networks and networks.storage else None
    known = pool is None or pool in (spec.pools or {})
    return {} if known or pool is None else {("cluster", "networks", "storage", "pool"): pool}


def design_of_changed_spec(design: Design, spec: Spec) -> tuple[Design, list[Problem]]:
    """The design of a changed spec with the catalog and the measured shares of another design, and its problems."""
    if design.catalog is None:
        raise ValueError("a design without a catalog cannot be varied")
    other, problems = design_of_spec(spec, design.catalog, design.traces)
    return replace(with_measured(other, design), shares_machine=design.shares_machine), problems


def design_on_machine(design: Design, machine: ClusterSpec, changes: Changes) -> Design:
    """The design of the spec with another cluster and other keys.

    Measured shares are dropped, because they apply to one machine only.
    """
    if design.catalog is None:
        raise ValueError("a design without a catalog cannot be varied")
    return resolve(changed_spec(design.spec, {("cluster",): machine, **changes}), design.catalog, design.traces)[0]


def layout_of_most_memory(layout: Layout) -> Layout | None:
    """The layout on the software variant that uses the most memory among those that may run the job
    (`Stack.of_most_memory`); None if the software is unknown.
    """
    stack = layout.stack.of_most_memory(layout.sharding) if layout.stack is not None else None
    return None if stack is None else replace(layout, stack=stack)


def with_measured(design: Design, source: Design) -> Design:
    """The design with the measured shares of ``source``."""
    measured = source.cluster.measured if source.cluster else ()
    if design.cluster is None or design.cluster.measured == measured:
        return design
    return with_values(design, {("cluster", "measured"): measured})


def without_measured(design: Design) -> Design:
    """The design with the shares of the catalog only."""
    if design.cluster is None or not design.cluster.measured:
        return design
    return with_values(design, {("cluster", "measured"): ()})


def changed_spec(spec: Spec, changes: Changes) -> Spec:
    """The spec with other values; a changed key no longer counts as unreadable.

    Raises `NoSuchKeyError` for a path that no spec has.
    """
    broken = frozenset(path for path in spec.broken if not lies_under_change(path, changes))
    return with_values(replace(spec, broken=broken), changes)


def lies_under_change(path: Path, changes: Changes) -> bool:
    """Whether a path equals the path of a change, or lies below it."""
    return any(path[: len(head)] == head for head in changes)


def with_values(record: R, changes: Changes) -> R:
    """A record, such as a resolved design or cluster, with other values at key paths; nothing is resolved again.

    Raises `NoSuchKeyError` for a path that the record does not have.
    """
    for path, value in changes.items():
        record = _with_value(record, path, value)
    return record


def _with_value(part: Any, path: Path, value: object) -> Any:
    key, *rest = path
    if isinstance(part, Mapping):
        return _mapping_with_value(part, key, tuple(rest), value)
    record: type = type(part)
    if not is_dataclass(record) or key not in keys_of(record):
        raise NoSuchKeyError(f"{record.__name__} has no key {key!r}")
    name = keys_of(record)[str(key)]
    if rest:
        below = getattr(part, name)
        new = _with_value(_empty_record(record, name) if below is None else below, tuple(rest), value)
        value = None if below is None and value is None else new
    return replace(part, **{name: value})


def _mapping_with_value(part: Mapping[Any, Any], key: object, path: Path, value: object) -> Mapping[Any, Any]:
    if path and key not in part:
        raise NoSuchKeyError(f"there is no {key!r}")
    new = _with_value(part[key], path, value) if path else value
    return {name: each for name, each in part.items() if name != key} | ({} if new is None else {key: new})


def _empty_record(record: type, name: str) -> object:
    """An empty record of the type of a field."""
    for kind in types_of(record, name):
        if isinstance(kind, type) and is_dataclass(kind):
            return kind()
    raise NoSuchKeyError(f"{record.__name__}.{name} is not a mapping")


def layout_of_engines(layout: Layout, engines: Engines, layers: int) -> Layout:
    """The layout with the degrees of other engines; ``layers`` is the number of layers of the model."""
    return replace(
        layout,
        ranks=engines.replicas * engines.ranks,
        dp=engines.replicas,
        tp=engines.tp,
        attention_dp=engines.attention_dp,
        ep=engines.ep,
        expert_tp=engines.expert_tp,
        pp=engines.pp,
        redundant_experts=engines.redundant_experts,
        stage_layers=even_stages(layers, engines.pp) if engines.pp <= MOST_STAGES else (),
        separate_engines=False,
    )
