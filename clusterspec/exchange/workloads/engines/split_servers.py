"""Two servers in one text, one for prefill and one for decode, as one serving plan.

Options: vLLM 0.33.0, vllm/config/kv_transfer.py (``kv_role``: a producer prefills, a consumer decodes; ``kv_both``
tells neither); SGLang 0.5.21, sglang/srt/server_args.py (``--disaggregation-mode``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.fabrics.disaggregated_sets import KIND, engines_of_role
from clusterspec.exchange.fabrics.pods import count_product
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    Value,
    shown_value,
)
from clusterspec.exchange.workloads.engines.engine_roles import set_roles
from clusterspec.exchange.workloads.engines.object_roles import role_of_object
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.source import dotted_path, value_at

_POOL = r"^{}[ \t]*:[ \t]*\n(?:(?:[ \t#][^\n]*)?\n){{0,40}}?[ \t]{{1,4}}replicas[ \t]*:[ \t]*([0-9]{{1,5}})\b"
"""The pool of a role in the values of a chart."""
_COPIED = re.compile(r"kind[ \t]*:[ \t]*[\"']?(?:Deployment|StatefulSet)\b")
_GROUP = re.compile(r"^kind[ \t]*:[ \t]*[\"']?(?:RoleBasedGroup|DisaggregatedSet|StormService|RoleSet)\b", re.MULTILINE)
"""Groups whose roles are parts of one object (sgl-project/rbg, api/workloads/v1alpha2; kubernetes-sigs/lws;
vllm-project/aibrix e3e10f9e, api/orchestration/v1alpha1: a StormService has ``replicas`` sets of its roles, 1 where
absent, and a role ``replicas`` instances).
"""
_REPLICAS = re.compile(r"[ ]{1,4}replicas[ \t]*:[ \t]*([1-9][0-9]{0,4})[ \t]*(?:#.*)?$")
Launch = tuple[str, Keys]
"""An engine and the options of its launch."""
_ROLES = ("prefill", "decode")
_TRANSFER = re.compile(r"kv_(?:role\W{1,9}kv_)?(producer|consumer)")
_PLANNED = {("layout", name) for name in ("tp", "attention_dp", "ep", "pp", "dispatcher", "framework")}


_NO_WHOLE = "no whole number of engines"
_UNSTATED = "the text does not state how many engines have this role"


def split_launches(launches: Sequence[Launch], text: str = "") -> dict[str, Launch] | None:
    """The launches of both roles of a text; None unless two servers of one engine each have one role."""
    roles = {
        _server_role(keys) or role_of_object(text, keys.values, keys.command.line): (engine, keys)
        for engine, keys in launches
    }
    if len(launches) != len(_ROLES) or set(roles) != set(_ROLES) or len({engine for engine, _ in launches}) > 1:
        return None
    return {role: roles[role] for role in _ROLES}


def _server_role(keys: Keys) -> str:
    """The role of a server; empty if nothing states it."""
    first = keys.command.words[0].text if keys.command.words else ""
    stated = str(keys.values.get("disaggregation_mode", ("",))[0])
    if stated in _ROLES or first in _ROLES:
        return stated if stated in _ROLES else first
    match = _TRANSFER.search(str(keys.values.get("kv_transfer_config", ("",))[0]))
    return {"producer": "prefill", "consumer": "decode"}[match[1]] if match else ""


def _replicas_of_role(file: InputFile, line: int) -> tuple[int, int] | None:
    """The engines of the role of an object with several roles in which a command stands on a line, in all copies of
    the object, with their line.
    """
    if not _GROUP.search(file.text):
        return None
    try:
        documents = read_documents(file)
    except FormatError:
        return None
    for yaml in documents:
        kind, sets = yaml.mapping.get("kind"), None
        path: tuple[str, ...] = ("spec", "roles")
        if kind == "StormService":
            path, sets = ("spec", "template", "spec", "roles"), value_at(yaml.value, "spec", "replicas")
        roles = value_at(yaml.value, *path)
        for n, role in enumerate(roles if isinstance(roles, list) else ()):
            at: tuple[str, ...] = ("replicas",)
            stated = value_at(role, "replicas")
            copies = count_product(stated, sets) if stated is not None else None
            if kind == KIND:
                copies, at = engines_of_role(yaml, n), ("spec", "replicas")
            first = yaml.line(*path, n)
            last = yaml.line(*path, n + 1) if n + 1 < len(roles) else file.text.count("\n") + 1
            if first <= line < last and isinstance(copies, int) and copies > 0:
                return copies, yaml.line(*path, n, *at)
    return None


def _engines_of_object(file: InputFile, keys: Keys) -> tuple[Any, int] | None:
    """The number of engines of the object that holds a launch, with its line: the instances of its role, or the pods of
    its Deployment or StatefulSet divided by the pods of an engine (``--nnodes``). If the division leaves a remainder,
    the reason why there is no number.
    """
    if of_role := _replicas_of_role(file, keys.command.line):
        return of_role
    if (pods := _replicas_of_object(file, keys.command.line)) is None:
        return None
    copies, line = pods
    nodes = str(keys.values.get("nnodes", (1,))[0])
    size = int(nodes) if re.fullmatch(r"[1-9][0-9]{0,4}", nodes) else 0
    if size and copies % size == 0:
        return copies // size, line
    return f"{copies} pods, and --nnodes {nodes}: {_NO_WHOLE}", keys.command.line


def _replicas_of_object(file: InputFile, line: int) -> tuple[int, int] | None:
    """The replicas that the Deployment or StatefulSet states in which a command stands on a line, with their line."""
    lines = file.text.split("\n")[: max(0, line - 1)]
    first = max((n for n, each in enumerate(lines) if each.rstrip() == "---"), default=-1) + 1
    for n in range(first, len(lines)):
        if (stated := _REPLICAS.match(lines[n])) and any(_COPIED.match(each) for each in lines[first:n]):
            return int(stated[1]), n + 1
    return None


def set_split(
    file: InputFile,
    split: Mapping[str, Launch],
    builder: ImportBuilder,
    read: Callable[[str, Keys, str], ImportResult],
) -> None:
    """Set the plan of both roles; ``read`` reads the options of a launch of an engine in a file of a name."""
    for role, (_, keys) in split.items():
        if "replicas" not in keys.values and (pool := re.search(_POOL.format(role), file.text, re.MULTILINE)):
            keys.put("replicas", int(pool[1]), file.line_at(pool.start(1)))
        elif "replicas" not in keys.values and (found := _engines_of_object(file, keys)):
            keys.put("replicas", *found)
    lines = {role: keys.command.line for role, (_, keys) in split.items()}
    engine, first = split["prefill"][0], min(lines.values())
    builder.set("workload.kind", "serve", first)
    builder.set("layout.framework", engine, first)
    engines: dict[str, tuple[Value, int]] = {
        role: (keys.integer("replicas"), keys.line("replicas") or lines[role]) for role, (_, keys) in split.items()
    }
    stated = {role: keys.values.pop("replicas", ("", 0))[0] for role, (_, keys) in split.items()}
    readings = {role: read(engine, keys, file.name) for role, (engine, keys) in split.items()}
    set_roles(readings, engines, builder)
    for role, (copies, line) in engines.items():
        if copies is None:
            why = str(stated[role]) if _NO_WHOLE in str(stated[role]) else _UNSTATED
            builder.unknown(f"{role}: replicas", why, line)
    for role, reading in readings.items():
        for each in reading.given:
            if each.path[0] == "layout" and each.path not in _PLANNED:
                why = "of the engines of one role: a plan has no key for it"
                builder.unknown(f"{role}: {dotted_path(each.path)}: {shown_value(each.value)}", why, each.at.line)
        builder.counts += reading.counts
