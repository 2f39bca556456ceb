"""Docker Compose files: the accelerators that a service reserves.

Fields: ``deploy.resources.reservations.devices`` with ``count`` or ``device_ids`` and ``gpus`` of a service
(compose-spec/compose-spec, deploy.md and 05-services.md; all of the host where neither is stated), and
``NVIDIA_VISIBLE_DEVICES`` of its environment (NVIDIA Container Toolkit).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.workloads.engines.command_lines import matches_serving
from clusterspec.exchange.workloads.engines.hosted_servers import matches_hosted_server
from clusterspec.exchange.workloads.engines.nim import matches_nim
from clusterspec.exchange.workloads.engines.tgi import matches_tgi
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import value_at
from clusterspec.units import plural

COMPOSE = "compose"
_SERVICES = re.compile(r"^services[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_DEVICES = re.compile(r"\b(?:capabilities|gpus|runtime)[ \t]*:|\bNVIDIA_VISIBLE_DEVICES\b")
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_RESERVED = ("deploy", "resources", "reservations", "devices")
_ALL = "all accelerators of the host: their number is not stated"
Path = tuple[str | int, ...]


class _ReservedDevices(NamedTuple):
    """The devices that a service reserves: the service's name, their number (None if not stated), the reason why the
    number is missing, and the line.
    """

    service: str
    number: int | None
    why: str
    line: int
    first: int


def declares_services(file: InputFile) -> bool:
    """Whether a file is a Compose file with accelerators for one of its services."""
    return bool(_SERVICES.search(file.text)) and bool(_DEVICES.search(file.uncommented))


def matches_compose(file: InputFile) -> bool:
    """Whether a file is a Compose file whose services start no serving engine, since a launch of an engine has its own
    format.
    """
    engines = (matches_serving, matches_nim, matches_tgi, matches_hosted_server)
    return declares_services(file) and not any(matches(file) for matches in engines)


def read_compose(file: InputFile) -> ImportResult:
    """The accelerators of the service that reserves some. Raises `SeveralParts` for several such services."""
    found = _reserving_services(file)
    if not found:
        raise FormatError("has no service that reserves accelerators")
    shown = ", ".join(f"{excerpt(each.service)} {each.number or '(all)'}" for each in found[:8])
    counted = plural(len(found), "service")
    return _reading_of(file, chosen_part(found, file.part, f"{counted} with accelerators", f"{counted}: {shown}"))


def result_of_service(file: InputFile, line: int) -> ImportResult | None:
    """The accelerators of the service that has a line of its file; None if it reserves none."""
    try:
        found = [each for each in _reserving_services(file, every=True) if each.first <= line]
    except FormatError:  # a page with a Compose file in it, or a template
        return None
    return _reading_of(file, found[-1]) if found and (found[-1].number or found[-1].why) else None


def _reading_of(file: InputFile, reserved: _ReservedDevices) -> ImportResult:
    builder = ImportBuilder(COMPOSE, file.name)
    if reserved.number is None:
        builder.unknown("cluster.accelerators_per_node", reserved.why, reserved.line)
    builder.set("cluster.accelerators_per_node", reserved.number, reserved.line)
    return builder.reading()


def _reserving_services(file: InputFile, *, every: bool = False) -> list[_ReservedDevices]:
    """The services that reserve accelerators, or ``every`` service, in file order."""
    yaml = read_yaml(file)
    services = yaml.mapping.get("services")
    found = []
    for name, service in services.items() if isinstance(services, dict) else ():
        path = ("services", name)
        each = _reserved_devices(yaml, path, service, str(name)) or _ReservedDevices(
            str(name), None, "", 0, yaml.line(*path)
        )
        if every or each.number or each.why:
            found.append(each)
    return sorted(found, key=lambda each: each.first)


def _reserved_devices(yaml: Yaml, path: Path, service: Any, name: str) -> _ReservedDevices | None:
    """The devices that one service reserves; None if it reserves no accelerators."""
    first = yaml.line(*path)
    devices, line = value_at(service, *_RESERVED), yaml.line(*path, *_RESERVED)
    if devices is None and (short := value_at(service, "gpus")) is not None:
        devices, line = (short if isinstance(short, list) else [{"count": short}]), yaml.line(*path, "gpus")
    asked = [each for each in devices if _is_accelerator(each)] if isinstance(devices, list) else []
    variable, listed = _visibility_variable(service)
    visible = len(listed.split(",")) if re.fullmatch(r"\d{1,3}(?:,\d{1,3})*", listed) else None
    if not asked:
        if value_at(service, "runtime") != "nvidia" and not variable.startswith("NVIDIA"):
            return None
        return _ReservedDevices(name, visible, "" if visible else _ALL, first, first)
    count, why = _number_of(asked)
    if visible and (why == _ALL or (count and visible < count)):
        reserved = count or "all of the host"
        return _ReservedDevices(
            name, None, f"{reserved} are reserved, and {variable} has {visible} of them", line, first
        )
    return _ReservedDevices(name, count or visible, "" if count or visible else why, line, first)


def _is_accelerator(device: Any) -> bool:
    """Whether a reserved device is an accelerator, by its capabilities or its driver."""
    if not isinstance(device, dict):
        return False
    capabilities = device.get("capabilities")
    words = {str(word).lower() for word in capabilities} if isinstance(capabilities, list) else {"gpu"}
    return bool(words & {"gpu", "nvidia", "amd", "compute"})


def _number_of(devices: list[dict[str, Any]]) -> tuple[int | None, str]:
    """The number of accelerators in a list of devices, and the reason if it is unknown."""
    total = 0
    for device in devices:
        listed, stated = device.get("device_ids"), device.get("count", "all")
        if isinstance(listed, list) and not any("$" in str(each) for each in listed):
            words = [word for each in listed for word in str(each).split(",") if word.strip()]
            if words == ["all"]:
                return None, _ALL
            total += len(words)
        elif listed is None and (count := positive_integer_of(stated)):
            total += count
        elif listed is None and str(stated) in {"all", "-1"}:
            return None, _ALL
        else:
            return None, f"not a number: {excerpt(stated if listed is None else listed)}"
    return total, ""


def _visibility_variable(service: Any) -> tuple[str, str]:
    """The variable that limits the accelerators of a service, with its value; empty if there is none."""
    stated = value_at(service, "environment")
    if isinstance(stated, list):
        pairs = [str(each).partition("=") for each in stated]
        stated = {name: value for name, _, value in pairs}
    if not isinstance(stated, dict):
        return "", ""
    return next(((name, str(stated[name]).strip()) for name in _VISIBLE if stated.get(name) is not None), ("", ""))
