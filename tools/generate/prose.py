"""How many errors in running text are found: measured on labeled claims, and the page that says so."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.prose import text_problems
from clusterspec.rules.index import RULES
from clusterspec.source import Source
from clusterspec.units import percent

CLAIMS = Path(__file__).resolve().parents[2] / "tests" / "prose" / "claims.toml"
HEAD = """# Deviations in running text

Made by `make docs`; the figures below are computed from `tests/prose/claims.toml`.

`clusterspec check notes.md` (and `.txt`) compares the quantities of a document with the catalog and with each
other: figures in sentences, lists and tables, with their part, direction and scope; sums and conversions stated in the
text; ratios between tiers; figures of collectives and bisections; numbers of accelerators and NICs stated of one
machine. Fenced code, comments and addresses are skipped. The `description` of a spec is compared in the same way, where
it states a bandwidth or a peak; a sentence of it that names no part is about the nodes of the spec.

A search of folders checks running text only where the configuration includes it: `text = ["docs/**/*.md"]` in
`clusterspec.toml` names the files, as in `.gitignore`, and `clusterspec check .` then checks them with the specs.

A merely unusual claim is not reported. A finding requires a figure that is wrong in every possible interpretation,
and a known error that explains it: another direction, bits for bytes, a prefix, another scope, another generation,
sparse for dense, the memory of another accelerator. The finding lists every error that fits.

An intended figure is waived on its line, or on the line above, with a reason:

```markdown
<!-- clusterspec: ignore[measurement-without-metric] until 2027-01-31: quoted from the supplier -->
```

Text in double quotes, and code that spells a direction, are examples and not claims.
"""
MEASURED = """
## Accuracy

{claims} claims of five public documents on interconnects were labeled by hand against cited sources, line by line,
and restated in other words with the same quantities. Of the {wrong} wrong ones {found} are found, a recall of {recall}.
Of the {right} right ones {false} is reported, so {precision} of all findings are true. {ambiguous} further claims are
ambiguous and count neither way. The tests hold recall to 80 % and precision to 85 %.

| error | wrong claims | found | reported by its own rule |
|---|---|---|---|
"""
MISSED = """
## What is out of reach

A figure truncated in its last digit is not reported; nor is what only the whole text shows (a time that another
paragraph works out otherwise), or a fact that the catalog lacks (that nothing runs at such a rate). These claims are
missed:

"""


@dataclass(frozen=True)
class WrongClaim:
    """One claim: its place, whether it is right, the error of a wrong one, and the corrected text."""

    file: str
    line: int
    verdict: str
    kind: str = ""
    text: str = ""


@dataclass(frozen=True)
class ProseScore:
    """The score of some claims: the claims that count, each with the rules that reported it."""

    reported: tuple[tuple[WrongClaim, tuple[str, ...]], ...]

    def claims_of_verdict(self, verdict: str) -> list[tuple[WrongClaim, tuple[str, ...]]]:
        return [each for each in self.reported if each[0].verdict == verdict]

    @property
    def reported_wrong_claims(self) -> int:
        return sum(bool(rules) for _, rules in self.claims_of_verdict("wrong"))

    @property
    def false_reports(self) -> int:
        return sum(len(rules) for _, rules in self.claims_of_verdict("right"))

    @property
    def recall(self) -> float:
        return self.reported_wrong_claims / len(self.claims_of_verdict("wrong"))

    @property
    def precision(self) -> float:
        return self.reported_wrong_claims / (self.reported_wrong_claims + self.false_reports)


def claims() -> tuple[WrongClaim, ...]:
    """The labeled claims."""
    return tuple(WrongClaim(**each) for each in tomllib.loads(CLAIMS.read_text("utf-8"))["claim"])


def measure(labeled: Iterable[WrongClaim], catalog: Catalog) -> ProseScore:
    """The score of the restated claims, each judged as a text of its own."""
    counted = [claim for claim in labeled if claim.verdict != "ambiguous"]
    return ProseScore(
        tuple((claim, rules_of(text_problems(Source("claim.md", claim.text), catalog))) for claim in counted)
    )


def rules_of(problems: Sequence[Problem]) -> tuple[str, ...]:
    return tuple(problem.rule for problem in problems)


def page() -> str:
    """The text of ``docs/prose.md``."""
    labeled = claims()
    score = measure(labeled, Catalog.open())
    wrong, right = score.claims_of_verdict("wrong"), score.claims_of_verdict("right")
    text = MEASURED.format(
        claims=len(score.reported),
        wrong=len(wrong),
        found=score.reported_wrong_claims,
        recall=percent(score.recall),
        right=len(right),
        false=score.false_reports or "none",
        precision=percent(score.precision),
        ambiguous=len(labeled) - len(score.reported),
    )
    missed = [f"- {one_line(claim.text)}" for claim, rules in wrong if not rules]
    return HEAD + text + "\n".join(rows(wrong)) + "\n" + MISSED + "\n".join(missed) + "\n"


def rows(wrong: Sequence[tuple[WrongClaim, tuple[str, ...]]]) -> list[str]:
    """One row for each kind of error, the most frequent first."""
    kinds = Counter(claim.kind for claim, _ in wrong)
    return [
        f"| {linked(kind)} | {count} | {sum(bool(rules) for claim, rules in wrong if claim.kind == kind)} |"
        f" {sum(kind in rules for claim, rules in wrong if claim.kind == kind)} |"
        for kind, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
    ]


def linked(kind: str) -> str:
    return f"[{kind}](rules/{kind}.md)" if kind in RULES else kind.replace("-", " ")


def one_line(text: str) -> str:
    """A claim on one line; of a table, its rows."""
    return " / ".join(line.strip("| ") for line in text.splitlines() if line.strip("|- "))
