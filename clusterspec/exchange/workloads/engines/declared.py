"""Serving engines that objects declare without a command line: KServe, RayService, and values of Helm charts.

Names: ``LLMInferenceService`` (kserve/kserve aaac4e29, pkg/apis/serving/v1alpha2 and config/llmisvcconfig, which start
``vllm serve`` with ``spec.parallelism`` and ``VLLM_ADDITIONAL_ARGS``), ``InferenceService`` (v1beta1, runtime
``huggingface``, whose backend is vLLM), ``RayService`` with ``ray.serve.llm`` (``llm_configs``, whose ``engine_kwargs``
are vLLM's), values of llm-d-modelservice (3051935e, charts/llm-d-modelservice/templates/_helpers.tpl) and of the vLLM
production stack (helm/templates/deployment-vllm-multi.yaml), and ``Model`` of KubeAI (kubeai-project/kubeai,
manifests/models), values of the vLLM chart of OPEA (opea-project/GenAIInfra, helm-charts/common/vllm), recipes of
vllm-project/recipes (8959cf64, models/, whose strategy gives the degrees), and files of options for ``--config`` of
vLLM (vllm/utils/argparse_utils.py) and SGLang (sglang/srt/server_args_config_parser.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents, read_yaml, yaml_of_text
from clusterspec.exchange.fabrics.pods import requested_accelerators
from clusterspec.exchange.import_result import LIST, FormatError, InputFile, excerpt
from clusterspec.exchange.shell import Command, script_of
from clusterspec.exchange.workloads.engines.chart_values import ACCELERATORS, chart_engines, states_chart_values
from clusterspec.exchange.workloads.engines.declared_options import put_all, put_words, started_keys
from clusterspec.exchange.workloads.engines.engine_code import engines_of_code, is_engine_code
from clusterspec.exchange.workloads.engines.production_stack import engines_of_runtime, engines_of_values
from clusterspec.exchange.workloads.keys import Keys, command_keys, flat_leaves
from clusterspec.source import items_of, value_at

_MARKS = re.compile(
    r"^kind[ \t]*:[ \t]*[\"']?(?:LLMInferenceService|InferenceService)\b|^[ \t]*llm_configs[ \t]*:"
    r"|^servingEngineSpec[ \t]*:|^[ \t]{0,8}extraCmdArgs[ \t]*:|^modelArtifacts[ \t]*:"
    r"|^apiVersion[ \t]*:[ \t]*(?:kubeai\.org|production-stack\.vllm\.ai)/|^compatible_strategies[ \t]*:",
    re.MULTILINE,
)
_OPTIONS = re.compile(
    r"^(?:tensor[-_]parallel[-_]size|pipeline[-_]parallel[-_]size|data[-_]parallel[-_]size|gpu[-_]memory[-_]utilization"
    r"|max[-_]model[-_]len|max[-_]num[-_]seqs|max[-_]num[-_]batched[-_]tokens|enable[-_]prefix[-_]caching"
    r"|enable[-_]expert[-_]parallel|enforce[-_]eager|kv[-_]cache[-_]dtype|served[-_]model[-_]name"
    r"|mem[-_]fraction[-_]static|chunked[-_]prefill[-_]size|max[-_]running[-_]requests|context[-_]length"
    r"|tp[-_]size|dp[-_]size|ep[-_]size|enable[-_]dp[-_]attention)[ \t]*:",
    re.MULTILINE,
)
_OWN_OPTIONS = {
    "vllm": frozenset({"gpu-memory-utilization", "max-num-seqs", "max-num-batched-tokens", "enable-expert-parallel"}),
    "sglang": frozenset(
        {"mem-fraction-static", "chunked-prefill-size", "max-running-requests", "tp-size", "enable-dp-attention"}
    ),
}
"""Options that no other engine takes."""
_MODEL_OPTION = re.compile(r"^model(?P<sglang>[-_]path)?[ \t]*:[ \t]*\S", re.MULTILINE)
_VLLM_IMAGE = re.compile(r"(?:^|/)(?:vllm-openai|llm-d-(?:cuda|rocm|xpu|hpu|cpu|aws|gke))\b|(?:^|/)vllm\b")
_STARTS = re.compile(r"vllm[ .]serve|sglang|trtllm|vllm\.entrypoints(?!\.benchmarks)")
_PART = re.compile(r"^_target_[ \t]*:", re.MULTILINE)
"""A class at the root of a file: a part of another program's configuration, such as the rollout of verl."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
Path = tuple[str | int, ...]


def declares_engine(text: str) -> bool:
    """Whether a text contains an object that declares an engine, or is a file of options of an engine."""
    marked = bool(_MARKS.search(text)) or is_engine_code(text)
    return marked or options_of_engine(text) is not None or states_chart_values(text)


def is_recipe(text: str) -> bool:
    """Whether a text is a recipe of vLLM, whose guide has launches that follow from its choices."""
    return bool(re.search(r"^compatible_strategies[ \t]*:", text, re.MULTILINE))


_OF_A_HARNESS = re.compile(r"^(?:engine|backend|framework|inference_(?:engine|backend))[ \t]*:", re.MULTILINE)
"""A key of a program that starts one of several engines; no engine has it."""


def options_of_engine(text: str) -> str | None:
    """The engine whose options a file has at its root; None if it is not such a file.

    The file must have a model and two further options, or, if the launch names the model, three options, one of them
    specific to a single engine.
    """
    model, names = _MODEL_OPTION.search(text), {found[0].rstrip(" \t:") for found in _OPTIONS.finditer(text)}
    if len(names) < (3 if model is None else 2) or _PART.search(text) or _OF_A_HARNESS.search(text):
        return None
    own = [each for each, options in _OWN_OPTIONS.items() if options & {name.replace("_", "-") for name in names}]
    if model is not None:
        named = "sglang" if model["sglang"] else "vllm"
        return named if own in ([], [named]) else None  # a program that passes its own options on to an engine
    return own[0] if len(own) == 1 else None


def options_in(file: InputFile) -> Keys:
    """The options of an engine at the root of a file."""
    yaml = read_yaml(file)
    keys = started_keys("config", 1)
    for name, value in yaml.mapping.items():
        if value is not False and value is not None and not isinstance(value, dict | list):
            keys.put(str(name), value, yaml.line(name))
    return keys


def declared_engines(file: InputFile) -> list[tuple[str, Keys]]:
    """The engines that the objects of a file or the values of a chart declare, each with the options of its server."""
    if is_engine_code(file.text):
        return engines_of_code(file)
    if not _MARKS.search(file.text) and not states_chart_values(file.text):
        return []
    try:
        documents = [yaml for yaml in read_documents(file) if isinstance(yaml.value, dict)]
    except FormatError:  # a template, or a page with an object in it
        return []
    declared = [("vllm", keys) for yaml in documents for keys in _engines_of(yaml, file.name)]
    if declared or not states_chart_values(file.text):
        return declared
    return [each for yaml in documents for each in chart_engines(yaml)]


def _engines_of(yaml: Yaml, name: str) -> Iterator[Keys]:
    kind, value = str(yaml.value.get("kind") or ""), yaml.value
    if kind == "LLMInferenceService":
        yield from _llm_inference_services(yaml)
    elif kind == "InferenceService":
        yield from _inference_services(yaml)
    elif kind in {"RayService", "RayJob"}:
        text = value_at(value, "spec", "serveConfigV2")
        if isinstance(text, str):
            yield from _ray_models(yaml_of_text(name, text, yaml.line("spec", "serveConfigV2")))
    elif kind == "Model" and str(value.get("apiVersion")).startswith("kubeai.org/"):
        yield from _kubeai_models(yaml)
    elif "llm_configs" in str(value.get("applications"))[:20_000]:
        yield from _ray_models(yaml)
    elif isinstance(value_at(value, "servingEngineSpec", "modelSpec"), list):
        yield from engines_of_values(yaml)
    elif kind == "VLLMRuntime":
        yield from engines_of_runtime(yaml)
    elif isinstance(value.get("modelArtifacts"), dict):
        yield from _model_service(yaml)
    elif isinstance(value.get("compatible_strategies"), list) and value_at(value, "model", "model_id"):
        yield _recipe(yaml)
    else:
        yield from _opea_chart(yaml)


_PARALLELISM = {
    "tensor": "tensor_parallel_size",
    "pipeline": "pipeline_parallel_size",
    "data": "data_parallel_size",
    "dataLocal": "data_parallel_size_local",
}


def _llm_inference_services(yaml: Yaml) -> Iterator[Keys]:
    """The pool of an LLMInferenceService, and the pool of its prefill."""
    spec = value_at(yaml.value, "spec")
    for path in (("spec",), ("spec", "prefill")):
        pool = value_at(yaml.value, *path)
        container = _first_container(value_at(pool, "template"))
        if not isinstance(pool, dict) or _STARTS.search(f"{container.get('command')} {container.get('args')}"):
            continue  # one whose command or arguments start an engine is a launch
        role = "prefill" if path[-1] == "prefill" else "decode" if value_at(spec, "prefill") else ""
        keys = started_keys(role or "LLMInferenceService", yaml.line(*path))
        put_all(keys, pool, {"replicas": "replicas"}, yaml, path)
        chosen = "uri" if str(value_at(spec, "model", "uri") or "").startswith("hf://") else "name"
        if named := value_at(spec, "model", chosen):
            keys.put("model", str(named).removeprefix("hf://"), yaml.line("spec", "model", chosen))
        split = value_at(pool, "parallelism")
        put_all(keys, split, _PARALLELISM, yaml, (*path, "parallelism"))
        if value_at(split, "expert") is True:
            keys.put("enable_expert_parallel", True, yaml.line(*path, "parallelism", "expert"))
        inside = (*path, "template", "containers", 0)
        put_words(keys, container.get("args"), yaml, (*inside, "args"))
        for n, variable in enumerate(items_of(container.get("env"))):
            name, text = value_at(variable, "name"), value_at(variable, "value")
            if name == "VLLM_ADDITIONAL_ARGS" and isinstance(text, str):
                line = yaml.line(*inside, "env", n, "value")
                for command in script_of(f"vllm serve {text}").commands[:1]:
                    words = tuple(word._replace(line=line) for word in command.words)
                    keys.values |= command_keys(Command(words)).values
            elif name == "VLLM_ALL2ALL_BACKEND":
                keys.put("all2all_backend", text, yaml.line(*inside, "env", n, "value"))
        if bases := items_of(value_at(spec, "baseRefs")):
            names = ", ".join(str(value_at(each, "name")) for each in bases)
            keys.put("base_refs", excerpt(names, LIST), yaml.line("spec", "baseRefs"))
        yield keys


_MOUNTED = "/mnt/models"
"""Where KServe mounts the model of an object (kserve/kserve aaac4e29, pkg/constants/constants.go)."""


_NAMING: dict[str, Path] = {
    "LLMInferenceService": ("spec", "model", "uri"),
    "InferenceService": ("spec", "predictor", "model", "storageUri"),
}
"""The key that names the mounted model, by the kind of the object."""


def take_mounted_model(file: InputFile, keys: Keys) -> None:
    """Replace a model that KServe mounts by the model that the object names, if the file has only one object."""
    named = [keys.values[name][0] for name in ("model", "model_path") if name in keys.values]
    if _MOUNTED not in (named or [word.text.rstrip("/") for word in keys.command.words]):
        return
    try:
        documents = [yaml for yaml in read_documents(file) if isinstance(yaml.value, dict)]
    except FormatError:
        return
    found = []
    for yaml in documents:
        path = _NAMING.get(str(yaml.value.get("kind")))
        if path is None:
            continue
        stated = str(value_at(yaml.value, *path) or "")
        found.append((stated.removeprefix("hf://") if stated.startswith("hf://") else "", yaml.line(*path)))
    if len(found) == 1 and found[0][0]:
        for name in ("model", "model_path"):
            keys.values.pop(name, None)
        keys.put("model", *found[0])


def _first_container(template: Any) -> dict[str, Any]:
    containers = value_at(template, "containers")
    first = next(iter(items_of(containers)), None)
    return first if isinstance(first, dict) else {}


def _inference_services(yaml: Yaml) -> Iterator[Keys]:
    """The predictor of an InferenceService with the Hugging Face runtime, or with a runtime that names vLLM."""
    model = value_at(yaml.value, "spec", "predictor", "model")
    path: Path = ("spec", "predictor", "model")
    format_name, runtime = (
        str(value_at(model, "modelFormat", "name") or ""),
        str(value_at(model, "runtime") or ""),
    )
    if format_name.lower() not in {"huggingface", "vllm"} and "vllm" not in runtime.lower():
        return
    keys = started_keys("InferenceService", yaml.line(*path))
    put_words(keys, model.get("args"), yaml, (*path, "args"))
    if "model_id" in keys.values:
        keys.values["model"] = keys.values.pop("model_id")
        keys.values.pop("model_name", None)
    elif str(model.get("storageUri") or "").startswith("hf://"):
        keys.put("model", str(model["storageUri"])[5:], yaml.line(*path, "storageUri"))
        keys.values.pop("model_name", None)
    degrees = {"tensorParallelSize": "tensor_parallel_size", "pipelineParallelSize": "pipeline_parallel_size"}
    put_all(keys, value_at(yaml.value, "spec", "predictor", "workerSpec"), degrees, yaml, (*path[:2], "workerSpec"))
    if (asked := requested_accelerators(model)) and "pipeline_parallel_size" not in keys.values:
        keys.put(ACCELERATORS, asked, yaml.line(*path, "resources"))
    if keys.values:
        yield keys


def _ray_models(yaml: Yaml) -> Iterator[Keys]:
    """The models of applications of ``ray.serve.llm``."""
    applications = value_at(yaml.value, "applications")
    for n, application in enumerate(items_of(applications)):
        configs = value_at(application, "args", "llm_configs")
        for m, config in enumerate(items_of(configs)):
            path: Path = ("applications", n, "args", "llm_configs", m)
            keys = started_keys("llm_configs", yaml.line(*path))
            loaded = (*path, "model_loading_config")
            source = "model_source" if value_at(config, "model_loading_config", "model_source") else "model_id"
            put_all(keys, value_at(config, "model_loading_config"), {source: "model"}, yaml, loaded)
            options = value_at(config, "engine_kwargs")
            for name, value, line in flat_leaves(options, yaml.line, (*path, "engine_kwargs")):
                if value is not False and not isinstance(value, dict | list):
                    keys.put(name.partition("engine_kwargs.")[2], value, line)
            put_all(keys, config, {"accelerator_type": "accelerator_type"}, yaml, path)
            put_all(
                keys,
                value_at(config, "deployment_config"),
                {"num_replicas": "replicas"},
                yaml,
                (*path, "deployment_config"),
            )
            yield keys


def _kubeai_models(yaml: Yaml) -> Iterator[Keys]:
    """The engine of a Model of KubeAI, if it is vLLM."""
    spec = value_at(yaml.value, "spec")
    if not isinstance(spec, dict) or str(spec.get("engine")).upper() != "VLLM":
        return
    keys = started_keys("Model", yaml.line("spec"))
    put_words(keys, spec.get("args"), yaml, ("spec", "args"))
    if str(spec.get("url")).startswith("hf://"):
        keys.put("model", str(spec["url"])[5:], yaml.line("spec", "url"))
    put_all(keys, spec, {"replicas": "replicas", "resourceProfile": "resource_profile"}, yaml, ("spec",))
    yield keys


def _model_service(yaml: Yaml) -> Iterator[Keys]:
    """The roles of values of llm-d-modelservice that have replicas and whose container is vLLM."""
    value = yaml.value
    stated = str(value_at(value, "modelArtifacts", "uri") or "")
    model = stated.removeprefix("hf://") if stated.startswith("hf://") and "{{" not in stated else ""
    model = model or str(value_at(value, "modelArtifacts", "name") or "")
    for role in ("decode", "prefill"):
        pool = value.get(role)
        container = _first_container(pool)
        is_vllm = container.get("modelCommand") == "vllmServe" or _VLLM_IMAGE.search(str(container.get("image") or ""))
        own = _STARTS.search(" ".join(map(str, chain(*(_words(container.get(name)) for name in ("command", "args"))))))
        if not isinstance(pool, dict) or pool.get("replicas") == 0 or not is_vllm or own:
            continue
        keys = started_keys(role, yaml.line(role))
        if model:
            keys.put("model", model, yaml.line("modelArtifacts"))
        put_words(keys, container.get("args"), yaml, (role, "containers", 0, "args"))
        put_all(keys, pool.get("parallelism"), _PARALLELISM, yaml, (role, "parallelism"))
        put_all(keys, pool, {"replicas": "replicas"}, yaml, (role,))
        yield keys


def _opea_chart(yaml: Yaml) -> Iterator[Keys]:
    """The vLLM engine in the values of an OPEA chart, a separate chart or part of an application."""
    paths: tuple[tuple[str, ...], ...] = ((), ("vllm",))
    for path in paths:
        value = value_at(yaml.value, *path)
        if isinstance(value_at(value, "extraCmdArgs"), list) and value_at(value, "enabled") is not False:
            keys = started_keys("vllm", yaml.line(*path, "extraCmdArgs"))
            put_all(keys, value, {"LLM_MODEL_ID": "model"}, yaml, path)
            put_words(keys, value["extraCmdArgs"], yaml, (*path, "extraCmdArgs"))
            yield keys


_CHOICES = ("compatible_strategies", "variants", "opt_in_features", "hardware_overrides", "strategy_overrides")
"""Optional parts of a recipe: they add options, and name other checkpoints."""


def _recipe(yaml: Yaml) -> Keys:
    """The model of a recipe with the options that all of its launches have; its choices remain as unused keys."""
    keys, model = started_keys("model", yaml.line("model")), yaml.value["model"]
    put_all(keys, model, {"model_id": "model", "context_length": "context_length"}, yaml, ("model",))
    put_words(keys, model.get("base_args"), yaml, ("model", "base_args"))
    for name in _CHOICES:
        if yaml.value.get(name):
            keys.put(name, True, yaml.line(name))
    return keys


def _words(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []
