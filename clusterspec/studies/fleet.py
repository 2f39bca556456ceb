"""Fleets: one study for each pool and each job, and the findings of all at the keys of the fleet's file.

A job becomes an ordinary spec: its pool is the `cluster`, the number of its nodes `layout.nodes`. The document of that
spec keeps the positions in the fleet's text; key paths of problems are mapped back before they become findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from clusterspec.cluster.fleet import (
    EnginesAway,
    Fleet,
    Job,
    NodeSet,
    Pool,
    engines_on_other_pools,
    main_pool,
    node_sets,
    nodes_of_job,
    nodes_of_separate_roles,
    pools_of_job,
)
from clusterspec.document import Document
from clusterspec.finding import Problem, Severity
from clusterspec.records import dataclass, replace
from clusterspec.source import Path
from clusterspec.studies.fleet_parts import ENGINES, FleetPart, mapping_at, part_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.rules import Facts
    from clusterspec.spec.model import JobSpec
    from clusterspec.studies import Study

MOST_PARTS = 50
"""Maximum number of pools and of jobs that are resolved; each is a separate design."""


@dataclass(frozen=True)
class FleetStudy:
    """The studies of the pools and jobs of a fleet, each made when it is first used."""

    study: Study
    """The study of the file: its text, its keys, and no design."""
    document: Document

    @property
    def _written_jobs(self) -> Mapping[str, JobSpec]:
        """The jobs as the spec states them, before pools and nodes are resolved."""
        return self.study.spec.jobs or {}

    @cached_property
    def pools(self) -> dict[str, Study]:
        """The study of each pool, without a workload."""
        names = islice(mapping_at(self.document.value, ("pools",)), MOST_PARTS)
        return {
            name: self._study(FleetPart(name)) for name in names if mapping_at(self.document.value, ("pools", name))
        }

    @cached_property
    def jobs(self) -> dict[str, Study]:
        """The study of each job whose pool exists, on its part of the pool and with its share of links to other
        pools.
        """
        parts = {name: replace(self._job_part(name), link_share=share) for name, share in self.link_shares.items()}
        return self._unshared_studies | {name: self._study(part) for name, part in parts.items()}

    @cached_property
    def link_shares(self) -> Mapping[str, float]:
        """The share of the link that other jobs leave to each job with engines on another pool; only shares below 1."""
        sending = [name for name, job in self._written_jobs.items() if engines_on_other_pools(job)]
        if len(sending) < 2 or not self.study.spec.pool_links:
            return {}
        from clusterspec.rules.knowledge.shared_links import shares_of_links

        return shares_of_links(self.fleet)

    @cached_property
    def _unshared_studies(self) -> dict[str, Study]:
        """The study of each job, with links not shared with other jobs."""
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
        return replace(_part_of_job(main.name, name, job, None if nodes == main.nodes else nodes), idle=main.idle_nodes)

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
        """The resolved fleet: the nodes of each job. Each job's design assumes links not shared with other jobs."""
        jobs = {}
        for name, job in self._written_jobs.items():
            sets = self._pools[job.pool].sets if job.pool in self._pools else ()
            design = self._unshared_studies[name].design if name in self._unshared_studies else None
            jobs[name] = Job(name, job, nodes_of_job(name, job, sets), design)
        return Fleet(self.study.spec, self._pools, jobs)

    def _quote_problems(self, facts: Facts) -> Iterator[Problem]:
        """The problems with lines of the common quote that occur with every pool."""
        from clusterspec import rules

        procurement = self.study.spec.procurement
        designs = [pool.design for pool in self.fleet.pools.values() if pool.design is not None]
        if procurement is None or not procurement.quote or len(designs) < len(self.fleet.pools):
            return
        every = []
        for design in designs:
            stated = replace(design.spec.procurement or procurement, quote=procurement.quote)
            spec = replace(design.spec, procurement=stated)
            every.append(rules.run_rules(facts.for_spec(spec, design), OF_LINES))
        for problem in every[0]:
            same = [[one for one in found if (one.rule, one.path) == (problem.rule, problem.path)] for found in every]
            if problem.path[:2] == ("procurement", "quote") and all(same):
                alike = all(one[0].message == problem.message for one in same)
                yield problem if alike else replace(problem, message=f"{problem.message}; no other pool fits it either")

    def job_study(self, pool: str, job: str, nodes: int) -> Study:
        """The study of a job on ``nodes`` nodes of any pool."""
        part = _part_of_job(pool, job, self._written_jobs[job], nodes)
        return self._study(replace(part, link_share=self.link_shares.get(job, 1.0)))

    def _study(self, part: FleetPart) -> Study:
        """The study of a part of the fleet. Its document has the text of the whole fleet."""
        from clusterspec.studies import ReadText, resolved_study

        whole = self.study
        text = ReadText(whole.input, whole.source, whole.settings, whole.folder)
        own = (self.document, replace(part, fleet=self))
        steps = part.job is not None and len(whole.spec.jobs or ()) == 1
        found = resolved_study(text, part_document(self.document, part), (), whole=False, steps=steps)
        return replace(found, design=replace(found.design, shares_machine=True), fleet_part=own)

    @cached_property
    def problems_and_fault(self) -> tuple[list[Problem], Exception | None]:
        """The problems of the file, of all parts and of the fleet, at the keys of the file, and the first exception."""
        main = {main_pool(self._written_jobs[name]) for name in self.jobs}
        parts = [*self.jobs.values(), *(study for name, study in self.pools.items() if name not in main)]
        of_fleet, fault = self._fleet_problems()
        faults = [fault, *(part.problems_and_fault[1] for part in parts)]
        of_parts = _part_problems([(one, part.fleet_part) for part in parts for one in part.problems_in_file])
        kept = [problem for problem in of_parts if problem.rule not in SURPLUS or self._holds_for_all(problem)]
        kept = [
            problem
            for problem in kept
            if problem.rule not in OF_POOL or problem.path[1:2] not in self._shared_pool_paths
        ]
        of_pools = (one for (name,) in self._shared_pool_paths for one in self.pools[name].problems_in_file)
        kept += [problem for problem in of_pools if problem.rule in OF_POOL]
        problems = _merged_problems(
            [*self.study.problems, *_size_problems(self.document), *_step_problems(self.document)], [*of_fleet, *kept]
        )
        return problems, next((each for each in faults if each is not None), None)

    @property
    def _shared_pool_paths(self) -> list[tuple[str]]:
        """The names of pools that several jobs share, as parts of key paths."""
        found = self.fleet.pools.items()
        return [(name,) for name, pool in found if len([job for each in pool.sets for job in each.jobs]) > 1]

    def _holds_for_all(self, problem: Problem) -> bool:
        """Whether a problem applies to a pool as a whole: all jobs on it, and on pools that use its storage system,
        report it.
        """
        same, store_pool = (problem.rule, problem.path), self.fleet.store_pool
        jobs = self.fleet.jobs.items()
        there = (name for name, job in jobs if ("pools", store_pool(job.spec.pool or "")) == same[1][:2])
        studies = [self.jobs[name] for name in there if name in self.jobs]
        return all(any((one.rule, one.path) == same for one in each.problems_in_file) for each in studies)

    def _fleet_problems(self) -> tuple[list[Problem], Exception | None]:
        """The problems of the rules about the whole fleet, and the exception of a failed rule."""
        from clusterspec import rules

        facts = self.study.facts()
        facts.fleet = self.fleet
        several = len(self.fleet.pools) > 1
        try:
            found = rules.run_rules(facts, (*rules.rules_of_group("fleet"), *(OF_SHARED_KEYS if several else ())))
            return [*found, *(self._quote_problems(facts) if several else ())], None
        except rules.RulesFailedError as crash:
            return crash.problems, crash


def _part_of_job(pool: str, name: str, job: JobSpec, nodes: int | None) -> FleetPart:
    """The part of a job with ``nodes`` nodes (None: all) of a pool, and with its engines on other pools."""
    away = {each.role: each for each in engines_on_other_pools(job)}
    if "decode" in away and "prefill" not in away:  # prefill is on the pool of the job, named or not
        away["prefill"] = EnginesAway("prefill", job.pool or "", ("workload", *ENGINES[0]), None)
    separate = nodes_of_separate_roles(job)
    if nodes is not None and separate is None:
        separate = nodes // 2  # rollout takes half of the nodes, as on a machine of its own
    kept = tuple(each for each in away.values() if each.pool != pool)
    return FleetPart(pool, name, nodes, kept, separate or 0)


def _nodes_of_engines(job: str, role: str, sets: Iterable[NodeSet]) -> int | None:
    """The nodes of a job's engines on a pool other than the job's."""
    return next((each.nodes for each in sets if each.path and job in each.jobs and each.path[-1] == role), None)


def _size_problems(document: Document) -> Iterator[Problem]:
    """The problems with a fleet without pools or jobs, or with more than are resolved."""
    for key in ("pools", "jobs"):
        section = document.value.get(key)
        if section == {}:
            yield Problem("missing-key", (key,), f"`{key}` is empty", "name at least one, or describe one `cluster`")
        elif isinstance(section, dict) and len(section) > MOST_PARTS:
            message = f"`{key}` has {len(section)} entries, and only the first {MOST_PARTS} are checked"
            yield Problem("wrong-type", (key,), message, "split the fleet into several specs")


def _step_problems(document: Document) -> Iterator[Problem]:
    """The problem with measured steps in a fleet of several jobs, where it is unknown which job a step belongs to."""
    jobs = mapping_at(document.value, ("jobs",))
    sections: list[Path] = [
        ("measured",),
        *(("pools", name, "measured") for name in mapping_at(document.value, ("pools",))),
    ]
    for path in sections if len(jobs) > 1 else ():
        entries = mapping_at(document.value, path[:-1]).get("measured")
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            key = next(
                (
                    key
                    for key in ("step_time", "step_log", "tpot", "load_test")
                    if isinstance(entry, dict) and key in entry
                ),
                None,
            )
            if key is not None:
                what = "a step" if key.startswith("step") else "the time per output token"
                message = f"{what} is measured, and {len(jobs)} jobs may have run it: it is not used"
                at = (*path, number, key)
                yield Problem(
                    "unused-measurement", at, message, "state it in a spec of the job", severity=Severity.NOTE
                )


SURPLUS = frozenset({"storage-oversized-for-checkpoints"})
"""Rules about parts of a pool in excess of one job's need; another job of the pool may need them."""
OF_SHARED_KEYS = (
    *("contract-clause-unmet", "delivery-ends-before-site", "energy-beside-rent", "funding-short-of-quote"),
    *("insured-below-value", "lapses-before-needed", "management-ports-short", "mixed-airflow"),
    *("offer-expires-before-order", "payment-before-acceptance", "piece-above-load-limit", "price-off-text"),
    *("quote-arithmetic", "quote-cabling-unfit", "quote-condition-unmet", "quote-for-another-region"),
    "switch-software-unfit",
)
"""Rules about `procurement` keys that cover all pools together. The specs of single pools do not have these keys."""
OF_LINES = (
    *("quote-condition-unmet", "quote-names-other-part", "quote-pays-twice", "quote-text-off-design"),
    *("quote-text-off-part", "warranty-shorter-than-term"),
)
"""Rules that compare lines of a quote with a machine: a line of a common quote is wrong where it fits no pool."""
OF_POOL = frozenset({"procurement-without-spares"})
"""Rules about nodes that jobs leave idle. They apply to a shared pool as a whole, without its jobs."""
NAMED_BY_PARTS = frozenset({"missing-direction", "missing-sparsity", "unreadable-quantity"})
"""Rules about reading whose messages contain more if the catalog is available, which is only so for parts."""


def _part_problems(of_parts: Iterable[tuple[Problem, tuple[Document, FleetPart] | None]]) -> list[Problem]:
    """The problems of all parts. If parts have different messages at a shared key, each message names its part: the
    pool, or the job if jobs of one pool differ.
    """
    found = [(one, part[1] if part else None) for one, part in of_parts]
    named: dict[tuple[str, Path], dict[str, list[FleetPart]]] = {}
    for one, part in found:
        if part is not None and one.path[:1] not in {("jobs",), ("pool_links",)}:
            named.setdefault((one.rule, one.path), {}).setdefault(one.message, []).append(part)
    return [_problem_with_parts(one, named.get((one.rule, one.path), {})) for one, _ in found]


def _problem_with_parts(problem: Problem, by_message: Mapping[str, Sequence[FleetPart]]) -> Problem:
    """The problem, with the names of its parts if other parts have a different message at the same key."""
    if len(by_message) < 2:
        return problem
    pools = [{part.pool for part in parts} for parts in by_message.values()]
    apart = sum(map(len, pools)) == len(set().union(*pools))
    kind = "pool" if apart else "job"
    own = by_message[problem.message]
    names = dict.fromkeys(part.pool if apart or part.job is None else part.job for part in own)
    return replace(problem, message=f"{kind} {', '.join(f'`{name}`' for name in names)}: {problem.message}")


def _merged_problems(of_file: Iterable[Problem], of_parts: Iterable[Problem]) -> list[Problem]:
    """All problems, each once with its highest severity.

    The parts read the keys of the file again, and jobs of one pool share its problems.
    """
    file, parts = list(of_file), list(of_parts)
    named = {(one.rule, one.path) for one in parts if one.rule in NAMED_BY_PARTS}
    kept = [one for one in file if (one.rule, one.path) not in named]
    read = {(one.rule, one.path) for one in kept}
    kept += [one for one in parts if (one.rule, one.path) not in read]
    merged: dict[tuple[str, Path, str], Problem] = {}
    for one in kept:
        same = merged.setdefault((one.rule, one.path, one.message), one)
        if one.severity.rank < same.severity.rank:
            merged[one.rule, one.path, one.message] = one
    return [*merged.values()]
