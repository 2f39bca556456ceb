"""Options of launchers under the names that readers take: shortened ones, and the hosts that one includes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_SHORTENED = {"nnode": "nnodes", "nproc": "nproc_per_node"}
"""Options of ``torchrun`` as its parser takes them shortened (argparse)."""
_HOST = r"[\w.-]{1,80}:\d{1,3}(?:,\d{1,3}){0,63}"
_INCLUDED = re.compile(rf"{_HOST}(?:@{_HOST}){{0,999}}")


def take_launcher_options(values: dict[str, tuple[Any, int]], words: Sequence[str]) -> None:
    """Name the options of a launcher as readers take them; ``values`` are changed, ``words`` are the command.

    >>> values = {"include": ("a:0,1@b:2,3", 4)}
    >>> take_launcher_options(values, ["deepspeed", "--include", "a:0,1@b:2,3"])
    >>> values
    {'num_nodes': ('2', 4), 'num_gpus': ('2', 4)}
    """
    if any("torchrun" in word or "torch.distributed" in word for word in words):
        for short, name in _SHORTENED.items():
            if short in values and name not in values:
                values[name] = values.pop(short)
    if any(word.rpartition("/")[2] == "deepspeed" for word in words):
        _take_included(values)


def _take_included(values: dict[str, tuple[Any, int]]) -> None:
    """Give hosts and devices that DeepSpeed's launcher includes as counts, unless hosts differ in their devices.

    Form: ``NAME:DEVICE[,DEVICE…][@NAME:…]`` (deepspeedai/DeepSpeed, deepspeed/launcher/runner.py, ``--include``).
    """
    stated, line = values.get("include", (None, 0))
    if not isinstance(stated, str) or not _INCLUDED.fullmatch(stated) or values.keys() & {"num_gpus", "num_nodes"}:
        return
    devices = {each.count(",") + 1 for each in stated.split("@")}
    if len(devices) == 1:
        del values["include"]
        values["num_nodes"] = (str(stated.count("@") + 1), line)
        values["num_gpus"] = (str(devices.pop()), line)
