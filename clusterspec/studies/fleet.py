"""Fleets: one study for each pool and each job, and the findings of all at the keys of the fleet's file.

A job becomes an ordinary spec: its pool is the `cluster`, the number of its nodes `layout.nodes`. The document of that
spec keeps the positions in the fleet's text; key paths of problems are mapped back before they become findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from clusterspec.cluster.fleet import Fleet, Job, Pool, node_sets, nodes_of_job
from clusterspec.document import Document, Places, merged_value
from clusterspec.finding import Fix, Problem
from clusterspec.records import dataclass, replace
from clusterspec.source import Path, Span

if TYPE_CHECKING:
    from clusterspec.studies.study import Study

MOST_PARTS = 50
"""Pools, and jobs, that are resolved: each is a design of its own."""
POOL_KEYS = frozenset({"phases", "measured", "acceptance", "prices"})
"""The keys of a pool that a cluster does not have."""
OF_ALL_POOLS = ("quote", "quoted_total", "budget", "payment")
"""Keys of `procurement` that count all pools together."""
Value = dict[str, Any]


# The document of a part of a fleet


@dataclass(frozen=True, slots=True)
class FleetPart:
    """The place of a pool, and of a job on it, in the file of a fleet."""

    pool: str
    job: str | None = None
    nodes: int | None = None
    """The nodes of the job where they are not all nodes of the pool."""

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
    pool = _mapping(whole, part.pool_path)
    job = _mapping(whole, part.path) if part.job is not None else {}
    top = {key: whole[key] for key in whole if key not in {"pools", "pool_links", "jobs", "workload", "layout"}}
    value: Value = top | {"cluster": {key: item for key, item in pool.items() if key not in POOL_KEYS}}
    value |= {key: pool[key] for key in ("measured", "acceptance") if key in pool}
    value |= {key: job[key] for key in ("workload", "layout") if key in job}
    if "operations" in job:
        value["operations"] = merged_value(whole.get("operations"), job["operations"])
    if part.nodes is not None and isinstance(value.get("layout"), dict):
        value["layout"] = value["layout"] | {"nodes": part.nodes}
    if "procurement" in value or "prices" in pool:
        value["procurement"] = _procurement(value.get("procurement"), pool, alone=len(_mapping(whole, ("pools",))) < 2)
    return value


def _procurement(section: object, pool: Value, *, alone: bool) -> object:
    """The section of one pool: with its prices, and without what counts all pools."""
    if section is not None and not isinstance(section, dict):
        return section
    kept = {key: item for key, item in (section or {}).items() if alone or key not in OF_ALL_POOLS}
    return merged_value(kept, {"prices": pool["prices"]}) if "prices" in pool else kept


def _mapping(value: object, path: Path) -> Value:
    """The mapping at a path; empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def path_in_fleet(document: Document, part: FleetPart, path: Path) -> Path:
    """The key path in the file of a fleet for one in the spec of a part."""
    head, rest = path[:1], path[1:]
    if head == ("cluster",):
        return (*part.pool_path, *rest)
    if part.job is not None and path == ("layout", "nodes") and (*part.path, *path) not in document.places:
        return (*part.path, "nodes")
    if part.job is not None and head in {("workload",), ("layout",)}:
        return (*part.path, *path)
    return _path_of_shared_section(document, part, path)


def _path_of_shared_section(document: Document, part: FleetPart, path: Path) -> Path:
    """The key path of a section that holds for all parts, or that the part has instead or in addition."""
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
    offsets = {path: known.get(path_in_fleet(document, part, path), top) for path in _paths(value)}
    return replace(document, value=value, places=Places(offsets))


def _paths(value: object) -> Iterator[Path]:
    """The paths of all values, outermost first."""
    waiting: list[tuple[Path, object]] = [((), value)]
    for path, item in waiting:
        yield path
        children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        waiting.extend(((*path, key), child) for key, child in children)


def problem_in_fleet(document: Document, part: FleetPart, problem: Problem) -> Problem:
    """A problem of a part at the keys of the fleet's file."""

    def moved(where: Path | Span) -> Path | Span:
        return path_in_fleet(document, part, where) if isinstance(where, tuple) else where

    fix = problem.fix
    if fix is not None:
        replacements = [replace(one, path=path_in_fleet(document, part, one.path)) for one in fix.replacements]
        fix = Fix(fix.description, tuple(replacements), fix.safe)
    related = tuple((moved(where), text) for where, text in problem.related)
    return replace(problem, path=path_in_fleet(document, part, problem.path), related=related, fix=fix)


# The studies of a fleet


@dataclass(frozen=True)
class FleetStudy:
    """The studies of the pools and jobs of a fleet, each made when it is first used."""

    study: Study
    """The study of the file: its text, its keys, and no design."""
    document: Document

    @cached_property
    def pools(self) -> dict[str, Study]:
        """The study of each pool, without a workload."""
        names = islice(_mapping(self.document.value, ("pools",)), MOST_PARTS)
        return {name: self._study(FleetPart(name)) for name in names if _mapping(self.document.value, ("pools", name))}

    @cached_property
    def jobs(self) -> dict[str, Study]:
        """The study of each job whose pool exists, on its part of the pool."""
        found = {}
        for name, job in islice((self.study.spec.jobs or {}).items(), MOST_PARTS):
            if job.pool in self._pools:
                pool, nodes = self._pools[job.pool], nodes_of_job(name, job, self._pools[job.pool].sets)
                found[name] = self._study(FleetPart(job.pool, name, nodes if nodes != pool.nodes else None))
        return found

    @cached_property
    def _pools(self) -> dict[str, Pool]:
        """The pools with their node sets."""
        spec, found = self.study.spec, {}
        for name, study in self.pools.items():
            if (written := (spec.pools or {}).get(name)) is not None:
                cluster = study.design.cluster
                nodes = cluster.nodes if cluster else written.nodes
                found[name] = Pool(name, written, cluster, nodes, node_sets(spec, name, nodes), study.design)
        return found

    @cached_property
    def fleet(self) -> Fleet:
        """The resolved fleet: which job has which nodes."""
        jobs = {}
        for name, job in (self.study.spec.jobs or {}).items():
            sets = self._pools[job.pool].sets if job.pool in self._pools else ()
            design = self.jobs[name].design if name in self.jobs else None
            jobs[name] = Job(name, job, nodes_of_job(name, job, sets), design)
        return Fleet(self.study.spec, self._pools, jobs)

    def job_on(self, pool: str, job: str, nodes: int) -> Study:
        """The study of a job on ``nodes`` nodes of any pool."""
        return self._study(FleetPart(pool, job, nodes))

    def _study(self, part: FleetPart) -> Study:
        from clusterspec.studies.study import study_of_document

        return study_of_document(self.study, part_document(self.document, part), (self.document, part))

    @cached_property
    def found(self) -> tuple[list[Problem], Exception | None]:
        """The problems of the file, of all parts and of the fleet, at the keys of the file, and the first exception."""
        used = {job.pool for job in (self.study.spec.jobs or {}).values()}
        parts = [*self.jobs.values(), *(study for name, study in self.pools.items() if name not in used)]
        of_fleet, fault = self._fleet_problems()
        faults = [fault, *(part.found[1] for part in parts)]
        of_parts = [problem for part in parts for problem in part.problems_in_file]
        kept = [problem for problem in of_parts if problem.rule not in SURPLUS or self._holds_for_all(problem)]
        problems = _merged_problems([*self.study.problems, *_size_problems(self.document)], [*of_fleet, *kept])
        return problems, next((each for each in faults if each is not None), None)

    def _holds_for_all(self, problem: Problem) -> bool:
        """Whether all jobs of a pool report a problem of the pool."""
        same = (problem.rule, problem.path)
        studies = [self.jobs[name] for name, job in self.fleet.jobs.items() if ("pools", job.spec.pool) == same[1][:2]]
        return all(any((one.rule, one.path) == same for one in each.problems_in_file) for each in studies)

    def _fleet_problems(self) -> tuple[list[Problem], Exception | None]:
        """The problems of the rules about the fleet as a whole, and the exception of one that failed."""
        from clusterspec import rules

        facts = self.study.facts()
        facts.fleet = self.fleet
        try:
            return rules.run_rules(facts, rules.of_group("fleet")), None
        except rules.RulesFailedError as crash:
            return crash.problems, crash


def _size_problems(document: Document) -> Iterator[Problem]:
    """The problems of a fleet without pools or jobs, or with more than are resolved."""
    for key in ("pools", "jobs"):
        section = document.value.get(key)
        if section == {}:
            yield Problem("missing-key", (key,), f"`{key}` is empty", "name at least one, or describe one `cluster`")
        elif isinstance(section, dict) and len(section) > MOST_PARTS:
            message = f"`{key}` has {len(section)} entries, and only the first {MOST_PARTS} are checked"
            yield Problem("wrong-type", (key,), message, "split the fleet into several specs")


SURPLUS = frozenset({"storage-oversized-for-checkpoints"})
"""Rules on parts of a pool that are more than one job needs; another job of the pool may need them."""
NAMED_BY_PARTS = frozenset({"missing-direction", "missing-sparsity", "unreadable-quantity"})
"""Problems of reading that say more with the catalog, which only a part looks up."""


def _merged_problems(of_file: Iterable[Problem], of_parts: Iterable[Problem]) -> list[Problem]:
    """All problems, each once: the parts read the keys of the file again, and jobs of one pool share its problems."""
    file, parts = list(of_file), list(of_parts)
    named = {(one.rule, one.path) for one in parts if one.rule in NAMED_BY_PARTS}
    kept = [one for one in file if (one.rule, one.path) not in named]
    read = {(one.rule, one.path) for one in kept}
    kept += [one for one in parts if (one.rule, one.path) not in read]
    return [*{(one.rule, one.path, one.message): one for one in reversed(kept)}.values()][::-1]
