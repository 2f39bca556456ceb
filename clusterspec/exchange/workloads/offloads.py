"""Options that move optimizer states, parameters or activations to host memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys

_MOVES_STATES = re.compile(
    r"(?:^|[._])(?:\w{0,40}offload(?![\w.]{0,40}(?:ratio|fraction|times|pin))|swap_optimizer$|cpu_(?:adam|optimizer)$)"
)
_OFF = frozenset({"false", "0", "0.0", "none", "null", "no", "off", "", "[]", "{}", "device"})
MOST_LISTED = 20


def list_offloads(values: Mapping[str, tuple[Any, int]], unused: Iterable[str], builder: ImportBuilder) -> list[str]:
    """List each unused option that is on and moves states to host memory; the names of the other unused options."""
    others, found = [], 0
    for name in unused:
        value, line = values[name]
        if found < MOST_LISTED and _MOVES_STATES.search(name) and str(value).lower() not in _OFF:
            found += 1
            why = "not imported: states or activations may be in host memory (layout.offload)"
            if name.startswith("kv_"):
                why = "not imported: blocks of the KV cache may be in host memory or on a disk"
            builder.unknown(f"{name}: {excerpt(value)}", why, line)
        else:
            others.append(name)
    return others


def set_zero_offloads(keys: Keys, zero: str, builder: ImportBuilder) -> None:
    """Set the share of the optimizer on the host, and list parameters there, from the keys of ZeRO under a name.

    ``cpu_offload`` and ``cpu_offload_param`` are the former names (deepspeedai/DeepSpeed,
    deepspeed/runtime/zero/config.py).
    """
    if str(keys.get(f"{zero}.offload_optimizer.device")) in {"cpu", "nvme"}:
        share = keys.get(f"{zero}.offload_optimizer.ratio")
        value = share if isinstance(share, int | float) and 0 <= share <= 1 else 1
        builder.set("layout.offload.optimizer", value, keys.line(f"{zero}.offload_optimizer.device"))
    elif keys.is_on(f"{zero}.cpu_offload"):
        builder.set("layout.offload.optimizer", 1, keys.line(f"{zero}.cpu_offload"))
    former = f"{zero}.cpu_offload_param"
    if str(keys.get(f"{zero}.offload_param.device")) in {"cpu", "nvme"} or keys.is_on(former):
        line = keys.line(f"{zero}.offload_param.device", former)
        builder.unknown("offload_param", "the spec has no key for parameters offloaded to the host", line)
