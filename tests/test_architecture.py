"""The layers of ARCHITECTURE.md, and the rules for names and output, as tests."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from clusterspec.studies import Settings, study_text
from tests.source_code import PACKAGE, modules_with, texts

ROOT = Path(__file__).resolve().parents[1]
PLANNED = """clusterspec: 1
description: Eight nodes train a model for a week.
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 16, pp: 2}
"""
FORBIDDEN = {"bw", "cfg", "ctx", "utils", "helpers", "common", "misc"}


def test_layers_import_lower_layers_only() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--config", "pyproject.toml", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_layer_calls_a_function_of_an_upper_one() -> None:
    """A function that an upper layer passes down is such a call, too: its callee runs on both sides of the border."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    height = {name: -level for level, names in enumerate(contracts[0]["layers"]) for name in names.split(" | ")}
    language = height["records"]  # the layers that replace parts of Python call what classes define
    calls: set[tuple[str, str]] = set()

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_back is not None:
            caller, callee = (str(each.f_globals.get("__name__")) for each in (frame.f_back, frame))
            low, high = (height.get(name.partition(".")[2].partition(".")[0]) for name in (caller, callee))
            if low is not None and high is not None and language < low < high and frame.f_code.co_name != "<module>":
                calls.add((caller, callee))

    studied = study_text(PLANNED, Settings.from_folder(ROOT))
    sys.setprofile(record)
    try:
        assert studied.findings
    finally:
        sys.setprofile(None)
    assert not calls


IMPORT = re.compile(r"(?m)^[ \t]*from (clusterspec[\w.]*) import ([^\n(#]+|\([^)]*\))")
FACADES = {"catalog", "cli", "cluster", "results", "studies"}
"""Packages whose ``__init__`` has functions that its modules use, and that uses the modules."""
IN_CIRCLES = """cost.activity cost.serving.activity
cost.compute.attention cost.compute.eager cost.compute.expert_layer cost.compute.layer cost.compute.recurrence
cost.compute.sparse_attention
cost.estimate cost.explain cost.host_memory cost.plan cost.plan_assumptions cost.reinforcement.memory
cost.reinforcement.times cost.timing
cost.memory.explain cost.memory.fullest
document.comments document.model
document.messages document.other_names document.schema document.validation_error
exchange.documents exchange.import_result exchange.merge
exchange.fabrics.kubernetes exchange.fabrics.serving_runtimes exchange.machines.compose exchange.surroundings
exchange.workloads.engines.command_lines exchange.workloads.engines.dynamo exchange.workloads.engines.hosted_servers
exchange.workloads.engines.tgi
exchange.held_files exchange.import_formats
exchange.workloads.megatron.programs exchange.workloads.trainers.deepspeed exchange.workloads.trainers.written_configs
spec.model.requests spec.model.workload"""
"""Modules that import each other when types and imports within functions count, too. The list only becomes shorter."""


def imports_of_modules() -> dict[str, set[str]]:
    """The modules that each module imports, anywhere in its text."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): text for path, text in texts().items()}
    names = {name.removesuffix(".__init__"): text for name, text in names.items()}
    found: dict[str, set[str]] = {}
    for module, text in names.items():
        found[module] = set()
        for source, listed in IMPORT.findall(text):
            for each in re.findall(r"(\w+)(?: as \w+)?", listed):
                wanted = f"{source}.{each}" if f"{source}.{each}" in names else source
                found[module] |= {wanted} & (names.keys() - {module})
    return found


def modules_in_circles(imports: dict[str, set[str]]) -> set[str]:
    """The modules that import themselves through others."""
    left = dict(imports)
    while ends := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others - ends for name, others in left.items() if name not in ends}
    return {name for name in left if name in reached(name, left)}


def reached(start: str, imports: dict[str, set[str]]) -> set[str]:
    """The modules that one imports, directly and through others."""
    found: set[str] = set()
    open_ = [start]
    while open_:
        new = (imports.get(open_.pop(), set()) & imports.keys()) - found
        found |= new
        open_ += new
    return found


def test_modules_import_in_no_circle_but_the_listed_ones() -> None:
    imports = {
        name: others
        for name, others in imports_of_modules().items()
        if name.removeprefix("clusterspec.").partition(".")[0] not in FACADES | {"clusterspec", "library"}
    }
    known = {f"clusterspec.{name}" for name in IN_CIRCLES.split()}
    assert modules_in_circles(imports) == known


def test_a_circle_of_imports_is_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b", "d", "f"}, "d": set(), "e": {"a"}, "f": set()}
    assert modules_in_circles(imports) == {"b", "c"}


def test_only_the_command_line_prints_and_exits() -> None:
    exits = {"print", "exit", "quit", "sys.exit", "os._exit"}
    for module, text in modules_with(r"\b(print|_?exit|quit)\b"):
        if "cli" in module.parts or module.name == "__main__.py":
            continue
        calls = {dotted_name(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
        assert not calls & exits, module


def dotted_name(node: ast.AST) -> str:
    """The name or attribute that an expression is, such as ``sys.exit``; empty for others."""
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_names_are_whole_words() -> None:
    assert not {path.stem for path in texts()} & (FORBIDDEN | {"core"})
    for module, text in modules_with(rf"(?i)\b({'|'.join(sorted(FORBIDDEN))})\b"):
        names = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
        assert not {name.lower() for name in names} & FORBIDDEN, module


def test_check_never_loads_what_only_reports_need() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", PROBE, str(ROOT / "examples" / "dgx-h100-pod.yaml")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"pint", "numpy", "jinja2", "weasyprint"} & set(loaded)


PROBE = """
import contextlib, io, sys
from clusterspec.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    run(["check", sys.argv[1]])
print(*sorted(name for name in sys.modules if "." not in name))
"""


DESIGNED = {"cluster", "workload", "layout", "scale_out", "scale_up", "accelerator", "stack", "measured", "spec"}
"""Parts of a design, of a spec and of a cluster."""
IMPORTED = r"from clusterspec\.(?:cluster|spec) import[^\n(]*(?:\([^)]*)?\b(?:resolve|read)\b"
DOORS = rf"{IMPORTED}|\b(?:Design|Study)\(|(?s:\breplace\(.*\b(?:{'|'.join(sorted(DESIGNED))})=)"
"""What stands in a module that changes a design by hand: its syntax tree is read."""
VARYING = {"cluster/variation.py", "studies/variation.py"}
FIRST_READING = {
    "studies/__init__.py",
    "cluster/__init__.py",
    "cluster/layout.py",
    "exchange/workloads/model_files/models.py",
}
"""Modules that change designs, and those that make the design of a text, or read a model that is imported."""
OTHER_RECORDS = {"results/levers.py", "analysis/tiers.py"}
"""Modules whose records have fields of the same names, and that touch no design."""
SHARES = "cost/measured.py"
"""The module that finds the measured shares of a cluster."""


def test_designs_are_varied_in_one_place() -> None:
    """No module resolves or reads a spec again, builds a design, or replaces a part of one by hand."""
    exempt = VARYING | FIRST_READING | OTHER_RECORDS | {SHARES}
    for module, text in modules_with(DOORS):
        if module.relative_to(PACKAGE).as_posix() not in exempt:
            assert not list(_other_ways(ast.parse(text))), module


def _other_ways(tree: ast.AST) -> Iterator[str]:
    doors = {("clusterspec.cluster", "resolve"), ("clusterspec.spec", "read")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if (node.module, alias.name) in doors)
        if not isinstance(node, ast.Call):
            continue
        called = dotted_name(node.func)
        if called in {"Design", "Study", "model.Design"}:
            yield called
        if called.rpartition(".")[2] == "replace" and {word.arg for word in node.keywords} & DESIGNED:
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "code",
    [
        "from clusterspec.cluster import resolve",
        "from clusterspec.spec import read as read_spec",
        "Design(spec, cluster)",
        "replace(design, cluster=other)",
        "replace(spec, layout=replace(spec.layout, tp=4))",
        "records.replace(cluster, scale_out=fabric)",
    ],
)
def test_another_way_to_change_a_design_is_found(code: str) -> None:
    assert re.search(DOORS, code) and list(_other_ways(ast.parse(code)))


NAMED = re.compile(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`")


def test_the_modules_that_the_architecture_names_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    packages = {path.stem for path in (ROOT / "clusterspec").iterdir()}
    named = {name for name in NAMED.findall(text) if name.split(".")[0] in packages and not name.endswith(".json")}
    assert len(named) > 20
    for name in named:
        module, _, attribute = name.rpartition(".")
        held = importlib.import_module(f"clusterspec.{module}")
        assert hasattr(held, attribute) or importlib.util.find_spec(f"clusterspec.{name}"), name


GENERIC = frozenset(
    [
        "added",
        "all",
        "at",
        "bare",
        "built",
        "changes",
        "closed",
        "column",
        "done",
        "doubted",
        "each",
        "every",
        "found",
        "full",
        "get",
        "given",
        "heads",
        "held",
        "kept",
        "kind",
        "known",
        "line",
        "made",
        "missing",
        "names",
        "number",
        "of",
        "on",
        "once",
        "one",
        "other",
        "others",
        "own",
        "part",
        "parts",
        "placed",
        "printed",
        "quoted",
        "rest",
        "result",
        "same",
        "shared",
        "shown",
        "some",
        "steps",
        "sum",
        "times",
        "total",
        "value",
        "values",
        "where",
        "whole",
        "with",
    ]
)
"""Words that do not say what a function returns."""


def test_no_function_has_a_name_of_one_generic_word() -> None:
    for module, text in texts().items():
        names = re.findall(r"^def (\w+)", text, re.MULTILINE)
        assert not {name for name in names if name.strip("_") in GENERIC}, module
