"""Recipes of Megatron-Bridge and NeMo in Python: constants that they assign or pass by keyword, never executed.

``set_primary_perf_configs`` of NeMo's performance scripts takes short names of the options (NVIDIA/NeMo 90a396a5,
scripts/performance/helpers.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from clusterspec.exchange.import_result import InputFile, chosen_part
from clusterspec.exchange.workloads.config_code import syntax_tree
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.units import plural

MARKS = ("tensor_model_parallel_size", "pipeline_model_parallel_size")
SHORT_NAMES = re.compile(r"\bset_primary_perf_configs\(")
_SHORT = {
    "mbs": "micro_batch_size",
    "gbs": "global_batch_size",
    "tp_size": "tensor_model_parallel_size",
    "pp_size": "pipeline_model_parallel_size",
    "cp_size": "context_parallel_size",
    "vp_size": "virtual_pipeline_model_parallel_size",
    "ep_size": "expert_model_parallel_size",
    "etp_size": "expert_tensor_parallel_size",
    "use_mcore_fsdp": "use_megatron_fsdp",
}
_RECIPES = frozenset({"pretrain_recipe", "finetune_recipe"})
"""Functions of the modules ``nemo.collections.llm.recipes``, each of which has the name of a model."""


def read_recipe(file: InputFile) -> Keys:
    """The constants of the recipe in a file. Raises `FormatError` if there are several or it is not Python."""
    tree = syntax_tree(file, "a recipe")
    recipes = [node for node in tree.body if isinstance(node, ast.FunctionDef) and _constant_keys(node).find(*MARKS)]
    if not recipes:
        return _constant_keys(tree)
    counted = plural(len(recipes), "recipe")
    if file.part is not None:
        return _constant_keys(chosen_part(recipes, file.part, counted, ""))
    first = {name: value for name, (value, _) in _constant_keys(recipes[0]).values.items()}
    if any({name: value for name, (value, _) in _constant_keys(each).values.items()} != first for each in recipes[1:]):
        names = ", ".join(each.name for each in recipes[:6])
        return _constant_keys(chosen_part(recipes, None, counted, f"holds {counted} that differ ({names})"))
    return _constant_keys(recipes[0])


def _constant_keys(tree: ast.AST) -> Keys:
    keys, constants = Keys(), _assigned_constants(tree)
    for name, named, line in _named_values(tree):
        node = constants.get(named.id, named) if isinstance(named, ast.Name) else named
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, int | float | str | bool)):
            if node.value is not None:
                keys.put(name, node.value, line)
        elif isinstance(node, ast.Attribute) and node.attr in {"bfloat16", "float16"}:
            keys.put("bf16" if node.attr == "bfloat16" else "fp16", True, line)
    return keys


def _assigned_constants(tree: ast.AST) -> Mapping[str, ast.Constant]:
    """The constants of names that a function, or a module, assigns once and in no branch."""
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    found: dict[str, ast.Constant] = {}
    for statement in tree.body if isinstance(tree, ast.FunctionDef | ast.Module) else ():
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if stored.count(name) == 1:
                found[name] = value
    return found


def _named_values(tree: ast.AST) -> Iterator[tuple[str, ast.expr, int]]:
    """The values assigned to names, keywords, parameter defaults and dictionary keys, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _values_of_call(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield target.attr, node.value, node.lineno
                elif isinstance(target, ast.Name) and target.id not in _SHORT:
                    yield target.id, node.value, node.lineno
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name | ast.Attribute):
            yield getattr(node.target, "attr", getattr(node.target, "id", "")), node.value, node.lineno
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value, value.lineno
        elif isinstance(node, ast.arguments):
            names = [*node.posonlyargs, *node.args]
            pairs = [*zip(names[len(names) - len(node.defaults) :], node.defaults, strict=True)]
            pairs += [(name, preset) for name, preset in zip(node.kwonlyargs, node.kw_defaults, strict=True) if preset]
            for name, preset in pairs:
                yield name.arg, preset, preset.lineno


def _values_of_call(call: ast.Call) -> Iterator[tuple[str, ast.expr, int]]:
    """The keyword arguments of a call, short names replaced by long ones, and the model whose recipe is called."""
    yield from (
        (each.arg, each.value, each.value.lineno) for each in call.keywords if each.arg and each.arg not in _SHORT
    )
    match call:
        case ast.Call(func=ast.Name(id="set_primary_perf_configs"), keywords=options):
            yield from ((_SHORT[each.arg], each.value, each.value.lineno) for each in options if each.arg in _SHORT)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=model), attr=called)) if called in _RECIPES:
            yield "model_recipe_name", ast.Constant(model), call.lineno
