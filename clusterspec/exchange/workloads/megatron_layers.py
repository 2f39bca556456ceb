"""Layers of a Megatron-LM launch that differ from the others: with a window of attention, or with experts."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.keys import Keys, whole_of


def set_window(keys: Keys, tokens: int, builder: ImportBuilder) -> None:
    """Set the window of all layers, or of those that ``window-attn-skip-freq`` does not skip."""
    line, base = keys.line("window_size"), "workload.model.attention_window"
    every, layers = keys.get("window_attn_skip_freq"), keys.whole("num_layers")
    if every is None:
        builder.set(base, tokens, line)
    elif layers and (count := layers - layers // step if (step := whole_of(every)) else marked_layer_count(str(every))):
        builder.set(f"{base}.tokens", tokens, line)
        builder.set(f"{base}.layers", count, keys.line("window_attn_skip_freq"))
    else:
        builder.unknown(f"window_attn_skip_freq: {str(every)[:40]}", "its pattern of layers is not counted", line)


def marked_layer_count(text: str) -> int:
    """The number of ones in a pattern of zeros and ones such as ``([0]*3+[1]*58)``."""
    parts = re.findall(r"\[([01](?:\s*,\s*[01])*)\]\s*(?:\*\s*([0-9]{1,6}))?", text)
    return sum(part.count("1") * int(times or 1) for part, times in parts)
