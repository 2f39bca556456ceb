"""The command line of the fit."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.stacks import Stack
from tools.accuracy.cases import settings
from tools.fit import first_widths, result, spread
from tools.fit.constants import Constant, constants
from tools.fit.evidence import Evidence
from tools.fit.held_out import Errors, errors, families, folds, kinds, sources
from tools.fit.result import Summary
from tools.fit.runs import Run, runs
from tools.fit.search import fitted, sensitive_runs
from tools.fit.write import write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put constants and bands into the catalog")
    parser.add_argument(
        "--bands", action="store_true", help="put the bands and the highest utilizations alone into the catalog"
    )
    parser.add_argument("--held-out", action="store_true", help="write the errors of runs left out alone")
    parser.add_argument("--only", metavar="GROUP", nargs="+", help="fit these groups alone")
    chosen, everything = parser.parse_args(), runs()
    if chosen.only:
        fit_groups(chosen.only, everything, chosen.write)
        return
    if chosen.bands:
        write_ranges(everything)
        spread.write_reached(everything)
        return
    fit = fitted(constants(), everything)
    by_fold, by_source, by_family, by_kind = folds(fit), sources(fit), families(fit), kinds(fit)
    print_errors("fitted", errors(fit.values, (run for run in everything if run.fitted)))
    print_errors("checked", errors(fit.values, (run for run in everything if not run.fitted)))
    print_errors("each fifth left out", by_fold)
    print_errors("each source left out", by_source)
    print_errors("each family of chips left out", by_family)
    print_errors("each kind left out", by_kind)
    for stack in sorted({name for run in everything for kind, name in run.owners if kind == "stack"}):
        print_errors(stack, [(run, error) for run, error in by_fold if ("stack", stack) in run.owners])
    if chosen.write:
        for file in write(fit.values, {constant: sensitive_runs(constant, fit) for constant in fit.values}):
            print(f"wrote {file}")
        write_ranges(everything)
        spread.write_reached(everything)
        result.write(fit, by_fold, by_source, by_family, by_kind)
    elif chosen.held_out:
        result.replace_held_out(by_fold, by_source, by_family, by_kind)


def fit_groups(groups: list[str], everything: tuple[Run, ...], writes: bool) -> None:
    """Fits the constants of some groups alone, for parts that were told apart since the last fit of all."""
    fit = fitted(tuple(each if each.group in groups else kept_constant(each) for each in constants()), everything)
    own = {constant: value for constant, value in fit.values.items() if constant in fit.free}
    for constant, value in own.items():
        print(f"{constant.group} {constant.fact}: {value:.3g}")
    print_errors("fitted", errors(fit.values, (run for run in everything if run.fitted)))
    print_errors("checked", errors(fit.values, (run for run in everything if not run.fitted)))
    if writes:
        write(own, {constant: sensitive_runs(constant, fit) for constant in own})
        spread.write_reached(everything)
        result.replace_constants(fit)


def kept_constant(constant: Constant) -> Constant:
    """A constant held at the figure that the catalog has."""
    kind, name = constant.owners[0]
    entry = settings().catalog.get(kind, name)
    assert isinstance(entry, Accelerator | Stack)
    return replace(constant, prior=entry.achievable[constant.fact].value, spread=0)


def write_ranges(everything: Sequence[Run]) -> None:
    """Put the half-widths of software and of accelerators into the catalog."""
    first_widths.write(first_widths.counted())
    first_widths.read.cache_clear()
    spread.write(spread.spreads(first_widths.needs_of_side(held_out=False)))
    Evidence.of(everything).write()


def print_errors(name: str, errors: Errors) -> None:
    """Print one line with the number of runs and their errors, and the same for runs with experts."""
    if errors:
        experts = [(run, error) for run, error in errors if run.experts]
        with_experts = f"  with experts: {Summary.of(experts)}" if experts else ""
        print(f"{name:26} {Summary.of(errors)}{with_experts}", flush=True)


if __name__ == "__main__":
    main()
