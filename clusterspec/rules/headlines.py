"""Identifies vendors' headline figures: bandwidths without a direction and peaks without sparsity.

A spec may state `900 GB/s` without a direction, or `1979 TFLOP/s` without sparsity. Where the catalog has the figure in
one of both readings, the problem names that reading and offers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from clusterspec.finding import Problem
from clusterspec.quantity import Direction, Quantity, Sparsity
from clusterspec.records import dataclass, replace
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.peaks import known_peaks
from clusterspec.rules.knowledge.stated import StatedFigure, bandwidth_figure
from clusterspec.rules.rule import value_fix
from clusterspec.rules.words import or_list
from clusterspec.source import Path, dotted_path
from clusterspec.units import UnitFault, display, read
from clusterspec.units.display import AGREES, agrees_within

TOTAL = 0.015
"""Relative tolerance for totals: data sheets of systems round to whole PFLOP/s, such as 32 for eight times 3.958."""


@dataclass(frozen=True)
class Headline:
    """A possible meaning of a figure: its description for the end of a sentence, the text that states it in a spec, and
    whether it is the only possible meaning.
    """

    what: str
    text: str
    certain: bool = True


def name_headlines(problems: Iterable[Problem], facts: Facts, written: Callable[[Path], str]) -> Iterator[Problem]:
    """The problems. A problem with a figure without direction or sparsity is extended by the catalog's reading of the
    figure.

    ``written`` returns the text at a key path.
    """
    for problem in problems:
        found = list(_headlines(problem, facts, written(problem.path)))
        if not found:
            yield replace(problem, message=problem.message + _catalog_figure_text(problem, facts))
            continue
        is_, texts = ("it is", {found[0].text}) if len(found) == 1 else ("it may be", {one.text for one in found})
        fix = value_fix(dotted_path(problem.path), found[0].text) if len(found) == 1 and found[0].certain else None
        message = f"{problem.message}: {is_} {or_list([one.what for one in found])}"
        yield replace(
            problem, message=message, help=f"write {or_list([f'`{text}`' for text in sorted(texts)])}", fix=fix
        )


def _headlines(problem: Problem, facts: Facts, text: str) -> Iterator[Headline]:
    if problem.rule == "missing-direction":
        yield from _bandwidth_headlines(facts, dotted_path(problem.path), text)
    elif problem.rule == "missing-sparsity":
        yield from _peak_headlines(facts, problem.path, text)
    elif problem.rule == "unreadable-quantity" and "," in text:
        whole = text.replace(",", "")
        yield from _bandwidth_headlines(facts, dotted_path(problem.path), whole)
        yield from _peak_headlines(facts, problem.path, whole)


def _catalog_figure_text(problem: Problem, facts: Facts) -> str:
    """The catalog's figure as the end of a sentence, for a bandwidth without a direction that fits no interpretation;
    else empty.
    """
    if problem.rule != "missing-direction":
        return ""
    figure = _stated_figure(facts, dotted_path(problem.path), "1 GB/s duplex")
    if figure is None:
        return ""
    own = figure.known[0]
    return f"; {own.whose} has {display(own.value, 'B/s')} unidirectional, {display(2 * own.value, 'B/s')} duplex"


def _bandwidth_headlines(facts: Facts, at: str, text: str) -> Iterator[Headline]:
    """Possible scopes of a bandwidth: one accelerator, one-way or duplex; otherwise a link, a node or a domain."""
    figures = [figure for word in Direction if (figure := _stated_figure(facts, at, f"{text} {word}")) is not None]
    own = [
        one
        for one in figures
        if one.known and agrees_within(one.quantity.value, one.counted_figure(one.known[0]), AGREES)
    ]
    for figure in own:
        yield Headline(
            f"the {_quantity_name(figure.quantity)} figure of {figure.known[0].whose}", figure.quantity.written
        )
    for figure in () if own else figures:
        for scope in figure.scopes:
            right = figure.counted_figure(figure.known[0])
            if agrees_within(figure.quantity.value, scope.factor * right, 0.01):
                what = f"the {_quantity_name(figure.quantity)} figure of {scope.what}"
                yield Headline(what, figure.text_in_written_unit(right), certain=False)


def _stated_figure(facts: Facts, at: str, text: str) -> StatedFigure | None:
    quantity = _read_quantity(text, "bandwidth")
    if quantity is None or facts.cluster is None:
        return None
    figure = bandwidth_figure(at, quantity, facts.cluster)
    return figure if figure is not None and figure.known else None


def _quantity_name(quantity: Quantity) -> str:
    return "duplex" if quantity.direction is Direction.DUPLEX else "one-way"


def _peak_headlines(facts: Facts, path: Path, text: str) -> Iterator[Headline]:
    """Possible meanings of a peak: dense or sparse in the required precision; if neither fits, the meanings of
    `_other_peak_readings`.
    """
    found = known_peaks(facts.spec, facts.design, facts.catalog)
    override = path[:2] == ("workload", "peak_flops")
    if found is None or not (override or path[:3] == ("cluster", "accelerator", "peak")):
        return
    whose, peaks = found
    precision = facts.workload.precision if override and facts.workload else str(path[-1])
    wanted = peaks.get(precision)
    if wanted is None:
        return
    read_as = [quantity for word in Sparsity if (quantity := _read_quantity(f"{text} {word}", "peak")) is not None]
    own = [quantity for quantity in read_as if agrees_within(quantity.dense, wanted, AGREES)]
    for quantity in own:
        of = f"{whose} in {precision}"
        sparse = f"the peak of {of} with 2:4 sparsity, {display(wanted, 'FLOP/s')} dense"
        is_sparse = quantity.sparsity is Sparsity.SPARSE
        yield Headline(sparse if is_sparse else f"the dense peak of {of}", quantity.written)
    for what in () if own else _other_peak_readings(_numbered_groups(facts, whose), peaks, read_as):
        yield Headline(what, f"{display(wanted, 'FLOP/s', 4)} dense", certain=False)


def _other_peak_readings(
    groups: Iterable[tuple[int, str]], peaks: Mapping[str, float], read_as: Sequence[Quantity]
) -> list[str]:
    """Other meanings of a peak: one accelerator in another precision, else a node, else a domain."""
    for count, whose in groups:
        found = []
        for quantity in read_as:
            word = "with 2:4 sparsity" if quantity.sparsity is Sparsity.SPARSE else "dense"
            fits = [
                precision for precision, peak in peaks.items() if agrees_within(quantity.dense, count * peak, TOTAL)
            ]
            floats = [precision for precision in fits if not precision.startswith("int")] or fits
            found += [f"the peak of {whose} in {or_list(floats)} {word}"] if fits else []
        if found:
            return found
    return []


def _numbered_groups(facts: Facts, whose: str) -> Iterator[tuple[int, str]]:
    yield 1, whose
    if facts.cluster is None:
        return
    node, domain = facts.cluster.accelerators_per_node, facts.cluster.scale_up.domain
    if node > 1:
        yield node, f"the {node} accelerators of a node together"
    if domain > 1 and domain != node:
        yield domain, f"the {domain} accelerators of a domain together"


def _read_quantity(text: str, kind: str) -> Quantity | None:
    try:
        return read(text, kind)
    except UnitFault:
        return None
