"""The load of an inference engine over time, as vLLM and SGLang print it."""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import lines_of
from clusterspec.standard import DECIMAL, median

_VLLM = re.compile(
    r"Avg generation throughput: " + DECIMAL + r" tokens/s, .{0,80}?(?:Waiting|Pending): ([0-9]{1,7}) reqs, "
    r"(?:.{0,40}?, )?GPU KV cache usage: " + DECIMAL + r"%"
)
"""vLLM 0.2 to 0.19: vllm/engine/metrics.py (Pending), vllm/v1/metrics/loggers.py (Waiting)."""
_SGLANG = re.compile(
    r"Decode batch.{0,200}?, (?:full )?token usage: " + DECIMAL + r",.{0,200}?"
    r"gen throughput \(token/s\): " + DECIMAL + r", #queue-req: ([0-9]{1,7})"
)
"""SGLang 0.3 to 0.5: python/sglang/srt/managers/scheduler_metrics_mixin.py."""
FULL = 0.99
"""Share of the KV cache from which new requests wait or running ones are evicted."""
COLLAPSE = 0.5
"""Share of the best throughput below which a full cache is a collapse, rather than an engine with enough to do."""


def starved_engine(text: str) -> tuple[str, int] | None:
    """A fall of the generation throughput while requests wait for a full KV cache, with its first line.

    None if the throughput holds: a benchmark without a limit also has a full cache and waiting requests.
    """
    if "KV cache usage" not in text and "Decode batch" not in text:
        return None
    loads = [
        (*load, number) for number, line in enumerate(lines_of(text), 1) if (load := _engine_load_of(line[:2_000]))
    ]
    starved = [load for load in loads if load[2] >= FULL and load[1] > 0]
    best = max((rate for rate, _, usage, _ in loads if usage < FULL), default=0.0)
    if not starved or median(load[0] for load in starved) >= COLLAPSE * best:
        return None
    rate = median(load[0] for load in starved)
    most = max(load[1] for load in starved)
    said = f"up to {most} requests wait for a full KV cache, and {rate:,.0f} of {best:,.0f} tokens/s are generated"
    return said, starved[0][3]


def _engine_load_of(line: str) -> tuple[float, int, float] | None:
    """The load that a line states: output tokens per second, waiting requests and the used share of the KV cache; None
    if it states none.
    """
    try:
        if "KV cache usage" in line and (match := _VLLM.search(line)):
            return float(match[1]), int(match[2]), float(match[3]) / 100
        if "Decode batch" in line and (match := _SGLANG.search(line)):
            return float(match[2]), int(match[3]), float(match[1])
    except ValueError:  # 1.2.3
        return None
    return None
