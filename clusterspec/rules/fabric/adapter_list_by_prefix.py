"""An entry of a list of adapters also selects others, since NCCL compares the beginning of names.

## What it finds

An entry of `NCCL_IB_HCA` or `NCCL_SOCKET_IFNAME` in the description or a comment with which the name of another device
in the text begins: `mlx5_1` where the node also has `mlx5_10`. A list that begins with `=` compares whole names and is
silent.

## Why it matters

NCCL takes the entries for the beginnings of names, unless the list begins with `=`. NCCL then also uses the ports with
the longer names, such as those of the storage network. Where the list begins with `^`, it excludes them.

## What to do

Begin the list with `=`: `NCCL_IB_HCA==mlx5_0,mlx5_1`.

## When to ignore it

Ignore it where the longer names belong to the same fabric.

## Fires

```yaml description
clusterspec: 1
description: mlx5_10 and mlx5_11 are the storage ports. Every job sets NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3.
cluster: {platform: hgx-h200, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: mlx5_10 and mlx5_11 are the storage ports. Every job sets NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3.
cluster: {platform: hgx-h200, nodes: 16}
```

## Sources

- Prefixes, `=` and `^`: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-hca


"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_NAME = r"[a-z][a-z0-9]{0,15}(?:_[a-z0-9]{1,15})?"
_LIST = pattern(
    rf"\b(NCCL_IB_HCA|NCCL_SOCKET_IFNAME)[\"'`]?(?: ?[=:] ?| (?:is|to|lists|names) )[\"'`]?([=^]{{0,2}})({_NAME}(?::\d)?(?:, ?{_NAME}(?::\d)?){{0,31}})"
)
_RANGE = pattern(r"\b([a-z]{2,8}\d?_?)(\d{1,2})`? ?(?:to|until|through|bis|à|a|hasta|-|–|…|\.\.\.?) ?`?\1(\d{1,2})\b")
_DEVICE = pattern(r"\b(?:mlx5_|mlx5_bond_|bnxt_re|irdma|rdmap|rocep|ib|eth|eno|ens|enp)\d{1,3}\b")
_CUES = ("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME")


def check(own_remarks: str) -> Iterator[Problem]:
    if not any(cue in own_remarks for cue in _CUES):
        return
    text = " ".join(own_remarks.split())
    devices = _devices_in(text)
    for match in islice(_LIST.finditer(text), MOST_MATCHES):
        setting, sign, written = match.groups()
        entries = [each.strip() for each in written.split(",")]
        if "=" in sign or (len(entries) < 2 and entries[0] not in devices):
            continue
        for entry in entries:
            also = [each for each in devices if _is_entry_with_digits(each, entry) and each not in entries]
            if also:
                names = and_list(f"`{each}`" for each in also[:4])
                message = f"entries of `{setting}` are the beginnings of names: `{entry}` {'excludes' if sign else 'selects'} {names}, too"
                yield RULE.problem("description", message, f"begin the list with `=`: `{setting}={sign}={written}`")
                return


def _is_entry_with_digits(device: str, entry: str) -> bool:
    """Whether the name of a device is a list entry followed by more digits."""
    return entry[-1].isdigit() and device.startswith(entry) and device[len(entry) :].isdigit()


def _devices_in(text: str) -> list[str]:
    """The devices that a text names outside its lists, with each device of a range.

    >>> _devices_in("mlx5_0 to mlx5_2 compute, mlx5_10 stores; NCCL_IB_HCA=mlx5_4,mlx5_5")
    ['mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_10']
    """
    rest = _LIST.sub(" ", text)
    found: dict[str, None] = {}
    for match in islice(_RANGE.finditer(rest), MOST_MATCHES):
        found |= dict.fromkeys(f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1))
    found |= dict.fromkeys(each[0] for each in islice(_DEVICE.finditer(rest), MOST_MATCHES))
    return [*found]
