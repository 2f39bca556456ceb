"""Recipes of Megatron-Bridge and NeMo in Python: constants that they assign or pass by keyword, never executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from clusterspec.exchange.import_result import InputFile, chosen_part
from clusterspec.exchange.workloads.config_code import syntax_tree
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.units import plural

MARKS = ("tensor_model_parallel_size", "pipeline_model_parallel_size")


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
    keys = Keys()
    for name, node, line in _named_values(tree):
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, int | float | str | bool)):
            if node.value is not None:
                keys.put(name, node.value, line)
        elif isinstance(node, ast.Attribute) and node.attr in {"bfloat16", "float16"}:
            keys.put("bf16" if node.attr == "bfloat16" else "fp16", True, line)
    return keys


def _named_values(tree: ast.AST) -> Iterator[tuple[str, ast.expr, int]]:
    """The values assigned to names, keywords, parameter defaults and dictionary keys, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value, node.value.lineno
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    yield target.attr, node.value, node.lineno
                elif isinstance(target, ast.Name):
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
