"""Results of the last fit: errors on runs that it did not see, and the benefit of each constant."""

from __future__ import annotations

from typing import Any

from tools.fit import result

HELD_OUT = """Each run is predicted by a fit that did not see it. Four fits leave out more and more: every fifth run;
all runs of a source; all runs of an accelerator with one precision and framework; all runs of a family of chips,
whose own measured figures are dropped, too. The last two are what a plan has where nothing near it was measured; the
range of its step is wider by {kind:.0f} % and {part:.0f} %, in quadrature. The catalog keeps constants of earlier
fits where those of a new fit predict the held-out sources no better.
"""
ERRORS = "runs | median error | mean error | 90th percentile"
KINDS = {
    "every fifth run": "folds",
    "the source": "sources",
    "the accelerator with its precision and framework": "kinds",
    "the family of chips": "families",
}
GROUPS = {"source": "each_source", "family of chips": "each_family"}
"""What is left out as a whole, with the name of its errors among the results of the fit."""
FITTED = """{count} constants are fitted. *Prior* is the value known before the fit. *Runs* counts
the fitted runs whose step changes with a change of the constant by a fifth. *Worth* is the increase of the mean error
of these runs, in percentage points, if the constant keeps its prior and all others are fitted again.
"""


def held_out_table() -> str:
    """Errors of runs left out, by kind of model, and of each source and each family of chips left out as a whole."""
    found = result.read()
    rows = [f"| left out | models | {ERRORS} |", "|---|---|---:|---:|---:|---:|"]
    for name, key in KINDS.items():
        rows += [f"| {name} | {kind} | {_cells(one)} |" for kind, one in found[key].items()]
    for name, key in GROUPS.items():
        rows += ["", f"| {name} left out | {ERRORS} |", "|---|---:|---:|---:|---:|"]
        ranked = sorted(found[key].items(), key=lambda pair: -pair[1]["median"])
        rows += [f"| {group} | {_cells(one)} |" for group, one in ranked]
    widths = {name: 100 * value for name, value in found["unseen"].items()}
    return "\n".join([HELD_OUT.format(**widths), *rows]) + "\n"


def _cells(constant: dict[str, Any]) -> str:
    shares = (f"{100 * constant[name]:.1f} %" for name in ("median", "mean", "p90"))
    return " | ".join((str(constant["runs"]), *shares))


def constants_table() -> str:
    """Every fitted constant: its entry, its value, its prior, and its benefit."""
    found = result.read()["constants"]
    rows = ["| entry | constant | value | prior | runs | worth |", "|---|---|---:|---:|---:|---:|"]
    for one in sorted(found, key=lambda each: -each["worth"]):
        cells = (one["group"], one["fact"], f"{one['value']:.3g}", f"{one['prior']:.3g}", str(one["runs"]))
        rows.append("| " + " | ".join((*cells, f"{100 * one['worth']:+.2f}")) + " |")
    return "\n".join([FITTED.format(count=len(found)), *rows]) + "\n"
