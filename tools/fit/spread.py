"""How far predictions of runs that were not fitted to lie off: the bands of the catalog's stacks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, expm1, hypot, log1p, sqrt

from clusterspec import resources
from clusterspec.cost import parameters
from clusterspec.cost.estimate import RUN_TO_RUN
from tools.accuracy.split import BEFORE
from tools.fit.constants import table, unfitted_runs
from tools.fit.evidence import Evidence
from tools.fit.held_out import Errors
from tools.fit.runs import Run

HELD = 0.8
"""The share of left-out sources' runs that must lie within the whole range, including its allowances for exposed
communication, stragglers, the host and few sources on the accelerator. Each source counts alike, because a user's run
resembles a source, not one of many rows of a table.

The range with experts is at least as wide as the range without, because all its uncertainties apply too. No range of
software is narrower than two runs of one description differ (`RUN_TO_RUN`), also where the other allowances hold this
share without it.
"""
FAMILIES_HELD = 0.9
"""The share of runs that must lie within the widened range of a group without any measurement. Groups are few and
different.
"""
FACTS = {False: "spread", True: "spread.experts"}
KNOWN = 4
"""Number of sources of a generation at which its own spread counts as much as that of all generations."""
LIBRARIES = ("fsdp", "deepspeed")
"""Frameworks that are libraries: each program around them brings layers of its own. Their generations have one spread,
of runs of sources that were entered since the split. The spread of all generations says nothing of theirs. Runs count,
too, that are not fitted to because no spec can state what they do: the program of a user may do the same.
"""
FORKED = ("torchtitan",)
"""A program that its users change: its generations have one spread, as those of the libraries. Their few sources are
corrected for by rank, since the spread of all generations says nothing of theirs.
"""
UNKNOWN = ("custom-2021", "llm-c-2024", "llmq-2025", "nanotron-2024")
"""Entries of programs to which nothing was fitted, the entry of an unknown framework among them. They have one spread,
by the rule of torchtitan.
"""
WITHOUT_EXPERTS = ("fsdp", *UNKNOWN)
"""The library without a layer of experts, and unknown programs: each brings its own, and fewer than five sources of the
fitted side ran one. Their entries state one spread with experts, which no rule draws.
"""
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
    before: str = ""
    """The generation before it, where the width is that one's."""


@dataclass(frozen=True)
class _Need:
    """A run whose source was left out, and the half-width of its software that its range needs to hold it."""

    run: Run
    width: float


def spreads(sources: Errors) -> dict[str, dict[bool, Spread]]:
    """For each stack, the spread without and with experts.

    ``sources`` are errors of runs whose source was left out of the fit, as a user's run is; the rest of their range is
    that of an accelerator without this source, too.
    """
    evidence = Evidence.of(run for run, _ in sources)
    needs = [
        _Need(run, additional_half_width(error, hypot(evidence.half_width_without_source(run), run.host_spread(error))))
        for run, error in sources
    ]
    found = {}
    for stack in (*table()["stacks"], *UNKNOWN):
        dense, experts = (
            _shrunk_spread(stack, experts, [one for one in needs if one.run.experts is experts])
            for experts in (False, True)
        )
        found[stack] = {
            False: dense,
            True: experts if experts.width > dense.width else replace(experts, width=dense.width),
        }
    return with_generations_before(found)


def with_generations_before(found: dict[str, dict[bool, Spread]]) -> dict[str, dict[bool, Spread]]:
    """The spreads of stacks, where a generation with one source or none is at least as wide as the generation of the
    same framework before it: a new release is not known better than the one that more people ran.

    >>> old, new = Spread(0.2, 20, 4), Spread(0.1, 2, 1)
    >>> with_generations_before({"a-2024": {False: old}, "a-2026": {False: new}, "b-2026": {False: new}})["a-2026"]
    {False: Spread(width=0.2, runs=2, sources=1, before='a-2024')}
    """
    widened: dict[str, dict[bool, Spread]] = {}
    for stack in sorted(found):
        name = stack.rpartition("-")[0]
        before = max((each for each in widened if each.rpartition("-")[0] == name), default=None)
        widened[stack] = {
            experts: replace(one, width=widened[before][experts].width, before=before)
            if before is not None and one.sources <= 1 and one.width < widened[before][experts].width
            else one
            for experts, one in found[stack].items()
        }
    return widened


def _shrunk_spread(stack: str, experts: bool, needs: Sequence[_Need]) -> Spread:
    alike = () if experts else _pooled_stacks(stack)
    needs = [one for one in needs if counts_in_spread(one.run.id, alike)]
    if alike:
        return _pooled_spread(alike, needs)
    own = [one for one in needs if ("stack", stack) in one.run.owners]
    sources = len({one.run.source for one in own})
    weight = sources / (sources + KNOWN)
    everything = _quantile(needs, corrected_share(len({one.run.source for one in needs})))
    return Spread(_at_least(weight * _quantile(own) + (1 - weight) * everything), len(own), sources)


def counts_in_spread(run: str, pooled: tuple[str, ...]) -> bool:
    """Whether a run counts in the spread of its stack, of which those named ``pooled`` have one together.

    >>> counts_in_spread("composerolmo-001", LIBRARIES), counts_in_spread("torchao-001", FORKED)
    (True, False)
    """
    return pooled == LIBRARIES or run not in unfitted_runs()


def _at_least(size: float) -> float:
    """The half-width of this logarithm, but no less than the difference of two runs of one description."""
    return max(expm1(size), RUN_TO_RUN.value)


def _pooled_stacks(stack: str) -> tuple[str, ...]:
    """What the names of all stacks begin with that have one spread without experts with this one; empty if none."""
    return next((group for group in (LIBRARIES, FORKED, UNKNOWN) if stack.startswith(group)), ())


def _pooled_spread(stacks: tuple[str, ...], needs: Sequence[_Need]) -> Spread:
    """The spread of some stacks together, by dense runs of sources entered since the split."""
    new = [
        one
        for one in needs
        if one.run.source not in BEFORE
        and any(kind == "stack" and name.startswith(stacks) for kind, name in one.run.owners)
    ]
    sources = len({one.run.source for one in new})
    share = HELD if stacks == LIBRARIES else corrected_share(sources)
    return Spread(_at_least(_quantile(new, share=share)), len(new), sources)


def corrected_share(sources: int) -> float:
    """The share of this many sources that a width must hold, to hold `HELD` of the runs of a further one: by exchange
    of the further one with any of them (Vovk et al., Algorithmic Learning in a Random World, 2005).

    >>> [round(corrected_share(sources), 2) for sources in (1, 4, 5, 40)]
    [1.0, 1.0, 0.96, 0.82]
    """
    return min(1.0, HELD * (sources + 1) / sources) if sources else HELD


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


def _quantile(needs: Sequence[_Need], share: float = HELD) -> float:
    """The logarithm of the factor that the spread of software has to be, for the ranges to hold this share of the
    sources; a source counts for the part of its runs that they contain.
    """
    members = Counter(one.run.source for one in needs)
    reached = 0.0
    for one in sorted(needs, key=lambda each: each.width):
        reached += 1 / members[one.run.source]
        if reached >= share * len(members) - ROUNDING:
            return log1p(one.width)
    return 0.0


def additional_half_width(error: float, known: float) -> float:
    """The half-width that a range needs in addition to a known one, in quadrature, to hold an error.

    >>> [round(additional_half_width(error, 0.15), 6) for error in (0.25, -0.2, 0.1)]
    [0.2, 0.2, 0.0]
    """
    return sqrt(max(0.0, expm1(abs(log1p(error))) ** 2 - known**2))


def write(found: dict[str, dict[bool, Spread]]) -> None:
    """Puts the spreads into the catalog."""
    for stack, kinds in found.items():
        file = resources.catalog() / "stacks" / f"{stack}.yaml"
        text = file.read_text("utf-8")
        for experts, one in kinds.items():
            if experts and stack.startswith(WITHOUT_EXPERTS):
                continue
            line = re.compile(rf"^  {re.escape(FACTS[experts])}: .*$", re.MULTILINE)
            text = line.sub(_line(stack, experts, one), text)
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


def _line(stack: str, experts: bool, one: Spread) -> str:
    held = f"four in five published {'runs with experts' if experts else 'dense runs'}"
    runs = "1 run" if one.runs == 1 else f"{one.runs} runs"
    sources = "1 source" if one.sources == 1 else f"{one.sources} sources"
    if one.before:
        why = (
            f"as {one.before}, the generation before, which more sources ran: its range contains {held} when the "
            f"prediction is fitted to the other sources, with equal weight per source; {runs} of {sources} "
            f"{'is' if one.runs == 1 else 'are'} of this generation"
        )
        return f'  {FACTS[experts]}: {{is: {one.width:.2g}, of: "the predicted step", assumed: "{why}"}}'
    scope = f"{runs} of {sources} {_scope(stack, experts)}"
    why = (
        f"{held} lie within it when the prediction is fitted to the other sources, "
        f"with equal weight per source: {scope}"
    )
    if one.width == RUN_TO_RUN.value:
        why = (
            f"{held} lie within the range of the other terms; this term adds only the difference between two runs of "
            f"one description: {scope}"
        )
    return f'  {FACTS[experts]}: {{is: {one.width:.2g}, of: "the predicted step", assumed: "{why}"}}'


def _scope(stack: str, experts: bool) -> str:
    """What the runs behind a spread have in common."""
    alike = () if experts else _pooled_stacks(stack)
    return {
        LIBRARIES: "with PyTorch FSDP and DeepSpeed of all years, libraries under programs of many authors",
        FORKED: "with torchtitan of all years, which its users change",
        UNKNOWN: "with programs that no constant was fitted to",
    }.get(alike, "of this generation, with the spread of all generations as the prior")
