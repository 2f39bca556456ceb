"""Acceptance tests of a design, and their outcome in benchmark logs.

The tests are those of the spec. If it states none, the default tests of each tier are used, each with the low end of
the predicted range as its threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_table
from clusterspec.cost.measured import above_links_text, largest_possible_busbw, stated_bus_bandwidth
from clusterspec.logs.benchmarks.nccl_rows import RATE_TOLERANCE
from clusterspec.procurement.acceptance import acceptance_tests, benchmark_of, printed_limit, printed_size
from clusterspec.quantity import bus_factor
from clusterspec.records import dataclass, replace
from clusterspec.results.diagnosis import AcceptanceOutcome, Status
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display, plural, size_text

TYPE_CHECKING = False
if TYPE_CHECKING:  # a plan of tests needs none of the readers of logs
    from clusterspec.logs.benchmarks.benchmark import Benchmark, Series


@dataclass(frozen=True)
class AcceptanceCase:
    """One acceptance test: ``threshold`` is bus bandwidth in B/s; ``passes`` of ``runs`` must reach it on each of
    ``groups`` sets of nodes; ``size`` is in bytes, ``duration`` in seconds per run, None if not required.
    """

    name: str
    collective: str
    nodes: int
    ranks: int
    size: float
    threshold: float
    tool: str
    algorithm: str | None = None
    passes: int = 1
    runs: int = 1
    groups: int = 1
    duration: float | None = None
    possible: float | None = None
    """The bus bandwidth in B/s that no run over the links exceeds."""

    @property
    def printed_size(self) -> int:
        """The size in bytes that nccl-tests prints for ``size``."""
        return printed_size(self.collective, int(self.size), self.ranks)


def acceptance_cases(design: Design) -> tuple[tuple[AcceptanceCase, ...], bool, tuple[str, ...]]:
    """The tests; whether the spec states them; and the reasons why some entries of the spec cannot be run."""
    cluster = design.cluster
    if cluster is None:
        return (), False, ()
    stated = design.spec.acceptance
    if not stated and design.spec.unreadable(("acceptance",)):
        return (), True, ("acceptance: an entry cannot be read; `clusterspec check` reports details",)
    if not stated:
        return tuple(_with_limit_of_links(each, cluster) for each in _cases_of_design(cluster)), False, ()
    tests: list[AcceptanceCase] = []
    unclear: list[str] = []
    for number, entry in enumerate(stated):
        unread = sorted(str(path[2]) for path in design.spec.broken if path[:2] == ("acceptance", number) and path[2:])
        test = f"`{unread[0]}` cannot be read" if unread else _case_of_spec(entry, cluster)
        if isinstance(test, AcceptanceCase):
            tests.append(_with_limit_of_links(test, cluster))
        else:
            unclear.append(f"acceptance[{number}]: {test}")
    return tuple(_tests_with_unique_names(tests)), True, tuple(unclear)


def _with_limit_of_links(case: AcceptanceCase, cluster: Cluster) -> AcceptanceCase:
    group = contiguous_placement(cluster, case.ranks, case.nodes) if case.ranks > 1 else None
    if group is None:
        return case
    return replace(case, possible=largest_possible_busbw(cluster, case.collective, group))


def _cases_of_design(cluster: Cluster) -> tuple[AcceptanceCase, ...]:
    tests = []
    for each in acceptance_tests(cluster):
        try:
            row = collective_table(cluster, each.collective, each.ranks, (each.size,))[0]
        except CollectiveUnavailableError:
            continue
        name = _test_name(each.collective, each.nodes, each.size)
        limit = printed_limit(row.lowest_busbw)
        tests.append(AcceptanceCase(name, each.collective, each.nodes, each.ranks, each.size, limit, each.tool))
    return tuple(tests)


def _test_name(collective: str, nodes: int, size: float) -> str:
    return f"{collective}-{plural(nodes, 'node').replace(' ', '-')}-{size_text(size).replace(' ', '')}"


def _case_of_spec(entry: AcceptanceSpec, cluster: Cluster) -> AcceptanceCase | str:
    """A test of the spec, or the reason why it cannot be run."""
    ranks = entry.ranks or (entry.nodes * cluster.ranks_per_node if entry.nodes else None)
    if entry.collective is None or ranks is None or entry.size is None:
        missing = [
            key
            for key, value in (("collective", entry.collective), ("nodes or ranks", ranks), ("size", entry.size))
            if not value
        ]
        return f"{', '.join(missing)} missing"
    required = stated_bus_bandwidth(entry, entry.collective, ranks)
    if required is None:
        return "a collective of one rank has no bus bandwidth" if entry.algbw else "it requires no bandwidth"
    nodes = entry.nodes or cluster.nodes_of_ranks(ranks)
    passes, runs = entry.required_runs or (1, 1)
    set_nodes = entry.set_nodes
    if passes > runs:
        return f"`pass: {entry.passes}` requires more runs than there are"
    if set_nodes is not None and set_nodes > cluster.nodes:
        return f"`scope: {entry.scope}` is more than the {plural(cluster.nodes, 'node')} of the cluster"
    if set_nodes is not None and set_nodes < nodes:
        return f"`scope: {entry.scope}` has fewer nodes than the {plural(nodes, 'node')} of the test"
    return AcceptanceCase(
        name=_test_name(entry.collective, nodes, entry.size.value),
        collective=entry.collective,
        nodes=nodes,
        ranks=ranks,
        size=entry.size.value,
        threshold=required.value,
        tool=benchmark_of(cluster),
        algorithm=entry.algorithm,
        passes=passes,
        runs=runs,
        groups=cluster.nodes // set_nodes if set_nodes else 1,
        duration=entry.duration.value if entry.duration else None,
    )


def _tests_with_unique_names(tests: Sequence[AcceptanceCase]) -> list[AcceptanceCase]:
    """The tests with unique names."""
    seen: dict[str, int] = {}
    out = []
    for test in tests:
        count = seen[test.name] = seen.get(test.name, 0) + 1
        out.append(test if count == 1 else replace(test, name=f"{test.name}-{count}"))
    return out


def evaluate(
    tests: Sequence[AcceptanceCase], logs: Sequence[tuple[str, Benchmark]]
) -> tuple[tuple[AcceptanceOutcome, ...], tuple[tuple[str, str], ...]]:
    """The outcome of every test, and the logs that belong to no test, with the reason."""

    series, unused = _single_runs(logs)
    digests = {log: benchmark.sha256 for log, benchmark in logs}
    outcomes = tuple(_logged_outcome(test, series, digests) for test in tests)
    unused += [
        (log, f"{each.description}{_unlike_nodes(each, tests)}")
        for log, each in series
        if not any(_measures_test(each, test) for test in tests)
    ]
    unused += [(log, benchmark.reason_without_series) for log, benchmark in logs if not benchmark.series]
    return outcomes, tuple(unused)


def _single_runs(
    logs: Sequence[tuple[str, Benchmark]],
) -> tuple[list[tuple[str, Series]], list[tuple[str, str]]]:
    """The series of different runs, and the logs that repeat the figures of an earlier one or contradict themselves."""
    found: list[tuple[str, Series]] = []
    unused: list[tuple[str, str]] = []
    first: dict[object, int] = {}
    for number, (log, benchmark) in enumerate(logs):
        for each in benchmark.series:
            points = tuple((point.size, point.seconds, point.busbw) for point in each.points)
            origin = first.setdefault((each.collective, each.ranks, points), number)
            if origin != number:
                unused.append((log, f"it repeats the figures of {logs[origin][0]}, and one run counts once"))
            elif wrong := _contradicting_line(each):
                unused.append((log, f"line {wrong}: the bus bandwidth does not follow from the size and the time"))
            else:
                found.append((log, each))
    return found, unused


def _contradicting_line(series: Series) -> int:
    """The first line with a higher bus bandwidth than its size and time give for the number of ranks of the log; 0 if
    there is none.
    """
    if series.collective is None or series.ranks is None or series.ranks < 2 or series.jobs > 1:
        return 0
    factor = bus_factor(series.collective, series.ranks)
    return next(
        (
            point.line
            for point in series.points
            if point.seconds and point.busbw > factor * point.size / point.seconds * (1 + RATE_TOLERANCE) + ROUNDING
        ),
        0,
    )


ROUNDING = 0.05e9
"""B/s by which a printed bandwidth may be rounded."""


def _unlike_nodes(series: Series, tests: Sequence[AcceptanceCase]) -> str:
    """A text on the nodes of a series that has the collective and ranks of a test but another number of nodes; else
    empty.
    """
    alike = (test for test in tests if (test.collective, test.ranks) == (series.collective, series.ranks))
    test = next(alike, None)
    if test is None or series.nodes is None or series.nodes == test.nodes:
        return ""
    return f" of {plural(series.nodes, 'node')}, and the test is of {test.nodes}"


def _logged_outcome(
    test: AcceptanceCase, series: Sequence[tuple[str, Series]], digests: Mapping[str, str]
) -> AcceptanceOutcome:
    """The outcome of a test with the logs that measured it."""
    used = [(log, each) for log, each in series if _measures_test(each, test)]
    names = dict.fromkeys(log for log, _ in used)
    found = _test_outcome(test, [each for _, each in used])
    return replace(found, logs=tuple((log, digests[log]) for log in names))


def _measures_test(series: Series, test: AcceptanceCase) -> bool:
    """Whether a series ran the collective of a test on the same numbers of ranks and nodes, and with the same algorithm
    if both name one.

    If a log states the nodes but not the ranks, all accelerators of the nodes took part.
    """
    if series.collective != test.collective:
        return False
    if series.ranks != test.ranks and (series.ranks is not None or series.nodes is None):
        return False
    if series.nodes is not None and series.nodes != test.nodes:
        return False
    return not (series.algorithm and test.algorithm and series.algorithm != test.algorithm)


def _test_outcome(test: AcceptanceCase, series: Sequence[Series]) -> AcceptanceOutcome:
    """Pass, fail, impossible or not run. The figure shown is the lowest of all runs, or the impossible one."""

    def outcome(measured: float | None, state: Status, why: str) -> AcceptanceOutcome:
        return AcceptanceOutcome(test.name, test.threshold, measured, state, why)

    sizes = {test.size, test.printed_size}
    at_size = [rates for each in series if (rates := [p.busbw for p in each.points if p.size in sizes])]
    if not at_size:
        return outcome(None, "not-run", _no_row_text(test, series))
    lowest = [min(rates) for rates in at_size]
    measured, reached = min(lowest), sum(rate >= test.threshold for rate in lowest)
    runs, needed = plural(len(lowest), "run"), test.runs * test.groups
    if test.possible is not None and (highest := max(map(max, at_size))) > test.possible:
        return outcome(highest, "impossible", above_links_text(highest, test.possible))
    if wrong := sum(each.wrong for each in series):
        return outcome(measured, "fail", f"{wrong} wrong values in the results")
    if (failed := len(lowest) - reached) > (test.runs - test.passes) * test.groups:
        return outcome(measured, "fail", f"{failed} of {runs} below {display(test.threshold, 'B/s')}")
    if len(lowest) < needed:
        of_sets = f", on {test.groups} sets of nodes" if test.groups > 1 else ""
        return outcome(measured, "not-run", f"{len(lowest)} of {plural(needed, 'run')} found{of_sets}")
    return outcome(measured, "pass", "; ".join((f"{reached} of {runs} at or above it", *_doubts(series))))


def _doubts(series: Sequence[Series]) -> Iterator[str]:
    """What the logs of a passed test leave unproven."""
    if unchecked := sum(each.unchecked for each in series):
        yield f"the results of {unchecked} were not checked (`#wrong` is N/A)"
    if listed := [each.listed for each in series if each.listed is not None]:
        yield f"the list of {plural(len(listed), 'log')} has {plural(min(listed), 'rank')}: their nodes are not proven"


def _no_row_text(test: AcceptanceCase, series: Sequence[Series]) -> str:
    """Why no run has a figure at the size of a test."""
    if not series:
        return f"no log of {test.collective} on {plural(test.ranks, 'rank')}"
    largest = max(point.size for each in series for point in each.points)
    return f"the logs have no row of {size_text(test.size)}; their largest is {size_text(largest)}"
