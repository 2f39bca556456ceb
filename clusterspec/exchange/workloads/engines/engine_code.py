"""Engines that Python programs declare by a call with their options: Ray Serve's ``LLMConfig`` and vLLM's ``LLM``.

Names: ray-project/ray, doc/source/serve/llm (``model_loading_config``, ``engine_kwargs``, ``accelerator_type``,
``deployment_config``) and ``vLLMEngineProcessorConfig`` of ray.data.llm; vllm/entrypoints/llm.py. The syntax tree is
read: nothing is imported or executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from clusterspec.exchange.import_result import InputFile, excerpt
from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.config_code import syntax_tree
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.records import dataclass

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?:ray\.(?:serve|data)\.llm|vllm(?:\.\w{1,40})*)[ \t]+import\b|import[ \t]+vllm\b)",
    re.MULTILINE,
)
_CALL = re.compile(r"(?<!\w)(?:LLMConfig|vLLMEngineProcessorConfig|LLM|AsyncEngineArgs|EngineArgs)\(")
_OTHER_TEXT = re.compile(r"^[ \t]*(?:```|~~~|\.\. code)|\A#!.{0,60}sh\b", re.MULTILINE)
"""A page with code in it, or a shell script."""
_CONFIGS = frozenset({"LLMConfig", "vLLMEngineProcessorConfig"})
"""Classes of Ray, which hold the options of the engine in ``engine_kwargs``."""
_ENGINES = frozenset({"LLM", "AsyncEngineArgs", "EngineArgs"})
"""Classes of vLLM, whose arguments are options of the engine."""
_DEEPEST = 8
"""Mappings that contain one another."""
_NAMED = {"num_replicas": "replicas", "concurrency": "replicas", "accelerator_type": "accelerator_type"}


def is_engine_code(text: str) -> bool:
    """Whether a text is a program that declares an engine by a call."""
    return bool(_IMPORT.search(text) and _CALL.search(text)) and not _OTHER_TEXT.search(text)


@dataclass
class _Program:
    """The values of names that a program assigns once, at its top, and the items that it adds to its mappings.

    An item has its key, its value and the line of the test that decides its branch (0 without a test).
    """

    constants: dict[str, ast.expr]
    items: dict[str, list[tuple[str, ast.expr, int]]]

    def value_of(self, node: ast.expr) -> ast.expr:
        return self.constants.get(node.id, node) if isinstance(node, ast.Name) else node

    def options_of(self, node: ast.expr | None, depth: int = 0) -> dict[str, ast.expr]:
        """The keywords of a call, such as ``dict(…)``, or the items of a dictionary; none of another expression."""
        found: dict[str, ast.expr] = {}
        value = None if node is None or depth > _DEEPEST else self.value_of(node)
        if isinstance(value, ast.Call):
            for each in value.keywords:
                found |= {each.arg: each.value} if each.arg else self.options_of(each.value, depth + 1)
            if value.args and _last_name(value.func) == "LLM":
                found["model"] = value.args[0]
        elif isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            found = {
                key.value: each for key, each in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
        if isinstance(node, ast.Name):
            found |= {key: each for key, each, test in self.items.get(node.id, ()) if not test}
        return found

    def undecided_items(self, node: ast.expr) -> list[tuple[str, int, int]]:
        items = self.items.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return [(f"--{key} {excerpt(ast.unparse(each))}", each.lineno, test) for key, each, test in items if test]


def engines_of_code(file: InputFile) -> list[tuple[str, Keys]]:
    """The engines that a program declares, each with its options; those that it computes are ``$`` and their code.

    Raises `FormatError` if the file is not Python, or too large.
    """
    tree = syntax_tree(file, "Python")
    program = _program_of(tree)
    found: list[tuple[str, Keys]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _last_name(node.func)
        options = program.options_of(node) if name in _CONFIGS | _ENGINES else {}
        if (name in _CONFIGS and "engine_kwargs" in options) or (name in _ENGINES and "model" in options):
            found.append(("vllm", _keys_of(name, node, options, program)))
    return sorted(found, key=lambda each: each[1].command.line)


def _keys_of(name: str, call: ast.Call, options: Mapping[str, ast.expr], program: _Program) -> Keys:
    keys = Keys(command=Command((Word(name, call.lineno),)))
    if name in _ENGINES:
        _put_options(keys, options, program)
        return keys
    loaded = program.options_of(options.get("model_loading_config")) or options
    if (model := loaded.get("model_source", loaded.get("model_id"))) is not None:
        _put_options(keys, {"model": model}, program)
    _put_options(keys, program.options_of(options["engine_kwargs"]), program)
    keys.undecided += program.undecided_items(options["engine_kwargs"])
    placed = program.options_of(options.get("deployment_config")) | dict(options)
    _put_options(keys, {short: placed[long] for long, short in _NAMED.items() if long in placed}, program)
    scaling = program.options_of(placed.get("autoscaling_config"))
    ends = [program.value_of(scaling[end]) for end in ("min_replicas", "max_replicas") if end in scaling]
    values = [end.value if isinstance(end, ast.Constant) else None for end in ends]
    if len(values) == 2 and values[0] == values[1] is not None:
        _put_options(keys, {"replicas": ends[0]}, program)
    elif scaling:
        keys.put("replicas", "$autoscaling_config", min(each.lineno for each in scaling.values()))
    return keys


def _put_options(keys: Keys, options: Mapping[str, ast.expr], program: _Program) -> None:
    """Add options by name; an option that is off is left out, and the value of a computed option is its code."""
    for name, node in options.items():
        value = program.value_of(node)
        if not isinstance(value, ast.Constant):
            if not isinstance(value, ast.Dict | ast.List | ast.Tuple):
                keys.put(name, f"${excerpt(ast.unparse(value))}", node.lineno)
        elif value.value is not False and value.value is not None:
            keys.put(name, value.value, value.lineno)


def _program_of(tree: ast.Module) -> _Program:
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    constants: dict[str, ast.expr] = {}
    items: dict[str, list[tuple[str, ast.expr, int]]] = {}
    for statement in tree.body:
        test = 0 if isinstance(statement, ast.Assign) else statement.lineno
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if not test and stored.count(name) == 1:
                    constants[name] = value
                case ast.Assign(targets=[ast.Subscript(ast.Name(id=name), ast.Constant(value=str(key)))], value=value):
                    items.setdefault(name, []).append((key, value, test))
    return _Program(constants, items)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
