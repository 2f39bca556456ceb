"""The server of a load test, as the client of SGLang writes it with its results.

``server_info`` holds the arguments of the server, with defaults resolved (sgl-project/sglang 50a61368,
python/sglang/bench_serving.py; its keys are those of srt/server_args.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.exchange.workloads.model_files.models import set_served_model

_NAMES = (
    *("tp_size", "dp_size", "pp_size", "ep_size", "enable_dp_attention", "moe_a2a_backend", "nnodes"),
    *("mem_fraction_static", "chunked_prefill_size", "max_running_requests", "kv_cache_dtype", "disable_cuda_graph"),
    *("quantization", "speculative_num_steps", "speculative_num_draft_tokens", "speculative_eagle_topk"),
)


def server_of(figures: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments of the server; None where the results do not hold them."""
    info = figures.get("server_info")
    stated = isinstance(info, Mapping) and isinstance(info.get("model_path"), str) and info.get("tp_size")
    return info if stated else None


def set_server(server: Mapping[str, Any], builder: ImportBuilder, line: int) -> None:
    """Set the model, the engine and its layout."""
    quantized = bool(server.get("quantization"))
    model = set_served_model(server["model_path"], builder, line, quantized=quantized)
    builder.set("layout.framework", "sglang", line)
    keys = Keys()
    for name in _NAMES:
        if (value := server.get(name)) is not None:
            keys.put(name, value, line)
    share = keys.values.get("mem_fraction_static")
    if share and isinstance(share[0], float):
        keys.put("mem_fraction_static", f"{share[0]:.4f}".rstrip("0"), line)
    set_engine_options("sglang", keys, model, builder)
    builder.unknown("cluster", "the results do not state it", line)
