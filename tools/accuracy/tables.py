"""Tables of errors in Markdown, the worst group first."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from tools.accuracy.cases import Case
from tools.accuracy.figures import Regret, Score, share
from tools.accuracy.reasons import reason

TOTALS = frozenset({"all", "fitted side", "held out", "all others"})
"""Names of groups that contain the others of their table, and head it."""
ERRORS = ("median error", "mean error", "90th percentile", "bias", "inside range", "± range")


def score_table(scores: Iterable[Score], group: str = "group") -> str:
    """A row for each group with its errors: totals first, then by median error, the largest first."""
    rows = [_line((group, "figures", *ERRORS)), "|---|---:|" + "---:|" * len(ERRORS)]
    for one in sorted(scores, key=lambda each: (not is_total(each), -each.median)):
        name = f"**{one.name.strip('*')}**" if is_total(one) else one.name
        errors = (*map(share, (one.median, one.mean, one.p90)), share(one.bias, sign=True))
        rows.append(_line((name, f"{one.cases:,}", *errors, share(one.inside), share(one.width))))
    return "\n".join(rows) + "\n"


def is_total(score: Score) -> bool:
    """Whether a group contains others of its table; names of such groups may be bold."""
    return score.name in TOTALS or score.name.startswith("**")


def worst_cases_table(cases: Sequence[Case]) -> str:
    """The ten cases with the largest errors, with the reason where it is known."""
    rows = [
        _line(("run", "what", "published", "predicted", "error", "reason", "source")),
        "|---|---|---:|---:|---:|---|---|",
    ]
    for case in sorted(cases, key=lambda one: -abs(one.error))[:10]:
        predicted = f"{case.predicted:.3g} s" if case.predicted is not None else "none"
        seconds = (f"{case.published:.3g} s", predicted, share(case.error, sign=True))
        rows.append(
            _line((case.id, f"{case.note}, {case.group}", *seconds, reason(case.id), case.source.replace("|", "\\|")))
        )
    return "\n".join(rows) + "\n"


def regret_table(regrets: Sequence[Regret]) -> str:
    """The regret of each set of layouts, the largest first, and their mean."""
    mean = statistics.mean(one.regret for one in regrets)
    rows = [_line(("published set", "layouts", "regret")), "|---|---:|---:|"]
    rows.append(_line((f"**mean of {len(regrets)} sets**", "", f"**{share(mean)}**")))
    ranked = sorted(regrets, key=lambda one: -one.regret)
    return "\n".join([*rows, *(_line((one.name, str(one.layouts), share(one.regret))) for one in ranked)]) + "\n"


def fit_table(cases: Sequence[Case]) -> str:
    """How often the program says rightly whether a job fits in memory, by what happened."""
    rows = [_line(("what happened", "runs", "predicted so")), "|---|---:|---:|"]
    for group in sorted({case.group for case in cases}):
        found = [case for case in cases if case.group == group]
        right = sum(case.predicted == case.published for case in found)
        rows.append(_line((group, str(len(found)), f"{right} ({share(right / len(found))})")))
    return "\n".join(rows) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
