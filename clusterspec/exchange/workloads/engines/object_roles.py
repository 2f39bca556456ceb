"""The role of an engine, prefill or decode, and the size of its group, by the Kubernetes object that has its command.

With ``kv_both`` the options of vLLM do not state the role (0.33.0, vllm/config/kv_transfer.py). The guides of llm-d
name their Deployments by the role, or label the pods ``llm-d.ai/role`` (zetxqx/llm-d 7edda66d, a fork of llm-d/llm-d,
guides/pd-disaggregation).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_BOTH = re.compile(r"kv_both|NixlConnector")
_NAMED = re.compile(
    r"(?:^[ \t]*|[{,][ \t]*)(?:llm-d\.ai/role|name)[ \t]*:[ \t]*[\"']?(?:[\w.-]{0,80}-)?(prefill|decode)"
    r"[\"']?[ \t]*(?=$|[},])",
    re.MULTILINE,
)

_ROLES_WITHIN = re.compile(
    r"^kind[ \t]*:[ \t]*[\"']?(?:DisaggregatedSet|StormService|RoleSet|RoleBasedGroup)\b", re.MULTILINE
)
"""Kinds of objects with several roles, each of which they name (kubernetes-sigs/lws; vllm-project/aibrix e3e10f9e,
api/orchestration/v1alpha1; sgl-project/rbg).
"""
_ROLE_ITEM = re.compile(r"^[ \t]*-[ \t]{1,8}name[ \t]*:[ \t]*[\"']?(prefill|decode)[\"']?[ \t]*$", re.MULTILINE)


@lru_cache(maxsize=4)  # a text may hold thousands of launches
def _holds_roles(text: str) -> bool:
    """Whether a text has an object of a kind with several roles."""
    return bool(_ROLES_WITHIN.search(text))


def role_of_object(text: str, options: Mapping[str, tuple[Any, int]], line: int) -> str:
    """The role of the object that contains the engine with these options on a line; empty without a role.

    >>> options = {"kv_transfer_config": ('{"kv_role": "kv_both"}', 2)}
    >>> role_of_object("metadata: {name: x-prefill}\\ncommand: [vllm, serve]", options, 2)
    'prefill'
    """
    holds_roles, split = _holds_roles(text), _BOTH.search(str(options.get("kv_transfer_config", ("",))[0]))
    if not holds_roles and not split:
        return ""
    lines, at = text.split("\n"), line - 1
    if holds_roles:
        above = _ROLE_ITEM.findall("\n".join(lines[:at]))
        return above[-1] if above else ""
    first = max((n for n in range(min(at, len(lines))) if lines[n].rstrip() == "---"), default=-1) + 1
    last = next((n for n in range(at, len(lines)) if lines[n].rstrip() == "---"), len(lines))
    roles = set(_NAMED.findall("\n".join(lines[first:last])))
    return roles.pop() if len(roles) == 1 else ""


_GROUP_SIZE = re.compile(
    r"^ {2,8}leaderWorkerTemplate:(?:.*\n){1,2000}? {2,12}size:[ \t]*([1-9][0-9]{0,4})[ \t]*$", re.MULTILINE
)


def take_group_size(text: str, options: dict[str, tuple[Any, int]]) -> None:
    """Take the nodes of a LeaderWorkerSet, which gives its pods the size of the group as ``LWS_GROUP_SIZE``."""
    sizes = {int(found[1]) for found in _GROUP_SIZE.finditer(text)}
    stated, line = options.get("nnodes", ("", 0))
    if len(sizes) == 1 and re.fullmatch(r"\$[({]?LWS_GROUP_SIZE[)}]?", str(stated)):
        options["nnodes"] = (sizes.pop(), line)
