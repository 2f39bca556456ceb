"""The values of a design by the keys that texts name, in SI units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.quantity import DAY
from clusterspec.records import fields, is_dataclass
from clusterspec.rules.readers.named_figures import BANDWIDTH_OF_NODE
from clusterspec.rules.readers.written_numbers import numbers_within
from clusterspec.spec.model import NetworksSpec, OperationsSpec, ProcurementSpec, Spec
from clusterspec.standard import pattern

WEEK = 7 * DAY
_PASSES = pattern(r"\b(?:passes|epochs?|times)\b")
"""Words that say that a dataset is read more than once."""


def values_of_keys(
    spec: Spec, cluster: Cluster, layout: Layout | None, workload: Workload | None, text: str
) -> dict[str, Sequence[float]]:
    """The values that a text may state for each key, the value of the key itself first; keys without a value are
    absent.
    """
    found = dict(_machine(spec, cluster, (layout.nodes,) if layout is not None else ()))
    if workload is not None:
        found |= _service(workload) if workload.kind == "serve" else _training(workload, text)
    if layout is not None:
        found |= _layout(layout)
    if spec.operations is not None:
        found |= _operations(spec.operations)
    if spec.procurement is not None:
        found |= _purchase(spec.procurement)
    return {key: each for key, values in found.items() if (each := [one for one in values if one])}


def _machine(spec: Spec, cluster: Cluster, nodes_of_job: Sequence[int]) -> Iterator[tuple[str, Sequence[float]]]:
    per_node, domain, fabric = cluster.accelerators_per_node, cluster.scale_up.domain, cluster.scale_out
    yield (
        "cluster.accelerators_per_node",
        (
            per_node,
            domain,
            per_node * cluster.ranks_per_accelerator,
            cluster.accelerators,
            cluster.all_nodes * per_node,
        ),
    )
    if fabric is not None:
        networks = _nics_of_networks(spec.cluster.networks if spec.cluster is not None else None)
        nics = fabric.nics_per_node
        yield (
            "cluster.scale_out.nics_per_node",
            (nics, nics + sum(networks), nics * fabric.planes, nics * cluster.nodes, *networks),
        )
    yield "cluster.spare_nodes", (cluster.spare_nodes,)
    if domain > per_node:
        yield "racks", tuple(each * per_node / domain for each in (cluster.nodes, cluster.all_nodes))
    if fabric is not None:
        yield "cluster.scale_out.nic_bandwidth", _line_rates(spec, fabric)
        yield BANDWIDTH_OF_NODE, (fabric.node_bandwidth, 2 * fabric.node_bandwidth, *_line_rates(spec, fabric))
    written = spec.cluster
    if written is None:
        return
    memory = _single_si_value(written.host_memory)
    yield (
        "cluster.host_memory",
        (*memory, *(each * nodes for each in memory for nodes in (cluster.nodes, cluster.all_nodes))),
    )
    if (store := written.networks.storage if written.networks is not None else None) is not None:
        yield "cluster.networks.storage.nic_bandwidth", _single_si_value(store.nic_bandwidth)
        yield "cluster.networks.storage.capacity", _single_si_value(store.capacity)
        yield (
            "cluster.networks.storage.read",
            (*_single_si_value(store.read), *_single_si_value(store.bandwidth), *_single_si_value(store.per_client)),
        )
    if (power := written.power) is not None:
        yield (
            "cluster.power.nodes_per_rack",
            (*_single_si_value(power.nodes_per_rack), cluster.nodes, cluster.all_nodes, *nodes_of_job),
        )
        yield "cluster.power.rack_limit", _single_si_value(power.rack_limit)
        yield "cluster.power.budget", _single_si_value(power.budget)


def _line_rates(spec: Spec, fabric: ScaleOut) -> list[float]:
    """The line rates of a NIC, a port and a network, in B/s per direction."""
    networks = spec.cluster.networks if spec.cluster is not None else None
    others = (networks.frontend, networks.storage, networks.out_of_band) if networks is not None else ()
    rates = [fabric.nic_bandwidth.value, fabric.nic_bandwidth.value / fabric.planes, fabric.node_bandwidth]
    rates += [each.nic_bandwidth.value for each in others if each is not None and each.nic_bandwidth is not None]
    for part in (fabric.nic, fabric.switch):
        if part is not None and part.port_bandwidth is not None:
            rates.append(part.port_bandwidth.value)
    return rates


def _nics_of_networks(networks: NetworksSpec | None) -> list[int]:
    """The NICs of a node in each network other than the fabric."""
    if networks is None:
        return []
    each = (networks.frontend, networks.storage, networks.out_of_band)
    return [one.nics_per_node for one in each if one is not None and one.nics_per_node]


def values_named(value: object, name: str) -> Iterator[float]:
    """The numbers of all keys with a name, in a section and those within it."""
    if isinstance(value, tuple | list):
        for each in value:
            yield from values_named(each, name)
    for field in fields(value) if is_dataclass(value) else ():
        inner = getattr(value, field.name)
        yield from numbers_within(inner) if field.name == name else values_named(inner, name)


def _single_si_value(value: object) -> tuple[float, ...]:
    """The only number in a value of the spec, in SI units; nothing if it has none or several."""
    found = tuple(numbers_within(value))
    return found if len(found) == 1 else ()


def _training(workload: Workload, text: str) -> dict[str, Sequence[float]]:
    model = workload.model
    found: dict[str, Sequence[float]] = {"workload.model": _single_si_value(model.parameters)}
    if workload.rl is not None:
        return found
    once = workload.tokens is not None and _PASSES.search(text) is None
    return found | {
        "workload.sequence_length": (workload.sequence_length, model.max_sequence_length or 0),
        "workload.global_batch": (workload.global_batch,),
        "tokens of a step": (workload.global_batch * workload.sequence_length,),
        "workload.tokens": (workload.tokens or 0,) if once else (),
    }


def _service(workload: Workload) -> dict[str, Sequence[float]]:
    load = workload.serving
    found: dict[str, Sequence[float]] = {"workload.model": _single_si_value(workload.model.parameters)}
    if load is None:
        return found
    targets = {
        name: [each.seconds for each in load.targets if each.quantity == name] for name in ("ttft", "tpot", "itl")
    }
    return found | {
        "workload.serving.concurrency": (load.concurrency or 0,),
        "workload.serving.request_rate": (load.request_rate or 0,),
        "workload.serving.input_tokens": (load.input_tokens, load.tokens),
        "workload.serving.output_tokens": (load.output_tokens,),
        "workload.serving.targets.ttft": targets["ttft"],
        "workload.serving.targets.tpot": [*targets["tpot"], *targets["itl"]],
    }


def _layout(layout: Layout) -> dict[str, Sequence[float]]:
    stages = layout.pp * layout.virtual_stages
    found: dict[str, Sequence[float]] = {f"layout.{axis}": (getattr(layout, axis),) for axis in ("tp", "cp", "ep")}
    return found | {
        "layout.pp": (layout.pp, stages),
        "layout.dp": (layout.dp, layout.data_ranks, layout.attention_dp, layout.expert_dp),
    }


def _operations(operations: OperationsSpec) -> dict[str, Sequence[float]]:
    saves = operations.checkpoint
    interval = operations.checkpoint_interval or (saves.interval if saves is not None else None)
    return {
        "operations.checkpoint.interval": _single_si_value(interval),
        "operations.checkpoint.keep": _single_si_value(saves.keep if saves is not None else None),
        "operations.repair_time": _single_si_value(operations.repair_time),
        "operations.restart_time": _single_si_value(operations.restart_time),
    }


def _purchase(bought: ProcurementSpec) -> dict[str, Sequence[float]]:
    found: dict[str, Sequence[float]] = {
        f"procurement.{key}": _single_si_value(getattr(bought, key))
        for key in ("warranty", "term", "tax", "discount", "pue", "utilization")
    }
    found["procurement.term"] = (*_single_si_value(bought.term), *_single_si_value(bought.commitment))
    found["procurement.electricity"] = tuple(each / KILOWATT_HOUR for each in _single_si_value(bought.electricity))
    if bought.support is not None:
        found["procurement.support.response"] = _single_si_value(bought.support.response)
    if bought.delivery is not None:
        found["procurement.delivery.weeks"] = tuple(each * WEEK for each in _single_si_value(bought.delivery.weeks))
    if bought.payment is not None:
        found |= {
            f"procurement.payment.{key}": _single_si_value(getattr(bought.payment, key))
            for key in ("order", "delivery", "acceptance")
        }
    return found


KILOWATT_HOUR = 3.6e6
"""Joules."""


def node_counts(cluster: Cluster, layout: Layout | None) -> set[int]:
    """Numbers of nodes that a text may state (of the machine, a job, a replica or a domain), and numbers of domains."""
    per_domain = max(1, cluster.scale_up.domain // max(1, cluster.accelerators_per_node))
    found = {cluster.nodes, cluster.all_nodes, cluster.spare_nodes, per_domain}
    if layout is not None:
        found |= {layout.nodes, layout.nodes // max(1, layout.dp)}
    return found | {number // per_domain for number in found if number % per_domain == 0}


def role_nodes(spec: Spec) -> set[int]:
    """Nodes of reinforcement-learning roles on separate nodes."""
    rl = spec.workload.rl if spec.workload is not None else None
    roles = (rl.rollout, rl.reference, rl.critic, rl.reward) if rl is not None else ()
    return {each.nodes for each in roles if each is not None and each.nodes}


def engine_ranks(workload: Workload | None) -> set[int]:
    """Ranks of one engine and of all engines, for separate prefill and decode engines; empty without them."""
    serving = workload.serving if workload is not None else None
    engines = [each for each in (serving.prefill, serving.decode) if each is not None] if serving is not None else []
    return {number * each.ranks for each in engines for number in (1, each.replicas)}
