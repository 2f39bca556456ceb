"""The precision of the weights of a checkpoint, from ``quantization_config`` of its config.json.

Names: vLLM 0.33.0, vllm/model_executor/layers/quantization/modelopt.py (``LINEAR_ALGOS``); compressed-tensors,
src/compressed_tensors/config/base.py (``CompressionFormat``); AMD Quark, as vLLM reads it in
vllm/model_executor/layers/quantization/quark/quark.py (``weight.dtype``, ``group_size``).
"""

from __future__ import annotations

from typing import Any

_METHODS = {"fp8": "fp8", "awq": "int4", "gptq": "int4", "fbgemm_fp8": "fp8"}
_ALGORITHMS = {
    **dict.fromkeys(("fp8", "fp8_per_channel_per_token", "fp8_pb_wo", "fp8_block_scales"), "fp8"),
    **dict.fromkeys(("nvfp4", "w4a16_nvfp4", "nvfp4_awq"), "nvfp4"),
    **dict.fromkeys(("w4a16_awq", "w4a8_awq"), "int4"),
    "mxfp8": "mxfp8",
}
"""Weights by ``quant_algo`` of NVIDIA ModelOpt. With MIXED_PRECISION they differ from layer to layer."""
_FORMATS = {"nvfp4-pack-quantized": "nvfp4", "mxfp4-pack-quantized": "mxfp4", "mxfp8-quantized": "mxfp8"}
_BY_WIDTH = {("float", "8"): "fp8", ("int", "8"): "int8", ("int", "4"): "int4"}
_QUARK = {"fp8_e4m3": "fp8", "int8": "int8", "int4": "int4", "uint4": "int4"}


def quantized_weights(stated: dict[str, Any]) -> str | None:
    """The precision of quantized weights; None if it is unknown or differs among the layers."""
    method = str(stated.get("quant_method", ""))
    if method.startswith("modelopt"):
        return _ALGORITHMS.get(str(stated.get("quant_algo") or "").lower())
    if method == "compressed-tensors":
        return _compressed_tensors_precision(stated)
    if method == "quark":
        return _quark_precision(stated)
    return _METHODS.get(method)


def _compressed_tensors_precision(stated: dict[str, Any]) -> str | None:
    groups = stated.get("config_groups")
    listed = [each for each in groups.values() if isinstance(each, dict)] if isinstance(groups, dict) else []
    found = {_group_precision(each, str(stated.get("format", ""))) for each in listed}
    return found.pop() if len(found) == 1 else None


def _group_precision(group: dict[str, Any], whole: str) -> str | None:
    """The precision of a group: its own format comes before that of the ``whole`` file."""
    weights = group.get("weights")
    if not isinstance(weights, dict):
        return None
    named = _FORMATS.get(str(group.get("format") or whole))
    return named or _BY_WIDTH.get((str(weights.get("type")), str(weights.get("num_bits"))))


def _quark_precision(stated: dict[str, Any]) -> str | None:
    """The precision of all layers: none where some have a configuration of their own."""
    everywhere = stated.get("global_quant_config")
    weights = everywhere.get("weight") if isinstance(everywhere, dict) else None
    if not isinstance(weights, dict) or stated.get("layer_quant_config"):
        return None
    if weights.get("dtype") == "fp4":
        return "mxfp4" if weights.get("group_size") == 32 else None
    return _QUARK.get(str(weights.get("dtype")))
