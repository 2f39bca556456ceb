"""Launches of Megatron-Bridge: ``setup_experiment.py`` and ``run_script.py`` of its performance scripts, and
``run_recipe.py``.

Options: NVIDIA-NeMo/Megatron-Bridge 067f987d, scripts/performance/argument_parser.py and scripts/training/run_recipe.py
(options, then ``KEY=VALUE`` of its configuration, which go before); the recipe states what a launch leaves out.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import LIST, ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, set_choice
from clusterspec.exchange.workloads.megatron.recipes import BASE
from clusterspec.exchange.workloads.model_files.changed_models import set_named_model
from clusterspec.exchange.workloads.model_files.models import catalog_model

_NAMES = r"(?:\w{0,40}setup_experiment|run_script|run_recipe)\.py"
_PROGRAM = re.compile(rf"(?:^|/){_NAMES}$")
MARK = re.compile(rf"scripts/(?:performance|training)/{_NAMES}|--compute_dtype\b")
LAUNCH = re.compile(rf"{_NAMES}(?![^\s\"'])|--compute_dtype\b")
_OVERRIDE = re.compile(r"\+{0,2}([A-Za-z][\w.]{0,120})=(.{0,400})", re.DOTALL)
_STAGE = re.compile(r"_(?:pretrain|sft|peft|lora|dora|finetune)(?:_\w{0,80})?$|_config$")
"""The text after the name of the model in the name of a recipe."""
_GENERIC = re.compile(r"vanilla_gpt(?:_|$)")
"""A recipe without a model: the defaults of Megatron-LM (src/megatron/bridge/recipes/gpt/h100/vanilla_gpt.py)."""
_ADAPTERS = re.compile(r"_(?:peft|lora|dora)(?=_|$)")
_SHORT = {
    "mr": "model_recipe_name",
    "ng": "num_gpus",
    "gn": "gpus_per_node",
    "gb": "global_batch_size",
    "mb": "micro_batch_size",
    "sl": "seq_length",
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "cp": "context_parallel_size",
    "vp": "virtual_pipeline_model_parallel_size",
    "ep": "expert_model_parallel_size",
    "et": "expert_tensor_parallel_size",
    "c": "compute_dtype",
}
_DTYPES = {"bf16": ("bf16", None), "nvfp4": ("fp4", "nvfp4"), "fp8": ("fp8", None)}
_RECIPES = {"cs": "current", "ds": "delayed", "mx": "mxfp8", "sc": "blockwise"}
_MIXED = re.compile(
    r"(?:\w{1,40}_)?(?P<width>bf16|fp16)(?:_with_(?P<narrow>fp8_(?:delayed|current|subchannel)_scaling|mxfp8|nvfp4))?_mixed"
)
"""Names of mixed precision (NVIDIA-NeMo/Megatron-Bridge 067f987d, src/megatron/bridge/training/mixed_precision.py)."""
_SCALING = {"delayed": "delayed", "current": "tensorwise", "subchannel": "blockwise"}
_CONFIGURED = re.compile(
    r"^train[ \t]*:[ \t]*(?:#.*)?\n(?:(?:[ \t].*)?\n){0,40}?[ \t]+train_iters[ \t]*:", re.MULTILINE
)
DEGREES = ("tensor_model_parallel_size", "pipeline_model_parallel_size")
FACTORY = re.compile(r"(?:^|\s)--factory[ =]")
"""An option of launches of NeMo 2, which names the function of a recipe."""
LAUNCHER = re.compile(r"(?:^|[/\s])launcher_scripts/main\.py(?=\s)|(?:^|\s)stages=\[", re.MULTILINE)
"""A launch of NeMo-Framework-Launcher (NVIDIA/NeMo-Framework-Launcher 26e42fa9, launcher_scripts/main.py)."""
OF_RUN = re.compile(r"log\.\w{1,60}|trainer\.max_steps")
"""Options in which launches of one layout may differ."""
_SECTION = re.compile(r"^(?:ddp|checkpoint|optimizer|scheduler|logger|dataset|mixed_precision)[ \t]*:", re.MULTILINE)
"""Other sections of ``ConfigContainer`` (src/megatron/bridge/training/config.py)."""
BUILT = re.compile(r"^def [^\n]{1,400}?->\s*[\"']?ConfigContainer\b", re.MULTILINE)
"""A function of a recipe in Python."""
_DISPATCHERS = {"deepep": "deepep", "hybridep": "hybrid"}


def is_performance_launch(keys: Keys) -> bool:
    """Whether a launch starts a performance script, or a recipe that changes a model's recipe like these scripts."""
    names_recipe = keys.find("model_recipe_name") is not None and not keys.command.words
    started = any(_PROGRAM.search(word.text) for word in keys.command.words)
    return _runs_recipe(keys) or ((started or names_recipe) and keys.find("compute_dtype", "c") is not None)


def _runs_recipe(keys: Keys) -> bool:
    words = [word.text for word in keys.command.words]
    return any(_PROGRAM.search(word) for word in words) and not {"--recipe", "--model"}.isdisjoint(words)


def leaves_degrees_open(keys: Keys, text: str) -> bool:
    """Whether keys belong to Megatron-Bridge. There a recipe states the degrees that a configuration leaves out, and a
    model those that a recipe leaves out.
    """
    stated = {"train.train_iters", "trainer.num_nodes", "training.trainer.num_nodes"} & keys.values.keys()
    built = keys.find("global_batch_size", "micro_batch_size") is not None and bool(BUILT.search(text))
    return bool(stated) or built or (keys.is_undecided(*DEGREES) and not keys.command.words)


def is_configuration(text: str) -> bool:
    """Whether a text is a configuration of Megatron-Bridge in YAML, a recipe of it in Python, or a launch of a recipe
    of NeMo 2: all may leave the layout to a recipe or a model.
    """
    configured = bool(_CONFIGURED.search(text) and _SECTION.search(text))
    launched = "trainer.num_nodes=" in text and (FACTORY.search(text) or LAUNCHER.search(text))
    return configured or bool(BUILT.search(text)) or bool(launched)


def list_group(keys: Keys, builder: ImportBuilder) -> None:
    """List the configuration of NeMo-Framework-Launcher that a launch changes (``training=gpt3/5b``)."""
    group = next((name for name in _GROUPS if name in keys.values), None)
    if group and "stages" in keys.values and "/" in (named := str(keys.values[group][0])):
        keys.used |= {group, "stages"}
        why = "a configuration of NeMo-Framework-Launcher, which states what the launch leaves out: import it as well"
        builder.unknown(f"{group}={excerpt(named)}", why, keys.line(group))


def list_base(keys: Keys, builder: ImportBuilder) -> None:
    """List the function of another module whose configuration a recipe changes."""
    if base := keys.get(BASE):
        left = "what this recipe leaves out (batches, precision, adapters)"
        why = f"a function of another module, which states {left}: not read"
        builder.unknown(f"{excerpt(base)}()", why, keys.line(BASE))


_GROUPS = ("training", "fine_tuning", "peft")
"""Groups of configurations of NeMo-Framework-Launcher (launcher_scripts/conf/config.yaml)."""


def take_mixed_precision(keys: Keys) -> None:
    """Replace a name of mixed precision, such as ``bf16_with_mxfp8_mixed``, by the options that it stands for."""
    name = keys.find("mixed_precision", "precision_config")
    match = _MIXED.fullmatch(str(keys.values[name][0])) if name else None
    if name is None or match is None:
        return
    line, narrow = keys.values[name][1], match["narrow"] or ""
    keys.used.add(name)
    keys.put(match["width"], True, line)
    if narrow == "nvfp4":
        keys.put("fp4_format", "e2m1", line)
        keys.put("fp4_recipe", "nvfp4", line)
    elif narrow:
        keys.put("fp8_format", "hybrid", line)
        keys.put("fp8_recipe", _SCALING.get(narrow.split("_")[1] if "_" in narrow else "", narrow), line)


def take_overrides(keys: Keys) -> None:
    """Take decided words ``KEY=VALUE`` of a launch of a recipe as options of these names, which go before others."""
    for word in keys.command.words if _runs_recipe(keys) else ():
        if word.branch == keys.command.branch and (match := _OVERRIDE.fullmatch(word.text)):
            last = match[1].rpartition(".")[2]
            for name in (last, *(short for short, long in _SHORT.items() if long == last)):
                keys.values.pop(name, None)
            keys.put(match[1], match[2], word.line)


def take_factory(keys: Keys) -> None:
    """Take the nodes and devices that a launch of NeMo 2 passes to its recipe (``llama3_8b(num_nodes=2)``), unless it
    overrides them, and the name of the recipe as that of the model.

    NVIDIA/NeMo 00617962, nemo/collections/llm/recipes/llama3_8b.py: ``pretrain_recipe`` and ``finetune_recipe``, which
    trains LoRA unless ``peft_scheme`` of later releases is None.
    """
    pairs = zip(keys.command.words, keys.command.words[1:], strict=False)
    factory = next((word for option, word in pairs if option.text == "--factory"), None)
    call = _CALL.fullmatch(factory.text) if factory and not factory.branch else None
    if factory is None or call is None:
        return
    given = {each["name"]: each["count"] for each in _COUNT_GIVEN.finditer(call["arguments"] or "")}
    for parameter, name in (("num_nodes", "trainer.num_nodes"), ("num_gpus_per_node", "trainer.devices")):
        if parameter in given and name not in keys.values:
            keys.put(name, given[parameter], factory.line)
    scheme = _SCHEME_GIVEN.search(call["arguments"] or "")
    if scheme or any(word.text == "finetune" for word in keys.command.words):
        keys.put("peft_scheme", scheme["scheme"] if scheme else "lora", factory.line)
    if re.search(r"\d", call["name"]):  # the name of a model has a size or a release
        keys.put("model_recipe_name", call["name"], factory.line)


_CALL = re.compile(r"(?P<name>[A-Za-z]\w{1,60})(?:\((?P<arguments>[^()]{0,400})\))?")
_COUNT_GIVEN = re.compile(r"\b(?P<name>num_nodes|num_gpus_per_node)=(?P<count>\d{1,6})(?!\d)")
_SCHEME_GIVEN = re.compile(r"\bpeft_scheme=[\"']?(?P<scheme>\w{1,20})")


def name_long_options(keys: Keys) -> None:
    """Name short options by their long ones; ``None`` as a value is an option that is not given."""
    for short, long in _SHORT.items():
        if short in keys.values and long not in keys.values:
            keys.values[long] = keys.values.pop(short)
    for name in [name for name, (value, _) in keys.values.items() if value == "None"]:
        keys.used.add(name)
        del keys.values[name]


def set_performance_keys(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model and precision, and count the ranks; list what the recipe states."""
    line = keys.line("compute_dtype", "recipe", "model")
    name, _, suffix = str(keys.get("compute_dtype")).lower().partition("_")
    precision, recipe = _DTYPES.get(name, (None, None))
    builder.set("workload.precision", precision, line)
    words = suffix or str(keys.get("fp8_recipe") or "")
    recipe = recipe or _RECIPES.get(words)
    builder.set("workload.recipe", recipe if precision in {"fp8", "fp4"} else None, line)
    set_recipe_model(keys, builder)
    set_choice(keys, "layout.dispatcher", ("moe_flex_dispatcher_backend",), _DISPATCHERS, builder)
    builder.count("ranks", keys.integer("num_gpus"), keys.line("num_gpus"))
    degrees = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")
    if not all(keys.find(degree) for degree in degrees):
        builder.unknown("options that the launch leaves out", "the recipe of the model states them", line)


def set_recipe_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model of a recipe (``qwen3_235b_a22b``), in older releases family and size (``llama31``, ``405b``)."""
    names = ("model_recipe_name", "model_name", "recipe", "model")
    size = str(keys.get("model_size") or "")
    stated = str(keys.get(*names) or "")
    described = keys.find("num_layers") and keys.find("hidden_size")
    if not stated or _GENERIC.match(stated):
        return
    scheme = str(keys.get("peft_scheme") or "none")
    if _ADAPTERS.search(stated) or scheme.lower() != "none":
        what, line = (
            (f"recipe {excerpt(stated, LIST)}", keys.line(*names))
            if scheme == "none"
            else (f"peft_scheme {excerpt(scheme)}", keys.line("peft_scheme"))
        )
        builder.unknown(what, "its adapters: state workload.trainable", line)
    stated = _STAGE.sub("", stated)
    shown = "-".join(part for part in (re.sub(r"(?<=llama3)(?=\d)", ".", stated), size) if part)
    shown = re.sub(r"^llama3(?=[-_.])", "llama-3", shown).replace("_", "-")
    dotted = re.sub(r"^llama-?31?-", "llama-3.1-", shown)
    found = next((name for name in (shown, dotted) if catalog_model(name)), stated)
    if not described:  # else the sizes are set
        set_named_model(found, keys, builder, keys.line(*names))
