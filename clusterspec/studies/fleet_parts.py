"""The parts of a fleet: a pool, or a job on its pool, as the document of an ordinary spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.fleet import EnginesAway
from clusterspec.document import Document, Places, merged_value
from clusterspec.finding import Fix, Problem
from clusterspec.records import dataclass, field, replace
from clusterspec.source import Path, Span, value_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.studies.fleet import FleetStudy

    Value = dict[str, Any]

POOL_KEYS = frozenset({"phases", "measured", "acceptance", "prices"})
"""The keys of a pool that a cluster does not have."""
OF_ALL_POOLS = ("quote", "quoted_total", "budget", "payment")
"""Keys of `procurement` that count all pools together."""
OF_ALL_MACHINES = ("power_budget",)
"""Keys of `operations` that count all pools together."""
STORE: Path = ("networks", "storage")
OF_STORE = ("bandwidth", "capacity", "read", "per_client", "metadata_rate", "slots")
"""Keys of a storage system itself; its other keys describe the links to it."""


@dataclass(frozen=True)
class FleetPart:
    """The place of a pool, and of a job on it, in the file of a fleet."""

    pool: str
    job: str | None = None
    nodes: int | None = None
    """The nodes of the job; None if the job uses all nodes of the pool."""
    away: tuple[EnginesAway, ...] = ()
    """The engines of the job that are on pools other than ``pool``."""
    separate: int = 0
    """The number of ``nodes`` that rollout and other models use; the trainer has ``layout.nodes``."""
    link_share: float = 1.0
    """The share of the link to the pools in ``away`` that other jobs leave to this job."""
    idle: int | None = None
    """The number of nodes in the pool that no job uses; None if unknown."""
    fleet: FleetStudy | None = field(default=None, compare=False, repr=False)
    """The studies of the fleet, since other jobs affect the power and cost of the pool."""

    @property
    def pool_path(self) -> Path:
        return ("pools", self.pool)

    @property
    def path(self) -> Path:
        """The key of the part."""
        return ("jobs", self.job) if self.job is not None else self.pool_path


def part_value(document: Document, part: FleetPart) -> Value:
    """The values of the spec of a part."""
    whole: Value = document.value
    pool = mapping_at(whole, part.pool_path)
    job = mapping_at(whole, part.path) if part.job is not None else {}
    top = {key: whole[key] for key in whole if key not in {"pools", "pool_links", "jobs", "workload", "layout"}}
    value: Value = top | {"cluster": {key: item for key, item in pool.items() if key not in POOL_KEYS}}
    value |= {key: pool[key] for key in ("measured", "acceptance") if key in pool}
    value |= {key: job[key] for key in ("workload", "layout") if key in job}
    if "operations" in job:
        value["operations"] = merged_value(whole.get("operations"), job["operations"])
    if isinstance(value.get("operations"), dict):
        value["operations"] = {key: item for key, item in value["operations"].items() if key not in OF_ALL_MACHINES}
    if part.job is not None:
        value |= _engines_value(whole, part, value)
    value |= _store_value(whole, part, value)
    if part.nodes is not None and isinstance(value.get("layout"), dict):
        value["layout"] = value["layout"] | {"nodes": max(1, part.nodes - part.separate)}
        rollout = mapping_at(value.get("workload"), ("rl", "rollout"))
        if part.separate and "nodes" not in rollout and "pool" not in rollout:
            rl = value["workload"]["rl"]
            value["workload"] = value["workload"] | {"rl": rl | {"rollout": rollout | {"nodes": part.separate}}}
    if "procurement" in value or "prices" in pool:
        value["procurement"] = _pool_procurement(value.get("procurement"), pool, mapping_at(whole, ("pools",)))
    return value


ENGINES: tuple[Path, ...] = (
    *(("serving", "disaggregated", side) for side in ("prefill", "decode")),
    *(("rl", role) for role in ("rollout", "reference", "critic", "reward")),
)
"""The mappings of a workload that may name a pool."""


def _engines_value(whole: Value, part: FleetPart, value: Value) -> Value:
    """The keys that a job's spec needs if its engines name pools: the other pools, and the links to them.

    Engines on the job's own pool name none; ``pool`` stays where engines are on another pool.
    """
    named = any("pool" in mapping_at(value.get("workload"), path) for path in ENGINES)
    if not named:
        return {}
    away = {each.path[1:]: each.pool for each in part.away}
    workload = value["workload"]
    for path in ENGINES:
        if path in away or mapping_at(workload, path):
            workload = _with_pool(workload, path, away.get(path))
    others = {name: mapping_at(whole, ("pools", name)) for name in away.values()}
    links = whole.get("pool_links")
    joined = [link for link in links if _link_joins(link, part.pool, others)] if isinstance(links, list) else []
    kept = [link | _remaining_link_share(link, part.link_share) for link in joined]
    return {"workload": workload, "pools": others} | ({"pool_links": kept} if kept else {})


def store_owner(whole: object, pool: str) -> str | None:
    """The other pool whose storage system a pool uses; None if the pool has a storage system of its own, or if the
    other pool does not exist.
    """
    owner = mapping_at(whole, ("pools", pool, *STORE)).get("pool")
    known = isinstance(owner, str) and owner != pool and mapping_at(whole, ("pools", owner))
    return owner if known else None


def _store_value(whole: Value, part: FleetPart, value: Value) -> Value:
    """The storage keys of a pool that uses another pool's storage system: copied from the other pool, which is listed
    under ``pools``. If that pool does not exist, the key is omitted.
    """
    own = mapping_at(whole, (*part.pool_path, *STORE))
    if "pool" not in own:
        return {}
    owner = store_owner(whole, part.pool)
    there = mapping_at(whole, ("pools", owner or "", *STORE))
    store = {key: there[key] for key in OF_STORE if key in there}
    store |= {key: item for key, item in own.items() if owner is not None or key != "pool"}
    networks = mapping_at(value, ("cluster", "networks")) | {"storage": store}
    found = {"cluster": value["cluster"] | {"networks": networks}}
    pools = mapping_at(value, ("pools",))
    return found | ({"pools": pools | {owner: mapping_at(whole, ("pools", owner))}} if owner is not None else {})


def _remaining_link_share(link: Value, left: float) -> Value:
    """The key for a link's share if other jobs use a part of the link; empty if they use none."""
    stated = link.get("share", 1.0)
    return {"share": stated * left} if left < 1 and isinstance(stated, int | float) else {}


def _with_pool(value: Value, path: Path, pool: str | None) -> Value:
    """The mapping with another ``pool`` in the mapping at a path; None removes it."""
    if not path:
        return {key: item for key, item in value.items() if key != "pool"} | ({"pool": pool} if pool else {})
    head, rest = str(path[0]), path[1:]
    return value | {head: _with_pool(mapping_at(value, (head,)), rest, pool)}


def _link_joins(link: object, pool: str, others: Iterable[str]) -> bool:
    """Whether a link connects a pool with one of the pools ``others``."""
    ends = link.get("between") if isinstance(link, dict) else None
    return isinstance(ends, list) and pool in ends and any(each in ends for each in others)


def _pool_procurement(section: object, pool: Value, pools: Value) -> object:
    """The `procurement` section of one pool: with its prices, and without amounts for all pools.

    If other pools have a storage system, a pool without one does not carry its price.
    """
    if section is not None and not isinstance(section, dict):
        return section
    kept = {key: item for key, item in (section or {}).items() if len(pools) < 2 or key not in OF_ALL_POOLS}
    prices = mapping_at(kept, ("prices",))
    if "storage" in prices and not mapping_at(pool, STORE) and any(mapping_at(one, STORE) for one in pools.values()):
        kept["prices"] = {key: item for key, item in prices.items() if key != "storage"}
    return merged_value(kept, {"prices": pool["prices"]}) if "prices" in pool else kept


def mapping_at(value: object, path: Path) -> Value:
    """The mapping at a path; empty if there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, dict) else {}


def path_in_fleet(document: Document, part: FleetPart, path: Path) -> Path:
    """The key path in the file of a fleet for one in the spec of a part."""
    head, rest = path[:1], path[1:]
    if head == ("cluster",):
        own = (*part.pool_path, *rest)
        owner = store_owner(document.value, part.pool) if rest[:2] == STORE and own not in document.places else None
        return ("pools", owner, *rest) if owner is not None else own
    if part.job is not None and path == ("layout", "nodes") and (*part.path, *path) not in document.places:
        return (*part.path, "nodes")
    if part.job is not None and head in {("workload",), ("layout",)}:
        return (*part.path, *path)
    return _path_of_shared_section(document, part, path)


def _path_of_shared_section(document: Document, part: FleetPart, path: Path) -> Path:
    """The path in the fleet's file of a section that all parts share, or that the part itself states."""
    section, own = path[:1], path
    if section == ("operations",) and part.job is not None:
        own = (*part.path, *path)
    elif section in {("measured",), ("acceptance",)}:
        own = (*part.pool_path, *path)
        return own if own[:3] in document.places else path
    elif path[:2] == ("procurement", "prices"):
        own = (*part.pool_path, *path[1:])
    absent = own not in document.places and path not in document.places
    return own if own in document.places or (absent and own[:3] in document.places) else path


def part_document(document: Document, part: FleetPart) -> Document:
    """The document of a part, with the positions of its values in the text of the fleet."""
    value = part_value(document, part)
    known = document.places.offsets
    top = known[part.path]
    offsets = {path: known.get(path_in_fleet(document, part, path), top) for path in _value_paths(value)}
    return replace(document, value=value, places=Places(offsets))


def _value_paths(value: object) -> Iterator[Path]:
    """The paths of all values, outermost first."""
    waiting: list[tuple[Path, object]] = [((), value)]
    for path, item in waiting:
        yield path
        children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        waiting.extend(((*path, key), child) for key, child in children)


def problem_in_fleet(document: Document, part: FleetPart, problem: Problem) -> Problem:
    """A problem of a part at the keys of the fleet's file."""

    def place_in_fleet(position: Path | Span) -> Path | Span:
        return path_in_fleet(document, part, position) if isinstance(position, tuple) else position

    fix = problem.fix
    if fix is not None:
        replacements = [replace(one, path=path_in_fleet(document, part, one.path)) for one in fix.replacements]
        fix = Fix(fix.description, tuple(replacements), fix.safe)
    related = tuple((place_in_fleet(where), text) for where, text in problem.related)
    path = path_in_fleet(document, part, problem.path)
    message, help_ = (_text_in_fleet(part, path, text) for text in (problem.message, problem.help))
    return replace(problem, path=path, related=related, fix=fix, message=message, help=help_)


def _text_in_fleet(part: FleetPart, path: Path, text: str) -> str:
    """The text of a problem in which the key names of the part are replaced by those of the fleet's file.

    Jobs of one pool share the problems of the pool, whose sentences name no job.
    """
    if path[:1] in {("pools",), ("jobs",)}:
        text = text.replace("`cluster.", f"`pools.{part.pool}.")
    if path[:1] == ("jobs",):
        for section in ("workload", "layout"):
            text = text.replace(f"`{section}.", f"`jobs.{part.job}.{section}.")
    return text


def problems_of_part(problems: Iterable[Problem]) -> list[Problem]:
    """The problems of reading a part of a fleet, without the one about missing `jobs`: the spec of a job lists the
    pools of its engines but no jobs.
    """
    return [each for each in problems if (each.rule, each.path) != ("missing-key", ("jobs",))]
