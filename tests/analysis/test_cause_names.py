"""Every cause that a diagnosis can name is described, and every described one can be named."""

from __future__ import annotations

import ast
from pathlib import Path

from clusterspec.analysis.diagnosis import (
    call_causes,
    causes,
    families,
    hangs,
    host_causes,
    other_devices,
    possible_causes,
    release_causes,
    stated_bandwidth,
    stated_causes,
    trial_causes,
)
from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.analysis.diagnosis.fault_models import FAULT_MODELS
from clusterspec.logs.reports.cause_terms import terms
from clusterspec.logs.statements.reporting_parts import DRIVERS, PARTS
from clusterspec.results.diagnosis import ABOVE_LINKS, OTHER_ACCELERATORS


def test_causes_and_descriptions_agree() -> None:
    trees = [
        ast.parse(Path(str(module.__file__)).read_text("utf-8"))
        for module in (causes, hangs, host_causes, other_devices, release_causes, stated_bandwidth)
    ]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "Cause"]
    named = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    of_words = {term.cause for term in terms()}
    of = (families.ANYWHERE, families.ONE_NODE, families.SEVERAL_NODES)
    named |= {name for members in of for causes_of in members.values() for name, _ in causes_of}
    named |= {name for causes_of in call_causes.CALLS.values() for name, _ in causes_of}
    named |= {name for causes_of, _ in trial_causes.HELPING.values() for name, _ in causes_of}
    named |= {name for names, _ in (*PARTS, *DRIVERS) for name in names} | {OTHER_ACCELERATORS}
    assert named | {fault.name for fault in FAULT_MODELS} | {"few-nics", ABOVE_LINKS, OTHER_ACCELERATORS} | set(
        stated_causes.STOPS
    ) | {each[1] for each in possible_causes.POSSIBLE} | set(stated_causes.UNFINISHED_STOPS) | of_words == set(MEANINGS)
