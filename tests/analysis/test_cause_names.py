"""Every cause that a diagnosis can name is described, and every described one can be named."""

from __future__ import annotations

import ast
from pathlib import Path

from clusterspec.analysis import causes
from clusterspec.analysis.causes import MEANINGS
from clusterspec.analysis.fault_models import FAULT_MODELS


def test_causes_and_descriptions_agree() -> None:
    tree = ast.parse(Path(causes.__file__).read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Cause"]
    named = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert named | {fault.name for fault in FAULT_MODELS} | {"few-nics"} == set(MEANINGS)
