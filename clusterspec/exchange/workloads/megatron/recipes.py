"""Recipes of Megatron-Bridge and NeMo in Python: constants that they assign or pass by keyword, never executed.

``set_primary_perf_configs`` of NeMo's performance scripts takes short names of the options (NVIDIA/NeMo 90a396a5,
scripts/performance/helpers.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clusterspec.exchange.import_result import FormatError, InputFile, chosen_part
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


_HELPER_NAMES = {
    "tensor_parallelism": "tensor_model_parallel_size",
    "pipeline_parallelism": "pipeline_model_parallel_size",
    "virtual_pipeline_parallelism": "virtual_pipeline_model_parallel_size",
    "context_parallelism": "context_parallel_size",
    "expert_parallelism": "expert_model_parallel_size",
    "expert_tensor_parallelism": "expert_tensor_parallel_size",
    "sequence_parallelism": "sequence_parallel",
}
"""Parameters of functions of recipes, and the option that each of them sets (NVIDIA-NeMo/Megatron-Bridge 067f987d,
src/megatron/bridge/recipes; NVIDIA/NeMo 90a396a5, nemo/collections/llm/recipes).
"""
_MODEL_CLASS = re.compile(
    r"(?P<family>[A-Z]\w{1,40}?(?P<version>[0-9])?)(?:ModelProvider|(?(version)Provider|Provider(?=[0-9]))|Config(?=[0-9]))"
    r"(?P<size>[0-9]\w{0,20}[BMb])?"
)
"""A class of a model in Megatron-Bridge (``Qwen3ModelProvider14B``) or of one size in NeMo (``Llama3Config8B``)."""
_TEST = re.compile(r"test(?:_|[A-Z])")
"""The names of functions that pytest and unittest run."""
_DEEPEST = 6
"""Functions of a file that call one another."""
_MOST_CALLS = 40
"""Largest number of calls of such functions that are followed, each with other arguments."""


def read_recipe(file: InputFile) -> Keys:
    """The constants of the recipe in a file. Raises `FormatError` if there are several or it is not Python."""
    tree = syntax_tree(file, "a recipe")
    _refuse_tests(tree)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    called = {name for node in functions.values() for name in _called_names(node) if name != node.name}
    shared = _assigned_constants(tree)
    read = {
        name: _recipe_keys(node, functions, shared=shared) for name, node in functions.items() if name not in called
    }
    recipes = {name: keys for name, keys in read.items() if keys.find(*MARKS) or keys.is_undecided(*MARKS)}
    recipes = recipes or {name: keys for name, keys in read.items() if keys.find("global_batch_size")}
    recipes = recipes or _assigned_presets(tree)
    if not recipes:
        return _constant_keys(ast.walk(tree), _assigned_constants(tree))
    counted, each = plural(len(recipes), "recipe"), list(recipes.values())
    stated = [{name: value for name, (value, _) in keys.values.items()} for keys in each]
    if file.part is not None or any(other != stated[0] for other in stated[1:]):
        shown = ", ".join([*recipes][:6])
        return chosen_part(each, file.part, counted, f"holds {counted} that differ ({shown})")
    return each[0]


def _refuse_tests(tree: ast.Module) -> None:
    """Raise `FormatError` for tests (pytest, unittest), whose values are those of several recipes or are compared."""
    within = (node for each in tree.body for node in ([each, *each.body] if isinstance(each, ast.ClassDef) else [each]))
    if test := next((node for node in within if isinstance(node, ast.FunctionDef) and _TEST.match(node.name)), None):
        raise FormatError(f"holds tests of recipes ({test.name}), none of them a run: import the recipe", test.lineno)


def _assigned_presets(tree: ast.Module) -> dict[str, Keys]:
    """The presets that a module assigns to names, each a call with options or a changed copy of an earlier one.

    Source: NVIDIA-NeMo/Megatron-Bridge, scripts/performance/configs (``WorkloadBaseConfig``, ``replace(BASE, …)``).
    """
    built: dict[str, Keys] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                keys = _constant_keys([call], {})
                bases = [built[each.id] for each in call.args if isinstance(each, ast.Name) and each.id in built]
                for base in bases:
                    keys.values = base.values | keys.values
                built[name] = keys
    return {name: keys for name, keys in built.items() if keys.find(*MARKS)}


def _called_names(tree: ast.AST) -> set[str]:
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


Constants = Mapping[str, ast.Constant]


def _recipe_keys(
    recipe: ast.FunctionDef,
    functions: Mapping[str, ast.FunctionDef],
    given: Constants | None = None,
    callers: tuple[str, ...] = (),
    followed: dict[tuple[object, ...], Keys] | None = None,
    *,
    shared: Constants,
) -> Keys:
    """The constants of a recipe, and of the functions of its file that it calls, with the arguments it gives them.

    Values that a branch assigns, on a test that its parameters do not decide, are undecided.
    """
    constants = {**shared, **_parameter_defaults(recipe), **_assigned_constants(recipe), **(given or {})}
    nodes, branches = _nodes_by_branch(recipe.body, constants)
    keys, followed = Keys(), {} if followed is None else followed
    for node in nodes if len(callers) < _DEEPEST else ():
        called = functions.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if isinstance(node, ast.Call) and called is not None and called.name not in callers:
            passed = _passed_constants(node, called, constants)
            call = (called.name, *((name, repr(passed[name].value)) for name in sorted(passed)))
            if call not in followed and len(followed) < _MOST_CALLS:
                followed[call] = Keys()  # while it is read
                followed[call] = _recipe_keys(
                    called, functions, passed, (*callers, recipe.name), followed, shared=shared
                )
            inner = followed.get(call, Keys())
            keys.values |= inner.values
            keys.undecided += [each for each in inner.undecided if each not in keys.undecided]
    own = _constant_keys([recipe.args, *nodes], constants)
    keys.values |= own.values
    if (base := _base_of_recipe(recipe)) is not None and base.id not in functions:
        keys.put(BASE, base.id, base.lineno)
    for test, assigned in branches:
        keys.undecided += [
            (f"{name}={value}", line, test)
            for name, (value, line) in _constant_keys(assigned, constants).values.items()
            if keys.values.get(name, (None,))[0] != value
        ]
    return keys


BASE = "base_of_recipe"
"""A function of another module whose configuration a recipe changes."""


def _base_of_recipe(recipe: ast.FunctionDef) -> ast.Name | None:
    """The function whose configuration a recipe takes, changes and returns (``cfg = _pretrain_common()``)."""
    returned = {
        node.value.id for node in recipe.body if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    }
    for statement in recipe.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name() as base)) if name in returned:
                return base if base.id[:1].islower() or base.id.startswith("_") else None
    return None


def _passed_constants(call: ast.Call, called: ast.FunctionDef, constants: Constants) -> Constants:
    """The constants that a call passes to the parameters of a function."""
    names = [each.arg for each in called.args.args]
    passed = [*zip(names, call.args, strict=False), *((each.arg, each.value) for each in call.keywords if each.arg)]
    values = ((name, constants.get(node.id, node) if isinstance(node, ast.Name) else node) for name, node in passed)
    return {name: node for name, node in values if isinstance(node, ast.Constant)}


def _parameter_defaults(function: ast.FunctionDef) -> dict[str, ast.Constant]:
    return {name: node for name, node, _ in _presets(function.args) if isinstance(node, ast.Constant)}


def _nodes_by_branch(
    body: Sequence[ast.stmt], constants: Constants
) -> tuple[list[ast.AST], list[tuple[int, list[ast.AST]]]]:
    """The syntax nodes of statements, and of branches on undecided tests with the lines of these tests."""
    certain: list[ast.AST] = []
    branches: list[tuple[int, list[ast.AST]]] = []
    for statement in body:
        if isinstance(statement, ast.If):
            decided = _test_result(statement.test, constants)
            if decided is None:
                branches.append((statement.lineno, [*ast.walk(statement)]))
                continue
            inner, others = _nodes_by_branch(statement.body if decided else statement.orelse, constants)
            certain += inner
            branches += others
        elif isinstance(statement, ast.For | ast.While):
            branches.append((statement.lineno, [*ast.walk(statement)]))
        else:
            certain += ast.walk(statement)
    return certain, branches


def _test_result(test: ast.expr, constants: Constants) -> bool | None:
    """The result of a test of one parameter, such as ``performance_mode`` or ``precision == "bf16"``."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            result = _test_result(inner, constants)
            return None if result is None else not result
        case ast.Name(id=name) if name in constants:
            return bool(constants[name].value)
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=other)]) if (
            name in constants
        ):
            equal = constants[name].value == other
            return (
                equal
                if isinstance(op, ast.Eq | ast.Is)
                else not equal
                if isinstance(op, ast.NotEq | ast.IsNot)
                else None
            )
    return None


_PRECISIONS = ("mixed_precision", "precision_config")


def _constant_keys(nodes: Iterable[ast.AST], constants: Constants) -> Keys:
    keys = Keys()
    for name, named, line in _named_values(nodes):
        node = constants.get(named.id, named) if isinstance(named, ast.Name) else named
        if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, int | float | str | bool)):
            if node.value is not None:
                keys.put(_HELPER_NAMES.get(name, name), node.value, line if node is named else node.lineno)
        elif name in _PRECISIONS and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            keys.put(name, node.func.id, line)  # a function of the name of its precision (bf16_mixed)
        elif isinstance(node, ast.Attribute) and node.attr in {"bfloat16", "float16"}:
            keys.put("bf16" if node.attr == "bfloat16" else "fp16", True, line)
    return keys


def _assigned_constants(tree: ast.AST) -> dict[str, ast.Constant]:
    """The constants of names that a function, or a module, assigns once and in no branch."""
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    found: dict[str, ast.Constant] = {}
    for statement in tree.body if isinstance(tree, ast.FunctionDef | ast.Module) else ():
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if stored.count(name) == 1:
                found[name] = value
    return found


def _named_values(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr, int]]:
    """The values assigned to names, keywords, parameter defaults and dictionary keys, each with its line."""
    for node in nodes:
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
            yield from _presets(node)


def _presets(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr, int]]:
    """The defaults of parameters, each with its line."""
    names = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [
        (name, preset) for name, preset in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if preset
    ]
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
        case ast.Call(func=ast.Attribute(value=ast.Name(id="AutoBridge"), attr="from_hf_pretrained"), args=[path, *_]):
            yield "hf_path", path, call.lineno
    for node in (call.func, *call.args):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if match := _MODEL_CLASS.fullmatch(name):
            parts = (match["family"].removesuffix("MoE"), match["size"])
            yield "model_recipe_name", ast.Constant("_".join(filter(None, parts))), call.lineno
