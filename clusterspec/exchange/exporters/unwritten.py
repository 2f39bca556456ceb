"""Keys that a spec states and a launch leaves out. They are listed so that no key is lost silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Design
from clusterspec.quantity import Quantity
from clusterspec.records import fields, is_dataclass
from clusterspec.units import plural


def _keys_of_text(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECTIONS: Mapping[str, frozenset[str]] = {
    "layout": _keys_of_text(
        "sequence_parallel cp_method expert_tp dispatcher stage_layers order schedule virtual_stages offload "
        "recompute_layers optimizer_states capacity_factor gradient_compression gradient_sync fused_kernels "
        "fused_optimizer fused_experts captured_graphs loss overlap"
    ),
    "workload": _keys_of_text(
        "parameter_precision expert_parameter_precision gradient_precision quantization recipe optimizer attention "
        "tokens loss_scaling predicted_layers residual_precision bf16_layers"
    ),
}
"""Keys for which a launch may have options, other than degrees, batches and precision, which every writer handles."""
_ENGINE_SECTIONS = {
    "layout": _keys_of_text("fused_experts expert_tp dispatcher overlap"),
    "workload": _keys_of_text("expert_parameter_precision quantization recipe attention"),
}
"""Keys for which the launch of an engine may have options, in addition to those in `_SECTIONS` that are not only for
training.
"""
_ENGINES = frozenset({"vllm", "sglang", "trt-llm", "dynamo", "llm-d"})
_HANDLED = {
    **dict.fromkeys(_ENGINES - {"trt-llm"}, _keys_of_text("dispatcher overlap")),
    "trt-llm": _keys_of_text("dispatcher"),
    **dict.fromkeys(
        ("megatron", "megatron-bridge"),
        _keys_of_text(
            "sequence_parallel cp_method expert_tp dispatcher stage_layers order schedule virtual_stages offload "
            "recompute_layers captured_graphs loss attention tokens recipe optimizer predicted_layers overlap.dp "
            "overlap.tp overlap.ep overlap.pp optimizer_states capacity_factor gradient_precision residual_precision "
            "bf16_layers"
        ),
    ),
    "torchtitan": _keys_of_text(
        "sequence_parallel cp_method expert_tp dispatcher stage_layers order schedule virtual_stages offload recipe "
        "optimizer tokens"
    ),
    "deepspeed": _keys_of_text("tokens stage_layers virtual_stages offload.optimizer optimizer overlap.dp"),
    "maxtext": _keys_of_text(
        "tokens cp_method expert_tp stage_layers schedule virtual_stages offload recipe optimizer attention "
        "gradient_precision"
    ),
}
"""Keys that each writer writes or lists as omitted."""
_AXES = {"cp_method": "cp", "stage_layers": "pp", "schedule": "pp", "virtual_stages": "pp", "overlap.tp": "tp"} | {
    f"overlap.{axis}": axis for axis in ("cp", "ep", "pp")
}
"""Keys that have no effect if the degree of their axis is 1."""
_ON_WHERE_ABSENT = frozenset({"fused_optimizer"})
"""Keys whose value `false` has an effect."""
_OF_EXPERTS = frozenset(
    {"dispatcher", "expert_tp", "capacity_factor", "fused_experts", "expert_parameter_precision", "overlap.ep"}
)
_TOGETHER = (
    *({each} for each in ("bf16", "fp16", "fp32", "fp8")),
    *({"bf16", other} for other in ("int4", "mxfp4", "fp16")),
)
"""Pairs of compute and weight precision that an engine accepts."""
_OFF = (None, False, "none", 0)


def unwritten_keys(target: str, design: Design) -> Iterator[str]:
    """A line with the keys that a spec states and the writer of ``target`` neither writes nor lists; none for targets
    that are not launches.
    """
    handled = _HANDLED.get(target)
    if handled is None or design.layout is None or design.workload is None:
        return
    left = []
    for section, names in (_ENGINE_SECTIONS if target in _ENGINES else _SECTIONS).items():
        spec = getattr(design.spec, section)
        for name in sorted(names - handled):
            for path, value in _stated_leaves(name, getattr(spec, name, None)):
                idle = getattr(design.layout, _AXES.get(path, ""), 2) == 1
                dense = path in _OF_EXPERTS and not design.workload.model.experts
                if path not in handled and not idle and not dense:
                    left.append(f"{path} {value}")
    work = design.workload
    if target in _ENGINES and {work.precision, work.parameter_precision} not in _TOGETHER and design.spec.workload:
        left += [f"precision {work.precision}"] * (design.spec.workload.precision is not None)
    if target in _ENGINES and (scaled := _scaled_replicas(design)):
        yield scaled
    if left:
        yield f"keys for which this writer has no option: {', '.join(left)}"


def _scaled_replicas(design: Design) -> str:
    """A note that engines which follow the load of a day are written as if all of them ran; empty for other plans."""
    serving = design.spec.workload.serving if design.spec.workload is not None else None
    if serving is None or not (serving.day and serving.scaling) or design.layout is None:
        return ""
    return f"scaling with the load of the day: all {plural(design.layout.dp, 'replica')} are written, as for its peak"


def _stated_leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    """The paths below a key, each with its value, except for values that turn something off."""
    if isinstance(value, Quantity):
        yield path, value.written
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _stated_leaves(f"{path}.{field.name}", getattr(value, field.name))
    elif value not in _OFF or (value is False and path in _ON_WHERE_ABSENT):
        yield path, _value_text(value)


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
