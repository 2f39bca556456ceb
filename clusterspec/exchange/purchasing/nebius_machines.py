"""Machines of Nebius in files of Terraform: a platform with the accelerators of its preset.

Names: nebius/nebius-solution-library, vm-instance/terraform.tfvars (``platform = "gpu-h100-sxm"``, ``preset =
"8gpu-128vcpu-1600gb"``), and earlier nebius/nebius-architect-solution-library,
kubernetes/terraform/kubernetes-training/main.tf (``platform_id``, with ``node_gpus`` or ``resources.gpus``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PLATFORM_KEYS = ("platform", "platform_id")
PARTS = ("resources", "template", "instance_template")
"""Mappings of a group of nodes that have no name of their own."""
COUNT_KEYS = ("gpus", "node_gpus")
_PLATFORM = re.compile(r"gpu-[a-z0-9]+(?:-[a-z0-9]+){0,3}")
_PRESET = re.compile(r"(?P<count>[1-9]\d{0,2})gpu-\d")
_ACCELERATORS = {
    "gpu-h100": "h100-sxm-80gb",
    "gpu-h100-sxm": "h100-sxm-80gb",
    "gpu-h200-sxm": "h200-sxm-141gb",
    "gpu-b200-sxm": "b200-sxm-180gb",
    "gpu-b200-sxm-a": "b200-sxm-180gb",
    "gpu-b300-sxm": "b300-sxm-288gb",
    "gpu-l40s-a": "l40s",
    "gpu-l40s-d": "l40s",
}
_WHOLE_MACHINES = {
    "h100-sxm-80gb": "nebius-h100",
    "h200-sxm-141gb": "nebius-h200",
    "b200-sxm-180gb": "nebius-b200",
    "b300-sxm-288gb": "nebius-b300",
}
"""Platforms of the catalog with eight accelerators."""


def is_platform(value: Any) -> bool:
    """Whether a value names a platform with accelerators (``gpu-h100-sxm``)."""
    return isinstance(value, str) and _PLATFORM.fullmatch(value) is not None


def accelerator_of_platform(platform: str) -> str | None:
    """The catalog id of the accelerators of a platform; None if the catalog has none."""
    return _ACCELERATORS.get(platform)


def accelerators_of_preset(table: Mapping[str, Any]) -> int | None:
    """The accelerators of one machine, from its preset or stated next to it or in ``resources``.

    >>> accelerators_of_preset({"preset": "8gpu-128vcpu-1600gb"}), accelerators_of_preset({"resources": {"gpus": 2}})
    (8, 2)
    """
    if match := _PRESET.match(str(table.get("preset", ""))):
        return int(match["count"])
    inner = table.get("resources")
    first = inner[0] if isinstance(inner, list) and inner else inner
    places = (table, first if isinstance(first, Mapping) else {})
    stated = (place[name] for place in places for name in COUNT_KEYS if name in place)
    return next((value for value in stated if isinstance(value, int) and value > 0), None)


def whole_machine(platform: str, accelerators: int | None) -> str | None:
    """The catalog platform of a machine with all eight accelerators of its board.

    >>> whole_machine("gpu-h200-sxm", 8), whole_machine("gpu-h200-sxm", 1)
    ('nebius-h200', None)
    """
    return _WHOLE_MACHINES.get(_ACCELERATORS.get(platform, "")) if accelerators == 8 else None
