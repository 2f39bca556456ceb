"""Command lines of vLLM, SGLang and TensorRT-LLM, and objects that declare an engine (`declared`).

Names: vllm serve --help; sglang.launch_server --help (python/sglang/srt/server_args.py); trtllm-serve serve --help.
SGLang's ``--tp`` counts all ranks of attention and experts; with ``--enable-dp-attention`` each of the ``--dp`` groups
has tp / dp of them, as each of ``--attn-dp-size`` groups since 0.5.23. The groups divide ``--max-running-requests`` and
``--chunked-prefill-size`` among them (0.5.21: arg_groups/parallel_hook.py, line 266, and
model_executor/pool_configurator.py, line 844).
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import TEMPLATE
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.left_unread import stated_settings
from clusterspec.exchange.machines.links import accelerator_of_product
from clusterspec.exchange.machines.node_labels import set_labelled_accelerator
from clusterspec.exchange.pages import object_in_page
from clusterspec.exchange.surroundings import with_surroundings
from clusterspec.exchange.workloads.container_runs import UNDECIDED, may_run_engine, mounted_source
from clusterspec.exchange.workloads.engines.chart_values import ACCELERATORS
from clusterspec.exchange.workloads.engines.declared import (
    declared_engines,
    declares_engine,
    is_recipe,
    options_in,
    options_of_engine,
    take_mounted_model,
)
from clusterspec.exchange.workloads.engines.engine_limits import (
    complete_options,
    count_length,
    divide_limit,
    set_block,
    set_captured_graphs,
    set_delayed_prompt_steps,
    set_drafts,
    set_redundant_experts,
    set_speculation,
    set_weight_type,
)
from clusterspec.exchange.workloads.engines.engine_logs import engines_of_log, prints_engine
from clusterspec.exchange.workloads.engines.object_roles import take_group_size
from clusterspec.exchange.workloads.engines.split_servers import Launch, set_split, split_launches
from clusterspec.exchange.workloads.keys import (
    OPEN_COUNT,
    UNDECIDED_REPLICAS,
    Keys,
    chosen_launch,
    launches_of,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.launch_commands import (
    GAP,
    engine_path,
    positional_model,
    program_in_variable,
    without_rollout_servers,
)
from clusterspec.exchange.workloads.listed_commands import refuse_broken_objects
from clusterspec.exchange.workloads.model_files.changed_models import change_overridden_model
from clusterspec.exchange.workloads.model_files.models import catalog_model, has_experts, set_served_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.exchange.written_documents import document_within
from clusterspec.logs.statements.required_words import first_match

SERVING = "serving"
_VLLM = (
    rf"vllm(?:\.|{GAP})serve|vllm[ ]bench[ ](?:throughput|latency)\b|vllm\.entrypoints(?!\.benchmarks)"
    r"|(?<![\w-])vllm-openai|\bdynamo\.vllm\b(?!\.utils)|\btrl[ ]vllm-serve\b|\btrl\.scripts\.vllm_serve\b"
)
_SGLANG = (
    rf"(?:sglang|sglang_router)[. ]launch_server|sglang(?:\.|{GAP})serve"
    r"|\bsglang\.bench_(?:offline_throughput|one_batch)\b|\bdynamo\.sglang\b(?!\.utils)" + program_in_variable("sglang")
)
_TRT_LLM = r"trtllm-(serve|bench|llmapi-launch)|\bdynamo\.trtllm\b(?!\.utils)"
_ENGINES = tuple(
    (name, re.compile(each + program_in_variable(name)))
    for name, each in (("vllm", _VLLM), ("sglang", _SGLANG), ("trt-llm", _TRT_LLM))
)
_MODEL_AFTER = re.compile(r"serve|(?:\S{0,200}/)?trtllm-serve")
_PRECISIONS = {
    **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2", "modelopt", "modelopt_fp8", "w8a8_fp8"), "fp8"),
    **dict.fromkeys(("fp8_per_tensor", "fp8_per_block", "fp8_per_channel"), "fp8"),
    **dict.fromkeys(("nvfp4", "modelopt_fp4", "petit_nvfp4", "nvfp4_online", "nvfp4_per_token"), "nvfp4"),
    **dict.fromkeys(("mxfp4", "quark_mxfp4"), "mxfp4"),
    **dict.fromkeys(("mxfp8", "modelopt_mxfp8"), "mxfp8"),
    **dict.fromkeys(("bfloat16", "bf16"), "bf16"),
    **dict.fromkeys(("float16", "fp16"), "fp16"),
    **dict.fromkeys(("int8", "w8a8_int8", "int8_per_channel_weight_only"), "int8"),
    **dict.fromkeys(("awq", "awq_marlin", "auto_awq", "gptq", "gptq_marlin", "auto_gptq"), "int4"),
}
"""Precision of weights or the cache by option: vLLM 0.33.0, vllm/model_executor/layers/quantization/__init__.py and
vllm/config/cache.py; SGLang 0.5.23, sglang/srt/arg_groups/choices.py and fields/model.py.
"""
_CACHE_NAMES = ("fp8", "fp8_e4m3", "fp8_e5m2", "mxfp8", "nvfp4", "bfloat16", "bf16", "float16")
_LISTED = re.compile(
    r"\b(?:vllm|trtllm-serve|sglang)[\"']?\s{0,9}(?:,|\]?\s{0,80}\bargs[ \t]*:\s{0,80}[\[-]|\n\s{0,80}-)\s{0,9}[\"']?"
    r"serve\b"
    r"|--entrypoint[ =](?:\S{0,80}/)?(?:vllm|sglang)\b"
    r"|^[ \t]{0,40}\w{1,40}_(?:command|cmd)[ \t]{0,8}:[ \t]{0,8}(?:&\w{1,60}[ \t]{0,8})?\n[ \t]{0,40}-[ \t]{1,8}"
    r"[\"']?--"
    r"|^[ \t]*entrypoint:(?:.{0,20}|[ \t]*\n[ \t]*-[ \t]*[\"']?)\b(?:vllm|sglang)[\"']?[ \t]*\]?[ \t]*$",
    re.MULTILINE,
)
"""A command as a list of words, in JSON or YAML, or whose program is the entry point of a container."""
_ATTENTION_DP = re.compile(r"(?m)^[ \t]*enable_attention_dp[ \t]*:[ \t]*(true|false)\b")
"""An option of TensorRT-LLM in a file of options that the script writes."""


_OBJECT = re.compile(r"^apiVersion[ \t]*:", re.MULTILINE)
_SERVES = re.compile(r"\bserveConfigV2\b|^kind[ \t]*:[ \t]*[\"']?InferenceService\b", re.MULTILINE)
"""Objects that serve models, of Ray and KServe."""


def serves_only_programs_of_sites(file: InputFile) -> bool:
    """Whether an object serves models and starts no engine: by a program of a site, or a server of other models."""
    return bool(_SERVES.search(file.text)) and not _launches(file)


def matches_serving(file: InputFile) -> bool:
    text = without_rollout_servers(file.text)
    named = any(first_match(pattern, text) for _, pattern in _ENGINES)
    return (
        named
        or bool(first_match(_LISTED, text))
        or declares_engine(text)
        or may_run_engine(text)
        or prints_engine(file)
    )


def read_serving(file: InputFile) -> ImportResult:
    """The serving layout of a command line. Raises `FormatError` if it starts no known engine."""
    launches = _launches(file)
    if file.part is None and (split := split_launches(launches, file.text)):
        builder = ImportBuilder(SERVING, file.name)
        set_split(file, split, builder, _role_reading)
        return builder.reading()
    if not launches and (shown := _object_with_engine(file)):
        return with_surroundings(SERVING, shown, read_serving(shown))
    keys = chosen_launch([keys for _, keys in launches], file.part)
    engine = next((name for name, each in launches if each is keys), "")
    if not engine:
        refuse_broken_objects(file)
        why = f"comments and prose are not read{UNDECIDED if may_run_engine(file.text) else ''}"
        what = f"has no command that starts vLLM, SGLang or TensorRT-LLM ({why})"
        raise NothingStarted(f"{what}: {stated}" if (stated := stated_settings(file.text, 3)) else what)
    builder, line = ImportBuilder(SERVING, file.name), keys.command.line
    builder.set("workload.kind", "serve", line)
    builder.set("layout.framework", engine, line)
    take_group_size(file.text, keys.values)
    model = _set_model(keys, builder)
    if engine == "trt-llm" and len(values := set(_ATTENTION_DP.findall(file.text))) == 1:
        keys.put("enable_attention_dp", values.pop(), file.line_of(_ATTENTION_DP.pattern))
    set_engine_options(engine, keys, model, builder)
    for name in ("replicas", "data_parallel_size_local"):
        builder.count(name, keys.integer(name), keys.line(name))
    builder.set("cluster.accelerators_per_node", keys.integer(ACCELERATORS), keys.line(ACCELERATORS))
    if product := keys.get("product"):
        builder.set("cluster.accelerator", accelerator_of_product(str(product).replace("-", " ")), keys.line("product"))
    set_labelled_accelerator(file, builder)
    list_unused(keys, builder)
    if keys.has_elided_options:
        why = "its launch leaves options out or passes on arguments: defaults are not assumed for those absent"
        builder.unknown("options of the engine", why, line)
    if "{{" in file.text and (templates := TEMPLATE.search(file.text)):
        why, at = "template expressions may give or omit options", file.line_at(templates.start())
        if {".".join(map(str, each.path)) for each in builder.given} <= {"workload.kind", "layout.framework"}:
            raise FormatError(f"{excerpt(templates[0])}: {why}, and no other is stated: import the rendered files", at)
        builder.unknown(excerpt(templates[0]), f"{why}: import the rendered files", at)
    if "Serving Benchmark Result" in file.text:
        builder.unknown("results of a load test", "not of the launch: import them with the KIND load-test")
    return builder.reading()


def _object_with_engine(file: InputFile) -> InputFile | None:
    """The object of Kubernetes in a page, or in a here-document of a script, that starts an engine."""

    def starts_engine(text: InputFile) -> bool:
        return bool(_OBJECT.search(text.text)) and matches_serving(text) and bool(_launches(text))

    return object_in_page(file, starts_engine) or document_within(file, starts_engine, read_serving)


def _launches(file: InputFile) -> list[Launch]:
    """The engines that a file declares or starts, in the order of their lines."""
    if printed := engines_of_log(file):
        return printed
    listed = bool(_LISTED.search(file.text)) or may_run_engine(file.text)
    named = [(name, pattern) for name, pattern in _ENGINES if listed or pattern.search(file.text)]
    found = {(keys.command.line, keys.command.text): (engine, keys) for engine, keys in declared_engines(file)}
    declared = {line for _, keys in found.values() for _, line in keys.values.values()}
    for name, pattern in named if not (found and is_recipe(file.text)) else ():
        for keys in launches_of(file, pattern, _MODEL_AFTER):
            if found and not keys.find("model") and keys.find("config") and not positional_model(keys.command):
                continue  # it starts the declared engine, by a file that the chart writes
            if declared.isdisjoint(line for _, line in keys.values.values()):  # not the arguments of a declared one
                take_mounted_model(file, keys)
                found.setdefault((keys.command.line, keys.command.text), (name, keys))
    if not found and (own := options_of_engine(file.text)):
        found = {(1, ""): (own, options_in(file))}
    return sorted(found.values(), key=lambda each: each[1].command.line)


def _role_reading(engine: str, keys: Keys, name: str) -> ImportResult:
    """The settings in the launch of one role."""
    builder = ImportBuilder(SERVING, name)
    model = _set_model(keys, builder)
    set_engine_options(engine, keys, model, builder)
    set_block(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def set_engine_options(engine: str, keys: Keys, model: str | None, builder: ImportBuilder) -> None:
    """Set what the options of an engine's command line state; ``model`` is the id of the catalog, if it is known."""
    complete_options(engine, keys, builder)
    if engine != "trt-llm" and isinstance(other := keys.get("config"), str):
        why = "a separate file: import it as well; it gives the options that the launch leaves out"
        builder.unknown(excerpt(other), why, keys.line("config"))
    if engine != "trt-llm":
        set_weight_type(keys, model, builder)
    {"vllm": _set_vllm_keys, "sglang": _set_sglang_keys, "trt-llm": _set_trtllm_keys}[engine](keys, model, builder)


def _set_model(keys: Keys, builder: ImportBuilder) -> str | None:
    names, quantized = ("model", "model_path", "model_name"), keys.find("quantization") is not None
    stated = keys.get(*names)
    if stated is None and (named := positional_model(keys.command)):
        if named.branch not in {0, keys.command.branch}:
            keys.undecided.append((excerpt(f"model {named.text}"), named.line, named.branch))
            return None
        stated, line = named.text, named.line
    else:
        line = keys.line(*names)
    if isinstance(stated, str):
        stated = mounted_source(keys.command.words, stated) or stated
        found = set_served_model(stated, builder, line, quantized=quantized)
        change_overridden_model(stated, keys, builder)
        return found
    served = keys.get("served_model_name")
    if isinstance(served, str) and catalog_model(served):
        return set_served_model(served, builder, keys.line("served_model_name"), quantized=quantized)
    builder.unknown("workload.model", "the command line names no model")
    return None


def _set_shared_limits(
    keys: Keys, builder: ImportBuilder, memory: tuple[str, ...], chunk: tuple[str, ...], most: tuple[str, ...]
) -> None:
    serving = "workload.serving"
    set_counts(
        keys, {f"{serving}.chunk_tokens": chunk, f"{serving}.max_sequences": most, "layout.nodes": ("nnodes",)}, builder
    )
    share = keys.get(*memory) if memory else None
    if share is not None and re.fullmatch(r"0?\.[0-9]{1,20}|1(\.0)?", str(share)):
        builder.set(f"{serving}.memory_fraction", round(float(share), 4), keys.line(*memory))
    elif share is not None:
        why = "no share between 0 and 1: a variable, or computed elsewhere"
        builder.unknown(f"{keys.find(*memory)}: {excerpt(share)}", why, keys.line(*memory))
    set_choice(
        keys,
        "workload.kv_precision",
        ("kv_cache_dtype",),
        {name: _PRECISIONS[name] for name in _CACHE_NAMES} | {"auto": None},
        builder,
    )
    named = keys.command.text + str(keys.values.get("model") or keys.values.get("model_path") or "")
    four = {"modelopt": "nvfp4"} if re.search(r"(?:nv)?fp4\b", named, re.IGNORECASE) else {}
    if re.search(r"gptq[_-]?int8\b|\b8-?bit\b", named, re.IGNORECASE):  # GPTQ has widths of 2 to 8 bits
        four = dict.fromkeys(("gptq", "gptq_marlin", "auto_gptq"), "int8")
    set_choice(keys, "workload.parameter_precision", ("quantization",), _PRECISIONS | four, builder)
    set_captured_graphs(keys, builder)


def _degree(keys: Keys, builder: ImportBuilder, *names: str) -> int | None:
    """A degree of parallelism: 1, the default of the engines, where no option states it; None if the value is not
    known, or a file of options may state it.

    Defaults: vllm 0.33.0, vllm/config/parallel.py; sglang 0.5.21, sglang/srt/server_args.py; TensorRT-LLM,
    tensorrt_llm/commands/serve.py.
    """
    if keys.find(*names) is None:
        return None if keys.is_undecided(*names) or keys.has_elided_options or keys.find("config") else 1
    degree = keys.integer(*names)
    if degree is None:
        builder.unknown(f"{keys.find(*names)}: {excerpt(keys.get(*names))}", OPEN_COUNT, keys.line(*names))
    return degree


def _set_vllm_keys(keys: Keys, model: str | None, builder: ImportBuilder) -> None:
    tp = _degree(keys, builder, "tensor_parallel_size", "tp")
    if keys.find("tensor_parallel_size", "tp"):
        builder.set("layout.tp", tp, keys.line("tensor_parallel_size", "tp"))
    set_counts(keys, {"layout.pp": ("pipeline_parallel_size", "pp")}, builder)
    _set_shared_limits(
        keys,
        builder,
        ("gpu_memory_utilization",),
        ("max_num_batched_tokens",),
        ("max_num_seqs",),
    )
    dp, line = _degree(keys, builder, "data_parallel_size", "dp"), keys.line("data_parallel_size", "dp")
    experts = keys.is_on("enable_expert_parallel")
    if experts and tp and dp:
        builder.set("layout.ep", tp * dp, keys.line("enable_expert_parallel"))
    elif experts:
        why = "tensor-parallel times data-parallel ranks, of which one number is not known"
        builder.unknown("layout.ep", why, keys.line("enable_expert_parallel"))
    backend = str(keys.get("all2all_backend") or "")
    if backend.startswith("deepep"):
        builder.set("layout.dispatcher", "deepep", keys.line("all2all_backend"))
    elif backend:
        why = "no value of layout.dispatcher corresponds to it"
        builder.unknown(f"all2all_backend: {excerpt(backend)}", why, keys.line("all2all_backend"))
    if dp is None or dp == 1:
        pass
    elif experts or has_experts(model):
        builder.set("layout.attention_dp", dp, line)
    elif has_experts(model) is False:
        builder.set("layout.dp", dp, line)
    else:
        builder.unknown(
            f"data_parallel_size: {dp}", "replicas of a dense model, or attention of one with experts", line
        )
    count_length(keys, builder)
    set_speculation(keys, builder)
    set_redundant_experts(keys, builder)


_OF_ALL_RANKS = frozenset({"deepep", "mooncake", "nixl", "ascend_fuseep", "flashinfer", "mori", "megamoe"})
"""Backends of SGLang with which experts spread over all ranks (``ep_size = tp_size``, sglang/srt/server_args.py)."""


def _set_sglang_keys(keys: Keys, model: str | None, builder: ImportBuilder) -> None:
    names, copies = ("tp", "tp_size", "tensor_parallel_size"), ("dp", "dp_size", "data_parallel_size")
    tp, line = _degree(keys, builder, *names), keys.line(*names)
    own = ("attn_dp_size", "attention_data_parallel_size")  # since 0.5.23
    apart = keys.is_on("enable_dp_attention") or keys.find(*own) is not None
    groups: tuple[str, ...] = own if keys.find(*own) else copies
    dp, at = _degree(keys, builder, *groups), keys.line(*groups)
    if keys.is_open("enable_dp_attention"):
        builder.unknown("layout.tp", UNDECIDED_REPLICAS, line)
    elif apart and tp and dp and tp % dp:
        builder.unknown(f"tp {tp} and dp {dp}", "dp does not divide tp", at)
        return
    elif apart and tp and dp:
        builder.set("layout.tp", tp // dp, line)
        builder.set("layout.attention_dp", dp, at)
    elif not apart:
        builder.set("layout.tp", tp, line)
        builder.set("layout.dp", dp if dp and dp > 1 else None, at)
    set_counts(
        keys,
        {
            "layout.pp": ("pp_size", "pipeline_parallel_size"),
            "layout.ep": ("ep", "ep_size", "expert_parallel_size"),
            "workload.serving.redundant_experts": ("ep_num_redundant_experts",),
            "workload.serving.receive_interval": ("scheduler_recv_interval",),
        },
        builder,
    )
    set_delayed_prompt_steps(keys, "enable_prefill_delayer", "prefill_delayer_max_delay_passes", 30, builder)
    set_drafts(keys, builder)
    backend = str(keys.get("moe_a2a_backend") or "")
    spread = keys.is_on("enable_ep_moe", "enable_deepep_moe") or backend in _OF_ALL_RANKS
    if spread and keys.find("ep", "ep_size", "expert_parallel_size") is None:
        builder.set("layout.ep", tp, keys.line("enable_ep_moe", "enable_deepep_moe", "moe_a2a_backend"))
    if keys.is_on("enable_deepep_moe") or backend == "deepep":
        builder.set("layout.dispatcher", "deepep", keys.line("enable_deepep_moe", "moe_a2a_backend"))
    elif backend and backend != "none":
        builder.unknown(
            f"moe_a2a_backend: {excerpt(backend)}",
            "no value of layout.dispatcher corresponds to it",
            keys.line("moe_a2a_backend"),
        )
    limits = ("chunked_prefill_size", "max_running_requests")
    for name in limits if apart else ():
        divide_limit(keys, name, dp, builder)
    _set_shared_limits(keys, builder, ("mem_fraction_static",), limits[:1], limits[1:])


def _set_trtllm_keys(keys: Keys, model: str | None, builder: ImportBuilder) -> None:
    names, other = ("tp_size", "tp", "tensor_parallel_size"), ("extra_llm_api_options", "config", "extra_engine_args")
    elsewhere = keys.find(*names) is None and keys.find(*other) is not None  # a file of options may state it
    if keys.find(*names) is None and not elsewhere and (built := engine_path(keys.command)):
        elsewhere, why = True, "it may be a built engine, whose config.json states its ranks"
        builder.unknown(f"layout.tp of {excerpt(built)}", why, keys.command.line)
    tp, line = None if elsewhere else _degree(keys, builder, *names), keys.line(*names)
    if keys.is_open("enable_attention_dp"):
        builder.unknown("layout.tp", UNDECIDED_REPLICAS, line)
    elif keys.is_on("enable_attention_dp"):
        builder.set("layout.tp", 1 if tp else None, line)
        builder.set("layout.attention_dp", tp, keys.line("enable_attention_dp"))
    else:
        builder.set("layout.tp", tp, line)
    set_counts(
        keys,
        {
            "layout.pp": ("pp_size", "pp", "pipeline_parallel_size"),
            "layout.cp": ("cp_size", "context_parallel_size"),
            "layout.ep": ("ep_size", "ep", "expert_parallel_size"),
        },
        builder,
    )
    replicated = keys.is_on("enable_attention_dp")
    limits = ("max_num_tokens", "max_batch_size")
    for name in limits if replicated else ():
        if keys.find(name):
            why = "of an attention replica or of the engine: nothing says which"
            builder.unknown(f"{name}: {excerpt(keys.get(name))}", why, keys.line(name))
    _set_shared_limits(keys, builder, (), () if replicated else limits[:1], () if replicated else limits[1:])
    free = ("kv_cache_free_gpu_memory_fraction", "kv_cache_free_gpu_mem_fraction", "free_gpu_memory_fraction")
    if share := keys.get(*free):
        why = "of the memory that the weights leave; workload.serving.memory_fraction is a share of the whole"
        builder.unknown(f"{keys.find(*free)}: {excerpt(share)}", why, keys.line(*free))
    if extra := keys.get(*other):
        why = "a separate file: it may enable data-parallel attention"
        builder.unknown(f"extra options in {excerpt(extra)}", why, keys.line(*other))
