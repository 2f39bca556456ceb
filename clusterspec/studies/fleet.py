"""Fleets: one study for each pool and each job, and the findings of all at the keys of the fleet's file.

A job becomes an ordinary spec: its pool is the `cluster`, the number of its nodes `layout.nodes`. The document of that
spec keeps the positions in the fleet's text; key paths of problems are mapped back before they become findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from clusterspec.cluster.fleet import (
    EnginesAway,
    Fleet,
    Job,
    NodeSet,
    Pool,
    engines_away,
    main_pool,
    node_sets,
    nodes_beside_trainer,
    nodes_of_job,
    pools_of_job,
)
from clusterspec.document import Document, Places, merged_value
from clusterspec.finding import Fix, Problem, Severity
from clusterspec.records import dataclass, replace
from clusterspec.source import Path, Span, value_at

if TYPE_CHECKING:
    from clusterspec.spec.model import JobSpec
    from clusterspec.studies.study import Study

MOST_PARTS = 50
"""Pools, and jobs, that are resolved: each is a design of its own."""
POOL_KEYS = frozenset({"phases", "measured", "acceptance", "prices"})
"""The keys of a pool that a cluster does not have."""
OF_ALL_POOLS = ("quote", "quoted_total", "budget", "payment")
"""Keys of `procurement` that count all pools together."""
OF_ALL_MACHINES = ("power_budget",)
"""Keys of `operations` that count all pools together."""
Value = dict[str, Any]


# The document of a part of a fleet


@dataclass(frozen=True)
class FleetPart:
    """The place of a pool, and of a job on it, in the file of a fleet."""

    pool: str
    job: str | None = None
    nodes: int | None = None
    """The nodes of the job where they are not all nodes of the pool."""
    away: tuple[EnginesAway, ...] = ()
    """The engines of the job that are on other pools than ``pool``."""
    beside: int = 0
    """Of ``nodes``, those of rollout and of models beside the trainer, whose nodes are ``layout.nodes``."""
    link_share: float = 1.0
    """The share of the link to ``away`` that other jobs leave the job."""

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
    pool = _mapping_at(whole, part.pool_path)
    job = _mapping_at(whole, part.path) if part.job is not None else {}
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
    if part.nodes is not None and isinstance(value.get("layout"), dict):
        value["layout"] = value["layout"] | {"nodes": max(1, part.nodes - part.beside)}
        rollout = _mapping_at(value.get("workload"), ("rl", "rollout"))
        if part.beside and "nodes" not in rollout and "pool" not in rollout:
            rl = value["workload"]["rl"]
            value["workload"] = value["workload"] | {"rl": rl | {"rollout": rollout | {"nodes": part.beside}}}
    if "procurement" in value or "prices" in pool:
        value["procurement"] = _procurement(
            value.get("procurement"), pool, alone=len(_mapping_at(whole, ("pools",))) < 2
        )
    return value


ENGINES: tuple[Path, ...] = (
    *(("serving", "disaggregated", side) for side in ("prefill", "decode")),
    *(("rl", role) for role in ("rollout", "reference", "critic", "reward")),
)
"""The mappings of a workload that may name a pool."""


def _engines_value(whole: Value, part: FleetPart, value: Value) -> Value:
    """The keys of a job whose engines name pools: the pools that are not its own, with their links.

    The engines on the pool of the part name none: ``pool`` is left where the engines are on another one.
    """
    named = any("pool" in _mapping_at(value.get("workload"), path) for path in ENGINES)
    if not named:
        return {}
    away = {each.path[1:]: each.pool for each in part.away}
    workload = value["workload"]
    for path in ENGINES:
        if path in away or _mapping_at(workload, path):
            workload = _with_pool(workload, path, away.get(path))
    others = {name: _mapping_at(whole, ("pools", name)) for name in away.values()}
    links = whole.get("pool_links")
    joined = [link for link in links if _link_joins(link, part.pool, others)] if isinstance(links, list) else []
    kept = [link | _left_share(link, part.link_share) for link in joined]
    return {"workload": workload, "pools": others} | ({"pool_links": kept} if kept else {})


def _left_share(link: Value, left: float) -> Value:
    """The share of a link that others leave a job; empty where they leave all of it."""
    stated = link.get("share", 1.0)
    return {"share": stated * left} if left < 1 and isinstance(stated, int | float) else {}


def _with_pool(value: Value, path: Path, pool: str | None) -> Value:
    """The mapping with another ``pool`` in the mapping at a path; None removes it."""
    if not path:
        return {key: item for key, item in value.items() if key != "pool"} | ({"pool": pool} if pool else {})
    head, rest = str(path[0]), path[1:]
    return value | {head: _with_pool(_mapping_at(value, (head,)), rest, pool)}


def _link_joins(link: object, pool: str, others: Iterable[str]) -> bool:
    """Whether a link joins a pool with one of others."""
    ends = link.get("between") if isinstance(link, dict) else None
    return isinstance(ends, list) and pool in ends and any(each in ends for each in others)


def _procurement(section: object, pool: Value, *, alone: bool) -> object:
    """The `procurement` section of one pool: with its prices, and without amounts for all pools."""
    if section is not None and not isinstance(section, dict):
        return section
    kept = {key: item for key, item in (section or {}).items() if alone or key not in OF_ALL_POOLS}
    return merged_value(kept, {"prices": pool["prices"]}) if "prices" in pool else kept


def _mapping_at(value: object, path: Path) -> Value:
    """The mapping at a path; empty where there is none."""
    found = value_at(value, *path)
    return found if isinstance(found, dict) else {}


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

    def place_in_fleet(where: Path | Span) -> Path | Span:
        return path_in_fleet(document, part, where) if isinstance(where, tuple) else where

    fix = problem.fix
    if fix is not None:
        replacements = [replace(one, path=path_in_fleet(document, part, one.path)) for one in fix.replacements]
        fix = Fix(fix.description, tuple(replacements), fix.safe)
    related = tuple((place_in_fleet(where), text) for where, text in problem.related)
    return replace(problem, path=path_in_fleet(document, part, problem.path), related=related, fix=fix)


# The studies of a fleet


@dataclass(frozen=True)
class FleetStudy:
    """The studies of the pools and jobs of a fleet, each made when it is first used."""

    study: Study
    """The study of the file: its text, its keys, and no design."""
    document: Document

    @property
    def _written_jobs(self) -> Mapping[str, JobSpec]:
        """The jobs as written."""
        return self.study.spec.jobs or {}

    @cached_property
    def pools(self) -> dict[str, Study]:
        """The study of each pool, without a workload."""
        names = islice(_mapping_at(self.document.value, ("pools",)), MOST_PARTS)
        return {
            name: self._study(FleetPart(name)) for name in names if _mapping_at(self.document.value, ("pools", name))
        }

    @cached_property
    def jobs(self) -> dict[str, Study]:
        """The study of each job whose pool exists, on its part of the pool, with the link bandwidth that other
        jobs leave."""
        parts = {name: replace(self._job_part(name), link_share=share) for name, share in self.link_shares.items()}
        return self._studies_alone | {name: self._study(part) for name, part in parts.items()}

    @cached_property
    def link_shares(self) -> Mapping[str, float]:
        """The share of the link to its engines on another pool that others leave a job, where it is less than 1."""
        sending = [name for name, job in self._written_jobs.items() if engines_away(job)]
        if len(sending) < 2 or not self.study.spec.pool_links:
            return {}
        from clusterspec.rules.knowledge.shared_links import shares_of_links

        return shares_of_links(self.fleet)

    @cached_property
    def _studies_alone(self) -> dict[str, Study]:
        """The study of each job, with links of its own."""
        found = {}
        for name, job in islice(self._written_jobs.items(), MOST_PARTS):
            if main_pool(job) in self._pools and all(pool in self._pools for pool in pools_of_job(job)):
                found[name] = self._study(self._job_part(name))
        return found

    def _job_part(self, name: str) -> FleetPart:
        """The part of a job on the machine of its main pool."""
        job = self._written_jobs[name]
        main = self._pools[main_pool(job) or ""]
        if main.name == job.pool:
            nodes = nodes_of_job(name, job, main.sets)
        else:
            nodes = _nodes_of_engines(name, "decode", main.sets)
        return _part_of_job(main.name, name, job, None if nodes == main.nodes else nodes)

    @cached_property
    def _pools(self) -> dict[str, Pool]:
        """The pools with their node sets."""
        spec, found = self.study.spec, {}
        for name, study in self.pools.items():
            if (written := (spec.pools or {}).get(name)) is not None:
                cluster = study.design.cluster
                nodes = cluster.nodes if cluster else written.nodes
                ranks = cluster.ranks_per_node if cluster else None
                found[name] = Pool(name, written, cluster, nodes, node_sets(spec, name, nodes, ranks), study.design)
        return found

    @cached_property
    def fleet(self) -> Fleet:
        """The resolved fleet: which job has which nodes. The design of a job is that with links of its own."""
        jobs = {}
        for name, job in self._written_jobs.items():
            sets = self._pools[job.pool].sets if job.pool in self._pools else ()
            design = self._studies_alone[name].design if name in self._studies_alone else None
            jobs[name] = Job(name, job, nodes_of_job(name, job, sets), design)
        return Fleet(self.study.spec, self._pools, jobs)

    def job_on(self, pool: str, job: str, nodes: int) -> Study:
        """The study of a job on ``nodes`` nodes of any pool."""
        part = _part_of_job(pool, job, self._written_jobs[job], nodes)
        return self._study(replace(part, link_share=self.link_shares.get(job, 1.0)))

    def _study(self, part: FleetPart) -> Study:
        from clusterspec.studies.study import study_of_document

        return study_of_document(self.study, part_document(self.document, part), (self.document, part))

    @cached_property
    def problems_and_fault(self) -> tuple[list[Problem], Exception | None]:
        """The problems of the file, of all parts and of the fleet, at the keys of the file, and the first exception."""
        used = {pool for job in self._written_jobs.values() for pool in pools_of_job(job)}
        parts = [*self.jobs.values(), *(study for name, study in self.pools.items() if name not in used)]
        of_fleet, fault = self._fleet_problems()
        faults = [fault, *(part.problems_and_fault[1] for part in parts)]
        of_parts = _part_problems([(one, part.fleet_part) for part in parts for one in part.problems_in_file])
        kept = [problem for problem in of_parts if problem.rule not in SURPLUS or self._holds_for_all(problem)]
        problems = _merged_problems(
            [*self.study.problems, *_size_problems(self.document), *_step_problems(self.document)], [*of_fleet, *kept]
        )
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
            return rules.run_rules(facts, rules.rules_of_group("fleet")), None
        except rules.RulesFailedError as crash:
            return crash.problems, crash


def _part_of_job(pool: str, name: str, job: JobSpec, nodes: int | None) -> FleetPart:
    """The part of a job with ``nodes`` nodes (None: all) of a pool, and with its engines on other pools."""
    away = {each.role: each for each in engines_away(job)}
    if "decode" in away and "prefill" not in away:  # prefill is on the pool of the job, named or not
        away["prefill"] = EnginesAway("prefill", job.pool or "", ("workload", *ENGINES[0]), None)
    beside = nodes_beside_trainer(job)
    if nodes is not None and beside is None:
        beside = nodes // 2  # rollout takes half of the nodes, as on a machine of its own
    kept = tuple(each for each in away.values() if each.pool != pool)
    return FleetPart(pool, name, nodes, kept, beside or 0)


def _nodes_of_engines(job: str, role: str, sets: Iterable[NodeSet]) -> int | None:
    """The nodes that the engines of a job have on a pool that is not its own."""
    return next((each.nodes for each in sets if each.path and job in each.jobs and each.path[-1] == role), None)


def _size_problems(document: Document) -> Iterator[Problem]:
    """The problems of a fleet without pools or jobs, or with more than are resolved."""
    for key in ("pools", "jobs"):
        section = document.value.get(key)
        if section == {}:
            yield Problem("missing-key", (key,), f"`{key}` is empty", "name at least one, or describe one `cluster`")
        elif isinstance(section, dict) and len(section) > MOST_PARTS:
            message = f"`{key}` has {len(section)} entries, and only the first {MOST_PARTS} are checked"
            yield Problem("wrong-type", (key,), message, "split the fleet into several specs")


def _step_problems(document: Document) -> Iterator[Problem]:
    """The measured steps of a fleet of several jobs, which does not say whose they are."""
    jobs = _mapping_at(document.value, ("jobs",))
    sections: list[Path] = [
        ("measured",),
        *(("pools", name, "measured") for name in _mapping_at(document.value, ("pools",))),
    ]
    for path in sections if len(jobs) > 1 else ():
        entries = _mapping_at(document.value, path[:-1]).get("measured")
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            key = next((key for key in ("step_time", "step_log") if isinstance(entry, dict) and key in entry), None)
            if key is not None:
                message = f"a step is measured, and {len(jobs)} jobs may have run it: it is not used"
                at = (*path, number, key)
                yield Problem(
                    "unused-measurement", at, message, "state it in a spec of the job", severity=Severity.NOTE
                )


SURPLUS = frozenset({"storage-oversized-for-checkpoints"})
"""Rules on parts of a pool that are more than one job needs; another job of the pool may need them."""
NAMED_BY_PARTS = frozenset({"missing-direction", "missing-sparsity", "unreadable-quantity"})
"""Problems of reading that say more with the catalog, which only a part looks up."""


def _part_problems(of_parts: Iterable[tuple[Problem, tuple[Document, FleetPart] | None]]) -> list[Problem]:
    """The problems of the parts; where parts differ in what they say at a key of all of them, each names its part: the
    pool, or the job where jobs of one pool differ.
    """
    found = [(one, part[1] if part else None) for one, part in of_parts]
    named: dict[tuple[str, Path], dict[str, list[FleetPart]]] = {}
    for one, part in found:
        if part is not None and one.path[:1] not in {("jobs",), ("pool_links",)}:
            named.setdefault((one.rule, one.path), {}).setdefault(one.message, []).append(part)
    return [_problem_with_parts(one, named.get((one.rule, one.path), {})) for one, _ in found]


def _problem_with_parts(problem: Problem, by_message: Mapping[str, Sequence[FleetPart]]) -> Problem:
    """The problem with the parts that it is about, where other parts have another message at its key."""
    if len(by_message) < 2:
        return problem
    pools = [{part.pool for part in parts} for parts in by_message.values()]
    apart = sum(map(len, pools)) == len(set().union(*pools))
    kind = "pool" if apart else "job"
    own = by_message[problem.message]
    names = dict.fromkeys(part.pool if apart or part.job is None else part.job for part in own)
    return replace(problem, message=f"{kind} {', '.join(f'`{name}`' for name in names)}: {problem.message}")


def _merged_problems(of_file: Iterable[Problem], of_parts: Iterable[Problem]) -> list[Problem]:
    """All problems, each once: the parts read the keys of the file again, and jobs of one pool share its problems."""
    file, parts = list(of_file), list(of_parts)
    named = {(one.rule, one.path) for one in parts if one.rule in NAMED_BY_PARTS}
    kept = [one for one in file if (one.rule, one.path) not in named]
    read = {(one.rule, one.path) for one in kept}
    kept += [one for one in parts if (one.rule, one.path) not in read]
    return [*{(one.rule, one.path, one.message): one for one in reversed(kept)}.values()][::-1]
