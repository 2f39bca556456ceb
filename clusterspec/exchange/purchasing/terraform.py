"""Terraform: instances, their number, networks and placement from plans in JSON (``terraform show -json``); also files
(``*.tf``).

Grammar (HashiCorp, JSON output format): ``planned_values.root_module`` has ``resources`` and ``child_modules``; each
resource has a ``type``, an ``address`` and ``values``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import LIST, FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.purchasing.terraform_files import is_terraform_file, record_machines
from clusterspec.exchange.purchasing.terraform_variables import (
    declares_machines,
    is_variables_file,
    record_declarations,
    record_variables,
)
from clusterspec.exchange.workloads.engines.hosted_servers import matches_hosted_server
from clusterspec.exchange.workloads.engines.tgi import matches_tgi

TERRAFORM = "terraform"
MOST_DEEP = 32
MOST_TYPES = 100
_CLOUDS = {"aws_": "aws", "google_": "gcp", "azurerm_": "azure", "azapi_": "azure", "oci_": "oci"}
_TYPES = ("instance_type", "machine_type", "size", "vm_size", "sku", "shape")
_COUNTS = ("desired_size", "target_size", "node_count", "instances", "size", "desired_capacity", "initial_node_count")
_PLACEMENTS = {
    "aws_placement_group": "cluster-placement-group",
    "google_compute_resource_policy": "compact-placement-policy",
    "azurerm_availability_set": "availability-set",
    "azurerm_proximity_placement_group": "proximity-placement-group",
    "oci_core_cluster_network": "cluster-network",
    "oci_core_compute_cluster": "cluster-network",
}
_NETWORKS = ("network_interface", "network_interfaces", "network_interface_ids")


def matches_terraform(file: InputFile) -> bool:
    if "aws_sagemaker_model" in file.text and (matches_tgi(file) or matches_hosted_server(file)):
        return False  # its variables start an engine
    if not file.text.lstrip().startswith("{"):
        return is_variables_file(file) or is_terraform_file(file.text) or declares_machines(file)
    return "planned_values" in file.text or '"resource_changes"' in file.text


def read_terraform(file: InputFile) -> ImportResult:
    """The machines of a plan, or of a file. Raises `FormatError` if it has none with an instance type."""
    builder = ImportBuilder(TERRAFORM, file.name)
    if is_variables_file(file):
        record_variables(file, builder)
        return builder.reading()
    if not file.text.lstrip().startswith("{"):
        (record_declarations if declares_machines(file) else record_machines)(file, builder)
        return builder.reading()
    plan = file.json
    resources = list(_plan_resources(plan)) if isinstance(plan, dict) else []
    if not resources:
        raise FormatError("plans no resource: give `terraform show -json PLAN`")
    machines: Counter[tuple[str, str]] = Counter()
    interfaces: dict[tuple[str, str], set[int]] = {}
    for resource in resources:
        _count_machine(resource, machines, interfaces, file, builder)
        _record_placement(resource, file, builder)
    if len(machines) > MOST_TYPES:
        raise FormatError(f"plans more than {MOST_TYPES} instance types")
    if not machines:
        raise FormatError("plans no machine with an instance type that is stated")
    _set_machines(machines, interfaces, file, builder)
    return builder.reading()


def _plan_resources(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    planned = plan.get("planned_values")
    if isinstance(planned, dict):
        waiting = [(planned.get("root_module"), 0)]
        while waiting:
            module, depth = waiting.pop()
            if isinstance(module, dict) and depth < MOST_DEEP:
                yield from (each for each in module.get("resources") or [] if isinstance(each, dict))
                waiting += [(child, depth + 1) for child in module.get("child_modules") or []]
        return
    for change in plan.get("resource_changes") or []:
        after = (change.get("change") or {}).get("after") if isinstance(change, dict) else None
        if isinstance(after, dict):
            yield {"type": change.get("type"), "address": change.get("address"), "values": after}


def _count_machine(
    resource: dict[str, Any],
    machines: Counter[tuple[str, str]],
    interfaces: dict[tuple[str, str], set[int]],
    file: InputFile,
    builder: ImportBuilder,
) -> None:
    kind, values = str(resource.get("type")), resource.get("values")
    cloud = next((name for prefix, name in _CLOUDS.items() if kind.startswith(prefix)), None)
    if cloud is None or not isinstance(values, dict):
        return
    found = _instance_type(values)
    if found is None or (cloud == "azure" and "_" not in found):  # a tier of a service, such as "Standard"
        return
    template = "template" in kind or "configuration" in kind
    count = 0 if template else _machine_count(values, kind)
    machines[cloud, found] += count
    number = _interface_count(values)
    if number:
        interfaces.setdefault((cloud, found), set()).add(number)
    if template:
        builder.count(excerpt(f"template {resource.get('address')}", LIST), found, file.line_of(f'"{found}"'))


def _instance_type(values: dict[str, Any]) -> str | None:
    """The instance type of a resource or of its node pool; the first one of a list."""
    for name in (*_TYPES, "instance_types"):
        value = values.get(name)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and not value.isdecimal():
            return value
    for name in ("node_config", "default_node_pool", "node_shape", "instance_details"):
        inner = values.get(name)
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict) and (found := _instance_type(inner)):
            return found
    return None


def _machine_count(values: dict[str, Any], kind: str) -> int:
    """The number of machines of a resource."""
    scaling = values.get("scaling_config")
    places = [values, scaling[0] if isinstance(scaling, list) and scaling else scaling]
    for place in places:
        if isinstance(place, dict):
            for name in _COUNTS:
                value = place.get(name)
                if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000:
                    return value
    return 1


def _interface_count(values: dict[str, Any]) -> int:
    return max((len(value) for name in _NETWORKS if isinstance(value := values.get(name), list)), default=0)


def _record_placement(resource: dict[str, Any], file: InputFile, builder: ImportBuilder) -> None:
    kind, values = str(resource.get("type")), resource.get("values")
    placement = _PLACEMENTS.get(kind)
    if placement is None or not isinstance(values, dict):
        return
    line = file.line_of(f'"{kind}"')
    if kind == "aws_placement_group" and values.get("strategy") != "cluster":
        builder.unknown(
            f"placement group of strategy {values.get('strategy')}", "only `cluster` keeps nodes together", line
        )
        return
    if kind == "google_compute_resource_policy" and not values.get("group_placement_policy"):
        return
    if not any(given.path[-1] == "placement" for given in builder.given):
        builder.set("cluster.scale_out.placement", placement, line)


def _set_machines(
    machines: Counter[tuple[str, str]],
    interfaces: dict[tuple[str, str], set[int]],
    file: InputFile,
    builder: ImportBuilder,
) -> None:
    """Set the machines with accelerators as the cluster; record the others."""
    ids = Catalog.open().ids("platform")
    known = {each: entry for each in machines if (entry := match_instance(each[1], each[0], ids))}
    for (cloud, kind), count in machines.items():
        line = file.line_of(f'"{kind}"')
        builder.count(f"{kind} instances", count, line)
        if (cloud, kind) not in known:
            builder.unknown(
                f"{count} × {kind}", "no catalog entry of this instance type: not part of the cluster", line
            )
    if len(known) > 1:
        shown = ", ".join(f"{machines[each]} × {each[1]}" for each in known)
        builder.unknown("cluster.platform", f"several instance types with accelerators: {shown}")
        return
    for each, entry in known.items():
        line = file.line_of(f'"{each[1]}"')
        builder.set("cluster.platform", entry, line)
        builder.set("cluster.nodes", machines[each] or None, line)
        found = interfaces.get(each, set())
        if len(found) == 1:
            builder.count("network_interfaces", next(iter(found)), line)
