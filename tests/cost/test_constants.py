"""No efficiency without an address: every constant of the cost model is declared with its reason or its source."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import clusterspec.cost as package
from clusterspec.cost import CONSTANTS
from clusterspec.cost.memory import GROUP, range_figures
from clusterspec.quantity import Figure
from clusterspec.source import Assumed, Cited
from tests.spec_keys import unknown_keys

from .plans import plan

COST = Path(package.__file__).parent
MODULES = sorted(
    [
        *(path for folder in ("batch", "collectives", "compute") for path in (COST / folder).glob("*.py")),
        *(COST / f"{name}.py" for name in ("layer_tables", "measured", "step", "tables", "traffic")),
    ]
)
DECLARES = {"assumed_figure", "cited_figure", "_kernel_constant", "_registered_figure", "Protocol", "_hops", "_tuning"}
"""Calls whose arguments are constants with their reasons; protocols cite the library's own table."""
TOLERANCES = {"CLOSE", "_LOWEST", "MICRO"}
"""Names of numbers that stop a search, or convert a unit: they say nothing of a machine."""


def test_every_declared_constant_has_a_reason() -> None:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
    figures = [(group, name, figure) for group, all_of_it in CONSTANTS.items() for name, figure in all_of_it.items()]
    figures += [(GROUP, name, figure) for name, figure in range_figures()]
    assert len(figures) > 40
    for group, name, figure in figures:
        reason = figure.origin.why if isinstance(figure.origin, Assumed) else figure.origin.source  # type: ignore[union-attr]
        assert isinstance(figure.origin, Assumed | Cited), (group, name)
        assert len(reason) > 10, (group, name)


@pytest.mark.parametrize("model", ["llama-3.1-8b", "qwen3-next-80b-a3b"])
def test_an_estimate_lists_the_constants_of_each_group_by_name(model: str) -> None:
    """In whatever order modules declare them."""
    keys = [key for key, _, _ in plan(workload={"model": model}).assumptions]
    groups = {group: [key for key in keys if key.startswith(f"{group} ")] for group in ("kernels", "recurrence")}
    assert len(groups["kernels"]) > 20 and bool(groups["recurrence"]) == ("next" in model)
    for group, listed in groups.items():
        assert listed == sorted(listed) and len(listed) == len(set(listed)), group


def test_the_constants_of_expert_biases_are_listed_of_models_that_have_them_alone() -> None:
    """Whichever plan was estimated before: their module is loaded with the first such model."""
    for model, number in (("llama-3.1-8b", 0), ("gpt-oss-20b", 5), ("qwen3-30b-a3b", 0)):
        found = plan(workload={"model": model}, layout={"framework": "megatron-core"}).assumptions
        assert len([key for key, _, _ in found if key.startswith("biases of experts ")]) == number, model


CITED: dict[str, dict[str, float]] = {
    "recurrence": {
        **{"delta.tokens": 64, "delta.key_products": 3, "delta.value_products": 2, "delta.state_products": 3},
        **{"delta.copies": 2, "delta.value_passes": 2, "delta.state_passes": 2, "delta.launches": 6},
        **{"mamba-2.tokens": 128, "mamba-2.key_products": 1, "mamba-2.value_products": 1, "mamba-2.state_products": 2},
        **{"mamba-2.copies": 0, "mamba-2.value_passes": 3, "mamba-2.state_passes": 6, "mamba-2.launches": 5},
    },
    "links": {"through host": 0.38},
    "networks": {"sockets": 5.4e9},
    "reinforcement": {"rollout.token": 78e-6},
    "collectives": {
        **{"tree over ring": 0.92, "tree LL over tree": 1 / 3.8, "tree LL128 in one node": 7 / 9},
        **{"LL between two nodes": 22.5e9, "LL between more nodes": 19e9, "NVLS latency": 25e-6},
        **{"NVLS tree hop": 20.9e-6, "CollNet latency": 31e-6, "posting a message": 1e-6, "torus hop": 1e-6},
        "largest part of a message that an all-to-all sends by LL": 16384,
    },
}
"""Constants as their sources state them, read there: no fit changes one."""


def test_a_cited_constant_is_the_figure_of_its_source() -> None:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
    cited = {
        group: {name: figure.value for name, figure in whole.items() if isinstance(figure.origin, Cited)}
        for group, whole in CONSTANTS.items()
    }
    assert {group: whole for group, whole in cited.items() if whole} == {
        group: pytest.approx(whole) for group, whole in CITED.items()
    }


SHARES = {
    "kernels": "tile.128x128 tile.128x64 usual.matmul usual.sustained usual.attention usual.attention.backward"
    " usual.memory fusion.fused fusion.eager backward.weights",
    "links": "ring pair reduction pcie through_host best_of_mesh exchange_over_ring",
    "networks": "ring without_gpudirect",
    "collectives": "tree_over_ring tree_LL_over_tree tree_LL128_in_one_node tree_between_islands_over_ring",
    "power": "idle least_cap",
    "published": "mfu.cores.bf16 mfu.cores.fp8 mfu.cores.fp4 mfu.systolic.bf16 mfu.systolic.fp8",
    "serving": "streaming network exchange_line weight_only wave uneven",
    "reinforcement": "sync.share training.efficiency",
}
"""Constants by group that are shares of a rate, a time or a power."""


def test_a_share_is_at_most_the_whole_and_a_narrower_format_or_slower_way_has_less() -> None:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
    for group, names in SHARES.items():
        for name in names.split():
            assert 0 < CONSTANTS[group][name.replace("_", " ") if group in SPACED else name].value < 1, (group, name)
    kernels, links, known = CONSTANTS["kernels"], CONSTANTS["links"], CONSTANTS["published"]
    assert kernels["fusion.eager"].value < kernels["fusion.fused"].value
    assert kernels["tile.128x64"].value < kernels["tile.128x128"].value
    assert links["through host"].value < links["pcie"].value < links["ring"].value < links["best of mesh"].value
    assert known["mfu.cores.fp4"].value < known["mfu.cores.fp8"].value < known["mfu.cores.bf16"].value


SPACED = {"links", "networks", "collectives"}
"""Groups whose names have spaces."""


def test_the_middle_of_a_range_lies_between_its_ends() -> None:
    """Triples of figures, alone or by name, in every module: low, middle, high."""
    modules = [
        importlib.import_module(each.name) for each in pkgutil.walk_packages(package.__path__, "clusterspec.cost.")
    ]
    values = [value for module in modules for value in vars(module).values()]
    named = [each for value in values if isinstance(value, dict) for each in value.values()]
    triples = [
        each
        for each in (*values, *named)
        if isinstance(each, tuple) and len(each) == 3 and all(isinstance(one, Figure) for one in each)
    ]
    assert len(triples) > 8
    for low, middle, high in triples:
        assert low.value <= middle.value <= high.value, (low.origin, low.value, middle.value, high.value)


def bare(tree: ast.AST) -> Iterator[float]:
    """Numbers with a fraction that stand outside a declaration and outside a docstring."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DECLARES:
            continue
        if isinstance(node, ast.Assign) and any(
            isinstance(at, ast.Name) and at.id in TOLERANCES for at in node.targets
        ):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value != round(node.value):
            yield node.value
        yield from bare(node)


def named(tree: ast.Module) -> Iterator[str]:
    """Names of a module that are bound to a bare float."""
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, float)
        ):
            yield from (at.id for at in node.targets if isinstance(at, ast.Name) and at.id not in TOLERANCES)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_constant_is_a_bare_number(path: Path) -> None:
    assert list(named(ast.parse(path.read_text("utf-8")))) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_fraction_in_the_code_lacks_a_reason(path: Path) -> None:
    found = [value for value in bare(ast.parse(path.read_text("utf-8"))) if value not in {0.5}]
    assert found == []


def test_every_key_that_is_named_is_a_key_of_the_spec() -> None:
    assert unknown_keys("cost") == []
