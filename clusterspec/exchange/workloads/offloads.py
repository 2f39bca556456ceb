"""Options that move optimizer states, parameters or activations to host memory, where a reader has no key for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder, excerpt

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
