"""The rules that leave a point of a sweep without figures: errors outside its layout, where no figure is left."""

from __future__ import annotations

import pytest

from clusterspec.analysis.searches.sweeps import _unreadable_rules
from clusterspec.finding import Problem, Severity
from clusterspec.records import replace
from tests.designs import TRAINED, study_of

IN_LAYOUT = Problem("layout-flaw", ("layout", "tp"), "said")
ALONE = Problem("alone", ("layout",), "said")
IN_CLUSTER = Problem("cluster-flaw", ("cluster", "nodes"), "said")
AT_TOP = Problem("absent", (), "said")
WARNED = Problem("warned", ("cluster", "nodes"), "said", severity=Severity.WARNING)


@pytest.mark.parametrize(
    ("figures", "problems", "rules"),
    [
        (True, (IN_CLUSTER,), ()),
        (False, (IN_CLUSTER, IN_LAYOUT, IN_CLUSTER), ("cluster-flaw",)),
        (False, (IN_LAYOUT, ALONE), ()),
        (False, (IN_CLUSTER, AT_TOP), ("absent", "cluster-flaw")),
        (False, (WARNED,), ()),
        (False, (), ()),
    ],
)
def test_a_point_without_figures_names_the_errors_outside_its_layout(
    figures: bool, problems: tuple[Problem, ...], rules: tuple[str, ...]
) -> None:
    study = replace(study_of(TRAINED if figures else TRAINED.replace("tp: 2", "tp: 3")), problems=problems)
    assert study.has_figures is figures
    assert _unreadable_rules(study) == rules
