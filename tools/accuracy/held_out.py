"""Results of the last fit: errors on runs that it did not see, and the benefit of each constant."""

from __future__ import annotations

from typing import Any

from tools.fit import result

HELD_OUT = """Every run predicted by a fit of all constants that did not see it: with every fifth run left out, with its
whole source left out, with all runs of its accelerator in its precision with its framework left out, and with its
family of chips left out and predicted without any figure of its own. The last two are what a plan has where nothing
near it was measured; the range of its step is wider by them ({kind:.0f} % and {part:.0f} %, in quadrature). The catalog
keeps constants of earlier fits where those of a new one predict the sources held out no better.
"""
KINDS = {
    "each fifth": "folds",
    "each source": "sources",
    "each accelerator, precision and framework": "kinds",
    "each family of chips": "families",
}
FITTED = """{count} constants are fitted. Each has a prior: the value known before the fit. *Runs* counts
the fitted runs that would notice a change of a fifth. *Worth* is by how much the mean error of the runs that notice it
grows if the constant keeps its prior and all others are fitted again, in percentage points.
"""


def held_out_table() -> str:
    """Errors of runs left out, by kind of model, and of each source and each family of chips left out as a whole."""
    found = result.read()
    rows = ["| left out | model | cases | median | mean | p90 |", "|---|---|---|---|---|---|"]
    for name, key in KINDS.items():
        rows += [f"| {name} | {kind} | {_cells(one)} |" for kind, one in found[key].items()]
    rows += [f"| {source} | all | {_cells(one)} |" for source, one in found["each_source"].items()]
    rows += [f"| {family} | all | {_cells(one)} |" for family, one in found["each_family"].items()]
    widths = {name: 100 * value for name, value in found["unseen"].items()}
    return "\n".join([HELD_OUT.format(**widths), *rows]) + "\n"


def _cells(one: dict[str, Any]) -> str:
    shares = (f"{100 * one[name]:.1f} %" for name in ("median", "mean", "p90"))
    return " | ".join((str(one["runs"]), *shares))


def constants_table() -> str:
    """Every fitted constant: its entry, its value, its prior, and its benefit."""
    found = result.read()["constants"]
    rows = ["| of | constant | value | prior | runs | worth |", "|---|---|---|---|---|---|"]
    for one in sorted(found, key=lambda each: -each["worth"]):
        cells = (one["group"], one["fact"], f"{one['value']:.3g}", f"{one['prior']:.3g}", str(one["runs"]))
        rows.append("| " + " | ".join((*cells, f"{100 * one['worth']:+.2f}")) + " |")
    return "\n".join([FITTED.format(count=len(found)), *rows]) + "\n"
