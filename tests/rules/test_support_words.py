"""What a message about the support matrix advises: the nearest release that supports the design, or doing without."""

from __future__ import annotations

from clusterspec.catalog.frameworks import Feature, Statement
from clusterspec.catalog.releases import combination
from clusterspec.rules.knowledge.support import refusal_message
from tests.effort import each

ADVICE = (
    ("tp + pp", Feature(True, since="1.2"), "use release 1.2 or later"),
    ("tp + pp", Feature(True, until="1.2"), "use a release before 1.2"),
    ("tp + pp", Feature(True, since="1.2", note="by a flag"), "use release 1.2 or later (by a flag)"),
    ("tp + pp", Feature(False, until="2.0"), "change `layout.tp` or `layout.pp`, or use release 2.0 or later"),
    ("tp + pp", Feature(False), "change `layout.tp` or `layout.pp`, or use other software"),
    ("pp", Feature(False, since="1.2"), "do without it, or use other software"),
    (
        "pp without sequence-parallel",
        Feature(False),
        "change `layout.pp` or `layout.sequence_parallel`, or use other software",
    ),
    ("experts on sm_80", Feature(False), "do without it, or use other software"),
    ("tp + experts", Feature(False), "change `layout.tp`, or use other software"),
)


@each(("line", "feature", "help_"), ADVICE)
def test_a_refused_line_is_answered_by_the_release_that_has_it(line: str, feature: Feature, help_: str) -> None:
    found = refusal_message(
        "framework 1.0", Statement(combination(line), feature), frozenset({"tp", "pp", "sm_80"}), "a100"
    )
    assert found.help == help_


WORDS = {
    "pp": "pipeline parallelism",
    "tp/pp": "tensor parallelism and pipeline parallelism",
    "tp + pp": "tensor parallelism with pipeline parallelism",
    "experts + tp + pp without sequence-parallel": (
        "a mixture of experts with tensor parallelism and pipeline parallelism without sequence parallelism"
    ),
    "on sm_80": "",
    "on sm_80 without sequence-parallel": "no sequence parallelism",
}


def test_a_message_says_which_features_do_not_go_together() -> None:
    used = frozenset({"experts", "tp", "pp", "sm_80"})
    assert {line: combination(line).words(used) for line in WORDS} == WORDS
