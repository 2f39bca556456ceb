"""How far first predictions of runs lie off: the bands of the catalog's stacks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, hypot, log1p, sqrt
from statistics import mean

from clusterspec import resources
from clusterspec.cost import parameters
from clusterspec.cost.estimate import RUN_TO_RUN, SPREADS
from tools.accuracy.cases import published_runs
from tools.accuracy.split import BEFORE
from tools.fit.constants import unfitted_runs
from tools.fit.evidence import Evidence, effective_sources
from tools.fit.held_out import Errors
from tools.fit.runs import Run

HELD = 0.8
"""The share of first predictions that must lie within the whole range, including its allowances for exposed
communication, stragglers, the host and few sources on the accelerator. Each source counts alike, because a user's run
resembles a source, not one of many rows of a table.

First predictions are those made when the rows of a source were entered, before anything was changed for them. Errors of
a source that is left out of a fit are smaller: its rows were described, and what the model counts was chosen, with them
in sight. The allowances are those of the evidence at that time.

The range with experts is at least as wide as the range without, because all its uncertainties apply too. No range of
software is narrower than two runs of one description differ (`RUN_TO_RUN`), also where the other allowances hold this
share without it.
"""
FAMILIES_HELD = 0.9
"""The share of runs that must lie within the widened range of a group without any measurement. Groups are few and
different.
"""
FEWEST = 5
"""Sources with which a kind of runs has a width of its own. Four in five sources, the share that must be inside, are
less than all of them from this number.
"""
PROGRAMS = ("torchtitan", "fsdp", "deepspeed", "custom", "llm-c", "llmq", "nanotron")
"""What the names of stacks begin with whose users bring or change the layers: torchtitan, the libraries PyTorch FSDP
and DeepSpeed, and programs to which nothing was fitted. All other stacks are trainers with layers of their own. Each of
the two kinds has one range: a generation has few sources, and the years of software do not tell its errors apart.
"""
SEEN = (True, False)
"""Whether another source ran the framework and precision of a run on its chip before."""
ROUNDING = 1e-9
"""Rounding error of a sum of weights."""
ATTENTION = 0.75
"""Share of a run's FLOPs that attention may have where its utilization is recorded."""


@dataclass(frozen=True)
class Spread:
    """The relative half-width of a range for its software, and the ``runs`` and ``sources`` behind it."""

    width: float
    runs: int
    sources: int


Widths = Mapping[tuple[bool, bool | None], Spread]
"""The spread of runs with and without experts, of a framework that was or was not seen on the chip, and (None) of both
together, as in `SPREADS`."""


@dataclass(frozen=True)
class Need:
    """A first prediction, by the id of its run, and the half-width of software that its range needs to hold the run.

    ``stack`` is its software in the catalog. Of the sources that were entered before it, ``seen`` says whether one ran
    this framework and precision on the chip, and ``evidence`` how many of equally many runs used the chip.
    """

    id: str
    source: str
    stack: str
    experts: bool
    seen: bool
    evidence: float
    width: float

    @property
    def is_program(self) -> bool:
        """Whether the users of its software bring or change the layers."""
        return self.stack.startswith(PROGRAMS)


def first_errors(everything: Iterable[Run]) -> Errors:
    """The errors of the first predictions of some runs, of sources that were entered since the split."""
    first = {row["id"]: row["first"] for row in published_runs("new_runs")}
    new = [run for run in everything if run.id in first and run.source not in BEFORE]
    return [(run, first[run.id] / run.seconds - 1) for run in new]


def needs(first: Errors, evidence: Evidence) -> list[Need]:
    """What the range of each first prediction needs, with the evidence of the sources that were entered earlier."""
    earlier = {source: evidence.evidence_before(source) for source in {run.source for run, _ in first}}
    return [need(run, error, earlier[run.source]) for run, error in first]


def need(run: Run, error: float, evidence: Evidence) -> Need:
    """What the range of a run needs for a prediction with this error."""
    assert run.design.layout and run.design.layout.stack
    known = hypot(evidence.half_width_without_source(run), run.host_spread(error))
    alike = effective_sources(evidence.chips.get(run.rated_family, {}).values())
    width = additional_half_width(error, known)
    stack, seen = run.design.layout.stack.id, evidence.saw_framework(run)
    return Need(run.id, run.source, stack, run.experts, seen, alike, width)


def spreads(needs: Sequence[Need]) -> dict[bool, Widths]:
    """For trainers (False) and programs (True), the spread of each kind of runs.

    Only trainers have one of their own for what was seen on the chip: a program that nothing was fitted to never was,
    and would have the range of frameworks new on a chip. It held 89 % of the first predictions of such programs on the
    fitted side, and 92 % of those held out.
    """
    kinds = {program: [one for one in needs if one.is_program is program] for program in (False, True)}
    return {program: _spreads_of_kind(some) for program, some in kinds.items()}


def _spreads_of_kind(needs: Sequence[Need]) -> Widths:
    """The spreads of one kind of software.

    A framework that nobody ran on the chip never has a smaller spread than others. Runs with experts never have a
    smaller one than dense runs, because all uncertainties of dense runs apply to them too.
    """
    dense, experts = (_spreads_by_evidence([one for one in needs if one.experts is kind]) for kind in (False, True))
    widened = {seen: replace(one, width=max(one.width, dense[seen].width)) for seen, one in experts.items()}
    return {(kind, seen): of[seen] for kind, of in ((False, dense), (True, widened)) for seen in of}


def _spreads_by_evidence(needs: Sequence[Need]) -> dict[bool | None, Spread]:
    """The spread of all runs (None), of those whose framework and precision was seen on the chip (True), and of others.

    All three are equal for programs, where either group has few sources, and where the runs that were seen would have
    the wider spread.
    """
    every = _spread(needs)
    two: dict[bool | None, Spread] = {seen: _spread([one for one in needs if one.seen is seen]) for seen in SEEN}
    few = min(one.sources for one in two.values()) < FEWEST
    alike = any(one.is_program for one in needs) or few or two[True].width > two[False].width
    return {None: every, **(dict.fromkeys(SEEN, every) if alike else two)}


def _spread(needs: Sequence[Need]) -> Spread:
    sources = len({one.source for one in needs})
    return Spread(max(_quantile(needs), RUN_TO_RUN.value), len(needs), sources)


def share_inside(needs: Iterable[Need], widths: Mapping[bool, Widths]) -> float:
    """The share of first predictions whose ranges with these widths hold the run, each source with one weight."""
    inside: defaultdict[str, list[bool]] = defaultdict(list)
    for one in needs:
        inside[one.source].append(one.width <= widths[one.is_program][one.experts, one.seen].width)
    return mean(mean(each) for each in inside.values())


def share_inside_unseen(chosen: Collection[Need], needs: Sequence[Need]) -> float:
    """The share of chosen first predictions inside ranges that were drawn without their source, as for a next one."""
    shares = []
    for source in {one.source for one in chosen}:
        widths = spreads([one for one in needs if one.source != source])
        shares.append(share_inside([one for one in chosen if one.source == source], widths))
    return mean(shares)


def unmeasured_group_width(left_out_errors: Errors, folds: Errors, group: Callable[[Run], object]) -> float:
    """The additional half-width of a run's range if nothing of its group was measured.

    Added in quadrature to the half-width of runs left out by fifths, it gives the half-width that holds nine in ten
    runs whose group is left out. Each group has equal weight, because a user's accelerator resembles a group, not a
    run.
    """
    wide, usual = (_quantile_of_groups(errors, group) for errors in (left_out_errors, folds))
    return exp(sqrt(max(0.0, wide**2 - usual**2))) - 1


def _quantile_of_groups(errors: Errors, group: Callable[[Run], object]) -> float:
    """The size of an error that holds nine in ten runs, where each group counts alike."""
    kept = [(run, abs(log1p(error))) for run, error in errors if run.id not in unfitted_runs()]
    members = Counter(group(run) for run, _ in kept)
    reached = 0.0
    for run, size in sorted(kept, key=lambda each: each[1]):
        reached += 1 / members[group(run)]
        if reached >= FAMILIES_HELD * len(members):
            return size
    return 0.0


def _quantile(needs: Sequence[Need]) -> float:
    """The least spread of software with which the ranges hold their share of the sources; a source counts for the part
    of its runs that they contain.
    """
    members = Counter(one.source for one in needs)
    reached = 0.0
    for one in sorted(needs, key=lambda each: each.width):
        reached += 1 / members[one.source]
        if reached >= HELD * len(members) - ROUNDING:
            return one.width
    return 0.0


def additional_half_width(error: float, half_width: float) -> float:
    """The half-width that a range needs in addition to a known one, in quadrature, to hold an error.

    >>> [round(additional_half_width(error, 0.15), 6) for error in (0.25, -0.2, 0.1)]
    [0.2, 0.2, 0.0]
    """
    return sqrt(max(0.0, expm1(abs(log1p(error))) ** 2 - half_width**2))


def write(widths: Mapping[bool, Widths]) -> None:
    """Puts the spreads into the stacks of the catalog that have one."""
    for file in sorted((resources.catalog() / "stacks").glob("*.yaml")):
        text, program = file.read_text("utf-8"), file.stem.startswith(PROGRAMS)
        for kind, one in widths[program].items():
            line = re.compile(rf"^  {re.escape(SPREADS[kind])}: .*$", re.MULTILINE)
            text = line.sub(_line(program, kind, one, widths[program][kind[0], None] == one), text)
        file.write_text(text, "utf-8")


def write_reached(runs: Iterable[Run]) -> None:
    """Puts the highest published FLOPs utilization of each accelerator, precision and framework into the catalog."""
    reached: defaultdict[str, defaultdict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in filter(short_enough, runs):
        assert run.design.cluster and run.design.layout and run.design.layout.stack
        own = run.record.endswith(".custom")
        if own or not run.design.layout.stack.id.replace("-", "_").startswith(run.record.split(".", 2)[2]):
            continue  # a framework of its own, of which the catalog holds nothing
        reached[run.design.cluster.accelerator.id][run.record].append(run)
    for accelerator, kinds in reached.items():
        file = resources.catalog() / "accelerators" / f"{accelerator}.yaml"
        file.write_text(with_reached(file.read_text("utf-8"), kinds), "utf-8")


def short_enough(run: Run) -> bool:
    """Whether a run's utilization is comparable to other runs: it counts attention as unmasked, so it grows with the
    sequence length alone where attention dominates.
    """
    workload = run.design.workload
    assert workload is not None
    return parameters.causal_share(workload.model, workload.sequence_length) > 1 - ATTENTION / 2


def with_reached(text: str, kinds: Mapping[str, Sequence[Run]]) -> str:
    """The text of an entry with the highest of the published runs of each kind, at the end of its figures; as it is
    where it has no figures.
    """
    if "\nachievable:\n" not in text:
        return text
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("  mfu.")]
    start = lines.index("achievable:\n") + 1
    end = next((number for number in range(start, len(lines)) if not lines[number].startswith(" ")), len(lines))
    return "".join([*lines[:end], *(_highest_mfu_line(name, kinds[name]) for name in sorted(kinds)), *lines[end:]])


def _highest_mfu_line(name: str, runs: Sequence[Run]) -> str:
    best = max(runs, key=lambda run: run.mfu)
    many = "the only published run" if len(runs) == 1 else f"the highest of {len(runs)} published runs"
    why = f"{many} in docs/accuracy.md ({best.id}), with FLOPs counted as the program counts them"
    return f'  {name}: {{is: {best.mfu:.3f}, of: peak.{name.split(".")[1]}, assumed: "{why}"}}\n'


def _line(program: bool, kind: tuple[bool, bool | None], spread: Spread, common: bool) -> str:
    software = "programs whose users bring or change the layers" if program else "trainers with layers of their own"
    model = "runs with experts" if kind[0] else "dense runs"
    had = "that a source had run" if kind[1] else "that no source had run"
    known = "" if common else f", in a precision and on a chip {had} with the framework before,"
    why = (
        f"four in five first predictions of {model} by {software}{known} lie within it, with equal weight per source: "
        f"{spread.runs} runs of {spread.sources} sources, predicted before anything was changed for them"
    )
    return f'  {SPREADS[kind]}: {{is: {spread.width:.2g}, of: "the predicted step", assumed: "{why}"}}'
