"""Models by the names of hubs and frameworks, and the parameters of imported ones."""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.catalog.names import ids_of_name, quantized_precision
from clusterspec.cluster.resolution import Lookup, ResolutionLog
from clusterspec.cluster.workload import resolve_model
from clusterspec.cost.parameters import model_weights
from clusterspec.document import parse
from clusterspec.exchange.import_result import LIST, FileLine, ImportBuilder, ImportedValue, excerpt
from clusterspec.exchange.merge import new_spec
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.records import replace
from clusterspec.source import Source
from clusterspec.spec import read

# Model names as used by hubs and frameworks, and their catalog entries

_SUFFIX = re.compile(
    r"-(instruct|chat|it|base|hf|fp8|nvfp4|fp4|mxfp4|awq|gptq|int4|int8|dynamic|w4a16|w8a8|bf16|kv|quark|pt|reference)(?=-|$)"
)
_DATE = re.compile(r"-\d{4}(?=-|$)")
"""The month of a release, which is left out only where no entry has it."""
_VERSION = re.compile(r"-v0\.\d(?=-|$)")
"""A version, which is left out only where no entry has it."""
_OTHER = (
    (r"^meta-llama-", "llama-"),
    (r"^llama(\d)", r"llama-\1"),
    (r"^llama-(\d)(\d)-", r"llama-\1.\2-"),
    (r"^qwen-(\d)", r"qwen\1"),
    (r"^deepseek-?(v\d|r1)", r"deepseek-\1"),
)


def plain_name(name: str) -> str:
    """The last part of a name or path, in small letters, with dashes."""
    return name.strip().rstrip("/").split("/")[-1].lower().replace("_", "-")


def catalog_model(name: str) -> str | None:
    """The catalog id of a model by its name; None if there is none.

    >>> catalog_model("meta-llama/Llama-3.1-70B-Instruct"), catalog_model("mixtral-8x7B-v0.1"), catalog_model("x/y")
    ('llama-3.1-70b', 'mixtral-8x7b', None)
    >>> catalog_model("mistralai/Mistral-7B-Instruct-v0.3"), catalog_model("Mixtral-8x7B-Instruct-v0.1-FP8")
    ('mistral-7b-v0.3', 'mixtral-8x7b')
    >>> catalog_model("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"), catalog_model("Qwen/Qwen3-235B-A22B-FP8")
    ('qwen3-235b-a22b-2507', 'qwen3-235b-a22b')
    """
    ids = set(Catalog.open().ids("model"))
    tried = [plain_name(name)]
    for pattern, replacement in _OTHER:
        tried += [re.sub(pattern, replacement, each) for each in list(tried)]
    for left_out in (_SUFFIX, _SUFFIX, _DATE, _VERSION):
        tried += [left_out.sub("", each) for each in list(tried)]
    named = ids_of_name("model", name)
    return next((each for each in tried if each in ids), None) or (named[0] if len(named) == 1 else None)


_CACHED = re.compile(r"(?:^|/)(?:models--)?([\w.]{1,40}(?:-[\w.]{1,40}){0,8})--([\w.-]{1,120})(?=/|$)")
"""A model in the cache of Hugging Face (huggingface_hub, src/huggingface_hub/file_download.py, ``repo_folder_name``),
or a folder that a site names so.
"""


def repository_of(name: str) -> str:
    """The repository of a model that a path into the cache of Hugging Face names; another name as it is.

    >>> repository_of("/cache/hub/models--deepseek-ai--DeepSeek-V3/snapshots/0123"), repository_of("/models/x")
    ('deepseek-ai/DeepSeek-V3', '/models/x')
    >>> repository_of("/data/Qwen--Qwen3-8B")
    'Qwen/Qwen3-8B'
    """
    return f"{match[1]}/{match[2]}" if (match := _CACHED.search(name)) else name


def set_model(name: str, builder: ImportBuilder, line: int) -> str | None:
    """Set the model of a name, or record the name as unknown; returns its id."""
    name = repository_of(name)
    found = catalog_model(name)
    if not name.strip():
        builder.unknown("model", "its name is empty: a variable that nothing here sets", line)
    elif found:
        builder.set("workload.model", found, line)
        if not all(part.replace(".", "") in plain_name(name).replace(".", "") for part in found.split("-")):
            why = f"its sizes match {found}, but the checkpoint is another one: name it where it is loaded"
            builder.unknown(f"model {name[-80:]}", why, line)
    elif "$" in name:
        builder.unknown(f"model {excerpt(name, LIST)}", "an argument or a variable that the text does not state", line)
    else:
        builder.unknown(f"model {excerpt(name, LIST)}", "no catalog entry of this name: import its config.json", line)
    return found


def set_trained_model(name: str, builder: ImportBuilder, line: int) -> None:
    """Set the model that adapters or a training change, and list the width of weights that its name states."""
    set_model(name, builder, line)
    if kept := quantized_precision(name):
        why = "frozen weights of this width with adapters, unless they are widened when loaded"
        builder.unknown(f"weights of {name[-60:]}: {kept}", why, line)


def set_model_of_key(keys: Keys, key: str, builder: ImportBuilder) -> None:
    """Set the model that a key names, or record that the file names none."""
    stated = keys.get(key)
    if stated:
        set_trained_model(str(stated), builder, keys.line(key))
    else:
        builder.unknown("workload.model", f"the file does not state {key}", keys.line(key))


def set_served_model(name: str, builder: ImportBuilder, line: int, *, quantized: bool = False) -> str | None:
    """Set the model of a checkpoint, and the precision of its weights if the name states it.

    ``quantized`` means that an option states the precision.
    """
    name = repository_of(name)
    found = set_model(name, builder, line)
    kept = quantized_precision(name)
    if found and kept and not quantized and kept not in found and not keeps_experts_in(found, kept):
        builder.set("workload.parameter_precision", kept, line)
    return found


def has_experts(model: str | None) -> bool | None:
    """Whether a model has experts; None if the model is unknown."""
    return bool(Catalog.open().model(model).experts) if model else None


def keeps_experts_in(model: str, precision: str) -> bool:
    """Whether only the experts of a model's published checkpoint have a precision that its name may state."""
    entry = Catalog.open().model(model)
    return entry.checkpoint_expert_precision == precision != entry.checkpoint_precision


# Parameter counts of imported models, with the formulas of the cost model

TOLERANCE = 0.02
"""Relative to the cited parameter count; biases and small norms are not counted."""


_SIZE = re.compile(
    r"_*(?:\w{1,40}\.){0,6}(?:num_(?:moe_)?experts|num_query_groups|num_key_value_heads|\w{0,20}kv_heads|kv_channels"
    r"|head_dim|kv_lora_rank|\w{0,20}(?:hidden|ffn|intermediate)_(?:hidden_)?size|expert_ffn_hidden|\w{0,20}mlp_dim"
    r"|num_(?:hidden_)?layers)(?![\w.])",
)
"""A size of a model among the entries that a reader could not decide."""


def set_parameters(builder: ImportBuilder, line: int = 0) -> None:
    """Record the parameter count of the imported model if its sizes are complete and all of them are decided."""
    if any(_SIZE.match(each.what.replace("-", "_")) for each in builder.unknowns):
        return
    sizes = {each.path[-1] for each in builder.given if each.path[:2] == ("workload", "model")}
    wide = sizes & {"ffn_hidden", "expert_ffn_hidden", "ffn_layers"}
    if not {"layers", "hidden", "heads", "gated_ffn"} <= sizes or not wide:
        return
    reading = builder.reading()
    if "vocab" not in sizes:
        builder.unknown("workload.model.vocab", "not stated here: embeddings are not counted", line)
        reading = replace(
            reading, given=(*reading.given, ImportedValue(("workload", "model", "vocab"), 1, FileLine(builder.file)))
        )
    document, _ = parse(Source("model", new_spec(reading)))
    spec = read(document)[0] if document is not None else None
    if spec is None or spec.workload is None or spec.workload.model is None or isinstance(spec.workload.model, str):
        return
    model = resolve_model(spec.workload.model, Lookup(Catalog.open(), ResolutionLog(spec)))
    if model is None:
        return
    parameters = model_weights(model)
    embeddings = parameters.embedding + parameters.positions + parameters.head
    if "vocab" in sizes:
        builder.count("parameters", round(parameters.total), line)
        if model.experts:
            builder.count("active_parameters", round(parameters.active_weights), line)
    builder.count("parameters_without_embeddings", round(parameters.total - embeddings), line)


def check_parameters(name: str, builder: ImportBuilder, line: int) -> None:
    """Compare the parameter count with the count that the catalog cites for a model of this name."""

    counted = next((each.value for each in builder.counts if each.name == "parameters"), None)
    entry = catalog_model(name) if name else None
    if entry is None or not isinstance(counted, int):
        return
    cited = Catalog.open().model(entry).parameters
    if cited is None:
        return
    builder.count("catalog_model", entry, line)
    if abs(counted / cited.value - 1) > TOLERANCE:
        why = f"the catalog cites {cited.value:,.0f} for {entry}, but the sizes of this file give {counted:,}"
        builder.unknown("the number of parameters", why, line)
