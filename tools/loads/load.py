"""Loads exports with the code of one target: ``python load.py TARGET FOLDER``, with JSON lines on standard input.

It runs in a separate process, under an interpreter with the parsers' requirements; other libraries of the targets are
stubs. For each export it prints one line of JSON: the error, or an empty text.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import logging
import math
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path[0:0] = [str(Path(__file__).parent)]
import stubs  # type: ignore[import-not-found]  # noqa: E402

Load = Callable[[str], None]
_DEGREES = {"tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size"}


def _commands(text: str, program: str) -> list[list[str]]:
    """The words after a program in the commands of a script. Raises `ValueError` if none starts it."""
    lines = [line for line in text.replace("\\\n", " ").split("\n") if program in line and not line.startswith("#")]
    if not lines:
        raise ValueError(f"no command starts {program}")
    started = (line.partition(program)[2].rstrip().removesuffix("&") for line in lines)  # in the background, perhaps
    return [shlex.split(each) for each in started]


def _parse(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """The options of a command. Raises `ValueError` with the message of the parser."""
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors):
            return parser.parse_args(words)
    except SystemExit:
        raise ValueError(errors.getvalue().strip().split("\n")[-1]) from None


def megatron() -> Load:
    """The parser, its validation of all arguments together for the ranks of the launch, and the configuration of the
    transformer that follows from them.
    """
    stubs.install("megatron", bare=("megatron", "megatron.training"))
    import torch  # type: ignore[import-not-found,unused-ignore]
    from megatron.training.argument_utils import (  # type: ignore[import-not-found]
        core_transformer_config_from_args,
    )
    from megatron.training.arguments import (  # type: ignore[import-not-found]
        add_megatron_arguments,
        validate_args,
    )

    torch.cuda.get_device_capability = lambda *device: (9, 0)  # of the machine that trains, not of this one
    parser = add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))

    def load(text: str) -> None:
        ranks = math.prod(int(found) for found in re.findall(r"--(?:nnodes|nproc_per_node) (\d+)", text))
        for words in _commands(text, "pretrain_gpt.py"):
            given = _parse(parser, words)
            for name in _DEGREES:
                stated = re.search(rf"--{name.replace('_', '-')} (\d+)", text)
                if stated and vars(given)[name] != int(stated[1]):
                    raise ValueError(f"{name} is {vars(given)[name]}")
            given.world_size, given.rank = ranks, 0
            validate_args(given, {})
            core_transformer_config_from_args(given)

    return load


def _prepare_vllm(forced: tuple[str, ...] = ("vllm.ir",), bare: tuple[str, ...] = ("vllm",)) -> None:
    """Stubs for vLLM, on a platform that is a processor."""
    stubs.install("vllm", forced=forced, bare=bare)
    platforms = importlib.import_module("vllm.platforms")  # `from vllm import` would ask the bare package
    from vllm.platforms.interface import Platform  # type: ignore[import-not-found]

    class Processor(Platform):  # type: ignore[misc]
        device_type = device_name = "cpu"

    vars(platforms).update(current_platform=Processor(), _current_platform=Processor())


def vllm() -> Load:
    _prepare_vllm()
    from vllm.entrypoints.common.cli_args import make_arg_parser  # type: ignore[import-not-found]
    from vllm.utils.argparse_utils import FlexibleArgumentParser  # type: ignore[import-not-found]

    parser = make_arg_parser(FlexibleArgumentParser())

    def load(text: str) -> None:
        for words in _commands(text, "vllm serve") if "modelCommand: " not in text else _argument_lists(text):
            _parse(parser, words)

    return load


def _argument_lists(text: str) -> Iterator[list[str]]:
    """The arguments of the engines in values of llm-d's chart, with the degrees that it writes before them."""
    import yaml

    values = yaml.safe_load(text)
    for role in (values[name] for name in ("prefill", "decode") if values.get(name, {}).get("containers")):
        degrees = ["--tensor-parallel-size", "tensor"], ["--data-parallel-size", "data"]
        written = [word for option, name in degrees for word in (option, str(role["parallelism"][name]))]
        yield from ([*written, *map(str, container["args"])] for container in role["containers"])


def dynamo() -> Load:
    """The workers of Dynamo for vLLM; those for SGLang take the options of its server."""
    import yaml

    core = ("vllm.ir", "dynamo._core", "dynamo.llm", "dynamo.runtime", "dynamo.prometheus_names")
    _prepare_vllm(core, ("vllm", "dynamo", "dynamo.vllm", "dynamo.common"))
    from dynamo.vllm.args import _parse_cli_args  # type: ignore[import-not-found]

    def load(text: str) -> None:
        for each in yaml.safe_load_all(text):
            for component in each["spec"]["components"]:
                container = component["podTemplate"]["spec"]["containers"][0]
                if container["command"][-1] != "dynamo.frontend":
                    _parse_cli_args([str(word) for word in container["args"]])

    return load


def sglang() -> Load:
    stubs.install("sglang", bare=("sglang", "sglang.srt"))
    from sglang.srt.server_args import ServerArgs  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)

    def load(text: str) -> None:
        for words in _commands(text, "sglang.launch_server"):
            _parse(parser, [word if word != "$NODE_RANK" else "0" for word in words])

    return load


def maxtext() -> Load:
    """MaxText's own configuration of the file, with that of its base and model, and the validation of all keys together
    for the devices and slices of the design.
    """
    stubs.install(
        "maxtext",
        forced=(
            "maxtext.utils.max_utils",
            "maxtext.utils.elastic_utils",
            "maxtext.utils.gcs_utils",
            "maxtext.utils.max_logging",
        ),
    )
    configs = importlib.import_module("maxtext.configs.pyconfig")
    configs.max_utils.get_num_slices = lambda keys, config=None: keys["compile_topology_num_slices"]
    logging.disable(logging.CRITICAL)

    def load(text: str) -> None:
        devices = re.search(r"(\d[\d,]*) devices?", text)
        slices = math.prod(int(found) for found in re.findall(r"^dcn_\w+: (\d+)", text, re.MULTILINE))
        assert devices is not None
        with tempfile.TemporaryDirectory() as held:
            Path(held, "design.yml").write_text(text, "utf-8")
            found = configs._initialize_pydantic(
                ["maxtext", str(Path(held, "design.yml"))],
                run_name="design",
                base_output_directory=held,
                internal_compile=True,
                internal_compile_num_devices=int(devices[1].replace(",", "")),
                compile_topology_num_slices=slices,
            )
        if not found.logical_axis_rules:
            raise ValueError("no rules divide arrays over the mesh")

    return load


def torchtitan() -> Load:
    stubs.install("torchtitan", forced=("torchtitan.ops", "torchtitan.distributed.minimal_async_ep"))

    import torch  # type: ignore[import-not-found,unused-ignore]

    tensor = importlib.import_module("torch.distributed.tensor")
    tensor.Shard = type("Shard", (), {"__init__": lambda self, dim: setattr(self, "dim", dim)})  # type: ignore[attr-defined,unused-ignore]
    torch.version.hip = None
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = lambda *device: (10, 0)  # of the machine that trains, not of this one

    def load(text: str) -> None:
        held: dict[str, Any] = {}
        exec(compile(text, "design", "exec"), held)
        held["design"]()

    return load


def deepspeed() -> Load:
    forced = ("accelerator", "ops", "inference.v2", "inference.engine", "module_inject", "runtime.utils")
    zero = ("utils", "partition", "param", "stage")
    names = (*(f"deepspeed.{name}" for name in forced), *(f"deepspeed.runtime.zero.{name}" for name in zero))
    stubs.install("deepspeed", forced=names, bare=("deepspeed",))
    import deepspeed.runtime.config as runtime  # type: ignore[import-not-found]

    runtime.dist = stubs.Module("comm")

    def load(text: str) -> None:
        given = json.loads(text)
        replicas = given["train_batch_size"] // (
            given["train_micro_batch_size_per_gpu"] * given.get("gradient_accumulation_steps", 1)
        )
        mesh = type("Mesh", (), {"get_data_parallel_world_size": lambda self: replicas})
        runtime.DeepSpeedConfig(given, mpu=mesh())

    return load


class _Refusing:
    """The log of SuperBench, where a warning counts as an error, such as a rule without a metric."""

    def warning(self, text: str, *given: Any) -> None:
        raise ValueError(text)

    error = warning

    def log_and_raise(self, exception: type[Exception], msg: str) -> None:
        raise exception(msg)


def superbench() -> Load:
    """The diagnosis of SuperBench: it must pass a node just above each limit and reject a node just below."""
    import pandas  # asks which libraries are installed, so before the stubs
    import yaml

    stubs.install("superbench", forced=("superbench.common",), bare=("superbench",))
    vars(importlib.import_module("superbench.common.utils"))["logger"] = _Refusing()
    from superbench.analyzer.data_diagnosis import DataDiagnosis  # type: ignore[import-not-found]

    def load(text: str) -> None:
        rules = yaml.safe_load(text)
        limits = {
            re.sub(r"\(.*?\)\?", "", metric): float(rule["criteria"].rpartition("<")[2])
            for rule in rules["superbench"]["rules"].values()
            for metric in rule["metrics"]
        }
        for metric, limit in limits.items():
            judge = DataDiagnosis()
            nodes = {name: limits | {metric: limit + off} for name, off in (("good", 0.01), ("bad", -0.01))}
            judge._raw_data_df = pandas.DataFrame.from_dict(nodes, orient="index")
            judge._benchmark_metrics_dict = judge._get_metrics_by_benchmarks(list(limits))
            _, labels = judge.run_diagnosis_rules(yaml.safe_load(text), {})
            if dict(labels["label"]) != {"good": 0, "bad": 1}:
                raise ValueError(f"{metric} does not tell 0.01 GB/s above the limit from 0.01 GB/s below")

    return load


def aiconfigurator() -> Load:
    """The readers of systems: every rate and bandwidth that a plan needs; a larger group has no higher rate."""
    stubs.install("aiconfigurator_core", forced=("aiconfigurator_core._aiconfigurator_core",))
    from aiconfigurator_core.sdk import common  # type: ignore[import-not-found]
    from aiconfigurator_core.sdk.perf_database import load_system_spec  # type: ignore[import-not-found]
    from aiconfigurator_core.sdk.system_spec import SystemSpec  # type: ignore[import-not-found]

    def load(text: str) -> None:
        with tempfile.TemporaryDirectory() as held:
            Path(held, "exported.yaml").write_text(text, "utf-8")
            spec = SystemSpec(load_system_spec("exported", held))
        rates = {mode: spec["gpu"].get(f"{mode}_tc_flops") for mode in ("bfloat16", "fp8")}
        for mode, rate in rates.items():
            if rate and common.get_quant_tc_flops(spec, common.FMHAQuantMode[mode]) != rate:
                raise ValueError(f"the rate of {mode} is not {rate}")
        node = spec["node"]["num_gpus_per_node"]
        bandwidths = [spec.get_p2p_bandwidth(size) for size in (node, node + 1, 10**6)]
        if bandwidths != sorted(bandwidths, reverse=True) or bandwidths[-1] <= 0:
            raise ValueError(f"bandwidths by size of group: {bandwidths}")
        held_bytes = spec["misc"]["other_mem"] + max(spec["misc"]["nccl_mem"][ranks] for ranks in (1, 2, 4, 8))
        if not 0 <= held_bytes < spec["gpu"]["mem_capacity"]:
            raise ValueError(f"{held_bytes} B in addition to the weights")

    return load


def netbox() -> Load:
    """A device type against the schema of the library and its rules for names and components. Its rule that a device
    has an inlet is for contributions of whole devices: the form of inlets is not written.
    """
    import yaml
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    folder = Path(sys.path[0])
    schemas = {each.name: json.loads(each.read_text()) for each in sorted((folder / "schema").glob("*.json"))}
    registry: Any = Registry()
    for schema in schemas.values():
        registry = Resource.from_contents(schema) @ registry
    validator = Draft202012Validator(schemas["devicetype.json"], registry=registry)
    rules = importlib.import_module("tests.device_types")

    def load(text: str) -> None:
        definition = yaml.safe_load(text)
        validator.validate(definition)
        device = rules.DeviceType(definition, f"device-types/x/{definition['slug']}.yaml", "A")
        if not (device.verify_slug(set()) and rules.validate_components(("interfaces",), device)):
            raise ValueError(device.failureMessage)

    return load


_ANY = ("", "")
"""The name of a document without kind and version."""


def schema() -> Load:
    """A check of Kubernetes objects against the schema of their kind, and of other documents against a JSON Schema.

    Unknown keys are refused, as by the strict validation of ``kubectl apply``. Rules in CEL are not evaluated.
    """
    import yaml
    from jsonschema import Draft202012Validator

    given = yaml.load(Path(sys.path[0], "schema.yaml").read_text("utf-8"), yaml.CSafeLoader)
    if given.get("kind") == "CustomResourceDefinition":
        spec = given["spec"]
        served = {f"{spec['group']}/{each['name']}": each["schema"]["openAPIV3Schema"] for each in spec["versions"]}
        schemas = {(str(spec["names"]["kind"]), name): _strict_schema(each) for name, each in served.items()}
    else:
        schemas = {_ANY: given}
    judges = {name: Draft202012Validator(each) for name, each in schemas.items()}

    def load(text: str) -> None:
        for document in yaml.safe_load_all(text):
            name = _ANY if _ANY in judges else (str(document.get("kind")), str(document.get("apiVersion")))
            if name not in judges:
                raise ValueError(f"{name} is not among {list(judges)}")
            for error in judges[name].iter_errors(document):
                raise ValueError(f"{error.json_path}: {error.message[:200]}")

    return load


def _strict_schema(schema: Any) -> Any:
    """A schema of a definition whose objects have no other keys than those it names, the whole object's metadata aside.

    A count may be text where the definition takes both (``x-kubernetes-int-or-string``).
    """
    if not isinstance(schema, dict):
        return schema
    inner = {
        key: {name: _strict_schema(each) for name, each in value.items()}
        if key == "properties"
        else _strict_schema(value)
        if key in {"items", "additionalProperties"}
        else value
        for key, value in schema.items()
    }
    closed = "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields")
    if closed and "additionalProperties" not in schema:
        inner["additionalProperties"] = False
    if schema.get("x-kubernetes-int-or-string"):
        inner.pop("type", None)
    return inner


TARGETS: dict[str, Callable[[], Load]] = {
    "aiconfigurator": aiconfigurator,
    "megatron": megatron,
    "maxtext": maxtext,
    "torchtitan": torchtitan,
    "deepspeed": deepspeed,
    "vllm": vllm,
    "llm-d": vllm,
    "dynamo": dynamo,
    "sglang": sglang,
    "superbench": superbench,
    "netbox": netbox,
    **dict.fromkeys(("dynamo-graph", "llm-d-chart", "mpijob", "jobset", "kueue-topology"), schema),
}
"""For each kind of export, the function that makes its loader."""


def main() -> int:
    target, folder = sys.argv[1:3]
    sys.path.insert(0, folder)
    load = TARGETS[target]()
    for line in sys.stdin:
        fault = ""
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                load(json.loads(line))
        except Exception as why:  # whatever the target raises is what the tool reports
            fault = f"{type(why).__name__}: {why}"
        print(json.dumps(fault), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
