"""Starting specs for a platform and a model: the first of some common layouts without findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.catalog.frameworks import framework_of
from clusterspec.catalog.models import Model
from clusterspec.cli import UsageFault
from clusterspec.cli.starting_layouts import Attempt, candidate_layouts
from clusterspec.finding import Severity
from clusterspec.records import NamedTuple
from clusterspec.source import Path
from clusterspec.studies import Settings, Study, study_text

FRAMEWORKS = {"train": ("megatron-core", "maxtext", "neuronx-distributed"), "serve": ("vllm", "sglang")}
"""Frameworks by kind of work, most usual first. A template uses the first that runs on the vendor's accelerators."""
OTHER_FRAMEWORK = "custom"
UNSOUND = (100, 0, 0.0)
"""The rank of a spec with an error (see `_spec_rank`)."""
UNFIT = 10_000
"""The first number of the rank of a plan that does not fit. It is above the ranks of plans with errors."""
WARNED = (1, 0, -inf)
"""The lowest rank of a spec with a warning."""
FLAWLESS = (0, 0, 0.0)
"""The rank of a spec without a warning or a note about the layout whose speed is not known; known speeds rank lower."""
MOST_ADVISED = 3
"""Maximum number of times that a spec is changed as its check advises, since advice on a key may lead to advice on its
value.
"""
UNEVEN = "layers-indivisible-by-pp"
"""The rule that asks for the layers of each stage. If there are many stages, its message does not list the layers."""
MOST_BETTERED = 100
"""Number of layouts to try after the first without a warning, to find a faster one without a note about the layout."""
ADVISED = (
    ("cluster", "scale_out", "placement"),
    ("cluster", "scale_out", "collective_plugin"),
    ("layout", "stage_layers"),
)
"""Keys that a template states with the advised value if the check asks for them."""
MOST_TRIED = 1000
"""Maximum number of layouts to try; an estimate takes a millisecond."""
MOST_NAMED = 16
"""Maximum number of ids to list if a name is the first word of several ids."""
INHERENT = {
    "unreleased-hardware": "announced; confirm the delivery date",
    "precision-unsupported": "no peak is published; state `peak_flops` once it is known",
    "shared-nic": "the NICs that the platform has",
}
"""Warnings about the platform itself that no layout avoids, each with the reason for the template's waiver."""
KEEPING = frozenset({"tp-over-latent-attention"})
"""Rules whose notes on a small load advise keeping the layout."""


class RankedSpec(NamedTuple):
    """A spec with its study and its rank: `FLAWLESS` or lower is best, `UNSOUND` or higher has errors."""

    text: str
    study: Study
    rank: tuple[int, int, float]


class StartingSpec(NamedTuple):
    """The text of a spec, and whether the plan has no errors and fits in memory. ``errors`` are the errors of a plan
    that fits, as sentences.
    """

    text: str
    sound: bool
    errors: tuple[str, ...] = ()

    @classmethod
    def of(cls, best: RankedSpec | None) -> StartingSpec:
        """The spec with waivers of findings inherent to its platform; an empty text without one."""
        if best is None:
            return cls("", False)
        sound = best.rank < UNSOUND
        return cls(_waived_spec(best.text, best.study), sound, () if sound else _error_sentences(best.study))


def starting_spec(settings: Settings, platform: str, model: str, kind: str, nodes: int | None = None) -> StartingSpec:
    """The best spec of the candidate layouts, on the fewest nodes that have one without a warning. Without candidates,
    the text is empty. Raises `UsageFault` for unknown names.
    """
    machine = _catalog_entry(settings.catalog, "platform", platform)
    network = _catalog_entry(settings.catalog, "model", model)
    if not isinstance(machine, Platform) or not isinstance(network, Model):
        raise UsageFault("the catalog entry is of another kind")
    chip = settings.catalog.find("accelerator", machine.accelerator or "")
    tried = candidate_layouts(machine, chip if isinstance(chip, Accelerator) else None, network, kind, nodes)
    usual = [*_usual_frameworks(settings.catalog, chip.vendor if isinstance(chip, Accelerator) else "", kind)]
    framework = ""

    def spec_of(attempt: Attempt) -> RankedSpec:
        nonlocal framework
        framework = framework or _running_framework(usual, partial(attempt.text, machine, network, kind), settings)
        return _advised_spec(partial(attempt.text, machine, network, kind, framework), settings)

    return StartingSpec.of(_best_spec(tried, spec_of))


def _best_spec(attempts: Iterable[Attempt], spec_of: Callable[[Attempt], RankedSpec]) -> RankedSpec | None:
    """The spec of the lowest rank on the fewest nodes that have one without a warning; None without layouts.

    After a sound one, at most `MOST_BETTERED` others are tried.
    """
    best, on, left = None, 0, MOST_TRIED
    for attempt in attempts:
        if best is not None and best.rank < WARNED and attempt.nodes > on:
            break
        found = spec_of(attempt)
        if best is None or found.rank < best.rank:
            best, on = found, attempt.nodes
        left = min(left, MOST_BETTERED + 1) - 1 if best.rank[0] == 0 else left - 1
        if best.rank == FLAWLESS or left <= 0:
            break
    return best


def _error_sentences(study: Study) -> tuple[str, ...]:
    """The errors of a plan that fits, each with its rule; none for a plan that does not fit."""
    if study.plan.fits is False:
        return ()
    errors = [one for one in study.checked.findings if one.severity is Severity.ERROR]
    return tuple(f"{one.message} ({one.rule})" for one in errors)


def _advised_spec(text_with: Callable[[Mapping[Path, str]], str], settings: Settings) -> RankedSpec:
    """The spec of a layout, with the `ADVISED` keys that its check asks for: all of them, or each that does not raise
    its rank.
    """
    advised: dict[Path, str] = {}
    plain = best = last = _ranked_spec(text_with(advised), settings)
    for _ in range(MOST_ADVISED):
        asked = {} if last.rank >= UNSOUND else _advised_values(last.study)
        if asked.items() <= advised.items():
            break
        advised |= asked
        last = _ranked_spec(text_with(advised), settings)
        best = last if last.rank <= best.rank else best
    return best if best is not plain or len(advised) < 2 else _singly_advised_spec(plain, advised, text_with, settings)


def _singly_advised_spec(
    plain: RankedSpec,
    advised: Mapping[Path, str],
    text_with: Callable[[Mapping[Path, str]], str],
    settings: Settings,
) -> RankedSpec:
    """The spec with each advised value that does not raise its rank, one after another."""
    best, kept = plain, dict[Path, str]()
    for path, value in advised.items():
        tried = _ranked_spec(text_with({**kept, path: value}), settings)
        if tried.rank <= best.rank:
            best, kept = tried, {**kept, path: value}
    return best


def _ranked_spec(text: str, settings: Settings) -> RankedSpec:
    """A spec with its study and its rank."""
    study = study_text(text, settings)
    return RankedSpec(text, study, _spec_rank(study))


def _advised_values(study: Study) -> dict[Path, str]:
    """The values of `ADVISED` keys that findings name in their help."""
    offered = [(one.path, match) for one in study.checked.findings for match in _ADVICE.findall(one.help or "")]
    found: dict[Path, str] = {
        path: value
        for path in ADVISED
        for at, (key, value) in offered
        if key == path[-1] and at[: len(path) - 1] == path[:-1]
    }
    layout = study.design.layout
    if UNEVEN in {one.rule for one in study.checked.findings} and layout is not None and layout.stage_layers:
        found.setdefault(("layout", "stage_layers"), str([*layout.stage_layers]))
    return found


_ADVICE = re.compile(r"`(\w{1,40}): ([^`]{1,400})`")
"""A key with a value, as the help of a finding writes it."""


def _usual_frameworks(catalog: Catalog, vendor: str, kind: str) -> Iterator[str]:
    """The frameworks that run on accelerators of a vendor, the most usual first."""
    yield from (name for name in FRAMEWORKS[kind] if vendor in framework_of(name, catalog).vendors)
    yield OTHER_FRAMEWORK


def _running_framework(frameworks: Sequence[str], text_with: Callable[[str], str], settings: Settings) -> str:
    """The first framework whose release of today runs on the accelerator."""
    for name in frameworks:
        findings = study_text(text_with(name), settings).findings
        if all(each.rule != "framework-not-on-accelerator" for each in findings):
            return name
    return OTHER_FRAMEWORK


def _waived_spec(text: str, study: Study) -> str:
    """A spec with waivers of the warnings about the platform itself, each with its reason."""
    lines = text.split("\n")
    found = [one for one in study.checked.findings if one.rule in INHERENT and one.severity is Severity.WARNING]
    for one in sorted(found, key=lambda one: one.span.start.line, reverse=True):
        at = one.span.start.line - 1
        indent = " " * (len(lines[at]) - len(lines[at].lstrip(" ")))
        lines.insert(at, f"{indent}# clusterspec: ignore[{one.rule}]: {INHERENT[one.rule]}")
    return "\n".join(lines)


def _spec_rank(study: Study) -> tuple[int, int, float]:
    """The rank of a spec; lower is better. Without errors it consists of the numbers of warnings and of notes about the
    layout, and of the negative tokens per second of an accelerator in training. With errors it consists of their
    number, the nodes and the warnings, since more nodes do not fix errors of the machine. For a plan that does not
    fit, it contains the memory in bytes.

    The rules do not run for a plan that does not fit, since that is already an error. Findings that no layout avoids do
    not count.
    """
    if study.plan.fits is False:
        return UNFIT, 0, study.plan.memory_bytes or 0.0
    found = [one for one in study.checked.findings if one.rule not in INHERENT or one.severity is Severity.ERROR]
    notes = [one for one in found if one.severity is Severity.NOTE and one.path[:1] == ("layout",)]
    notes = [one for one in notes if one.rule not in KEEPING]
    errors, warnings = (sum(one.severity is each for one in found) for each in (Severity.ERROR, Severity.WARNING))
    if errors:
        return UNSOUND[0] * errors, study.design.cluster.nodes if study.design.cluster else 0, float(warnings)
    return warnings, len(notes), -(study.plan.tokens_per_second_per_accelerator or 0.0)


def _catalog_entry(catalog: Catalog, kind: str, name: str) -> object:
    try:
        found = catalog.find(kind, name)
    except BrokenEntry as fault:
        raise UsageFault(str(fault)) from None
    if found is None:
        whole_word = re.compile(re.escape(name.lower()) + ("(?![a-z0-9])" if name[-1:].isdigit() else "(?![a-z])"))
        begun = [id_ for id_ in catalog.ids(kind) if whole_word.match(id_)]
        if len(begun) > 1:  # the first word of several names: the nearest by spelling are only the shortest
            more = f" … (`clusterspec catalog list {kind}` lists all)" if len(begun) > MOST_NAMED else ""
            raise UsageFault(f"the catalog has no {kind} {name!r}; there are {', '.join(begun[:MOST_NAMED])}{more}")
        from clusterspec.cluster.unknown_names import unknown_id_problem  # only for names that are no ids

        problem = unknown_id_problem(catalog, kind, name, (kind,))
        raise UsageFault(f"{problem.message}; {problem.help}")
    return found
