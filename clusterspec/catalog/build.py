"""Conversion of raw entries to typed entries, one function per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clusterspec.catalog.build_model import architecture, published
from clusterspec.catalog.build_stack import framework_memory, serving_software
from clusterspec.catalog.entries import Accelerator, Entry, Interconnect, Kernels, Model, Nic, Platform, Stack, Switch
from clusterspec.catalog.reader import FactReader


def accelerator(read: FactReader) -> Accelerator:
    """An accelerator, with bandwidths per direction and dense peaks."""
    return Accelerator(
        **_header(read),
        ranks_per_accelerator=read.count("ranks_per_accelerator") or 1,
        memory=read.figure("memory", "bytes"),
        memory_printed=read.printed("memory"),
        memory_bandwidth=read.figure("memory_bandwidth", "rate"),
        peaks=read.peaks("peak"),
        unpublished_peaks=read.texts("unpublished_peaks"),
        power=read.figure("power", "power"),
        interconnects=read.texts("scale_up.interconnects"),
        scale_up_bandwidth=read.bandwidth("scale_up.bandwidth"),
        peer_bandwidth=read.bandwidth("scale_up.peer_bandwidth"),
        axis_bandwidth=read.bandwidths("scale_up.axis_bandwidth"),
        shape=read.counts("scale_up.shape"),
        links=read.count("scale_up.links"),
        topology=read.text("scale_up.topology"),
        domains=read.counts("scale_up.domains"),
        pcie=read.count("pcie"),
        host_link=read.bandwidth("host_link"),
        nic_bandwidth=read.bandwidth("scale_out.nic_bandwidth"),
        nics_per_accelerator=read.number("scale_out.nics_per_accelerator"),
        scale_out=read.text("scale_out.technology"),
        year=read.count("year"),
        compute_units=read.count("compute_units"),
        array=read.count("array"),
        kernels=read.text("kernels"),
        achievable=read.achievable(),
    )


def interconnect(read: FactReader) -> Interconnect:
    """A scale-up interconnect, a scale-out technology or a host bus."""
    return Interconnect(
        **_header(read),
        scope=read.text("scope") or "",
        family=read.text("family") or "",
        generation=read.text("generation") or "",
        lane_rate=read.bandwidth("lane.bandwidth"),
        lanes_per_link=read.count("lane.per_link"),
        link_bandwidth=read.bandwidth("link.bandwidth"),
        links=read.count("node_ports") or read.count("link.count"),
        bandwidth=read.bandwidth("bandwidth"),
        peer_bandwidth=read.bandwidth("peer_bandwidth"),
        axis_bandwidth=read.bandwidths("axis_bandwidth"),
        port_rates=read.bandwidths("port_rates"),
        topology=read.text("topology"),
        rdma=read.flag("rdma") or False,
        lossless=read.text("lossless") or "",
        cloud=read.flag("cloud") or False,
        proprietary=read.flag("proprietary") or False,
        in_network_reduction=read.flag("in_network_reduction") or False,
        plugins=read.texts("plugins"),
        protocols=read.texts("protocols"),
        algorithms=read.texts("algorithms"),
        overlapped_latency=read.flag("overlapped_latency") or False,
        latency=read.figure("latency", "time"),
        year=read.count("year"),
        achievable=read.achievable(),
    )


def nic(read: FactReader) -> Nic:
    """A network adapter."""
    return Nic(
        **_header(read),
        port_bandwidth=read.bandwidth("port_bandwidth"),
        ports=read.count("ports"),
        ethernet_port_bandwidth=read.bandwidth("ethernet_port_bandwidth"),
        ethernet_ports=read.count("ethernet_ports"),
        pcie=read.count("pcie"),
        lanes=read.count("lanes"),
        cages=read.count("cages"),
        connector=read.text("connector"),
        families=read.texts("families"),
        power=read.figure("power", "power"),
        year=read.count("year"),
    )


def switch(read: FactReader) -> Switch:
    """A switch of a scale-out fabric."""
    return Switch(
        **_header(read),
        ports=read.count("ports"),
        port_bandwidth=read.bandwidth("port_bandwidth"),
        families=read.texts("families"),
        cages=read.count("cages"),
        connector=read.text("connector"),
        splits=read.count("splits"),
        management_ports=read.count("management_ports"),
        power=read.figure("power", "power"),
        rack_units=read.count("rack_units"),
        in_network_reduction=read.flag("in_network_reduction") or False,
        latency=read.figure("latency", "time"),
        year=read.count("year"),
    )


def platform(read: FactReader) -> Platform:
    """A node, rack, instance or slice as sold."""
    return Platform(
        **_header(read),
        form=read.text("form") or "",
        cloud=read.flag("cloud") or False,
        accelerator=read.text("accelerator") or "",
        accelerators_per_node=read.count("accelerators_per_node"),
        domain=read.count("domain"),
        shape=read.counts("shape"),
        topology=read.text("topology"),
        interconnect=read.text("interconnect"),
        scale_up_bandwidth=read.bandwidth("scale_up_bandwidth"),
        technologies=read.texts("technologies"),
        nics_per_node=read.count("nics_per_node"),
        nic_bandwidth=read.bandwidth("nic_bandwidth"),
        nic=read.text("nic"),
        cages=read.count("cages"),
        connector=read.text("connector"),
        pcie_host=read.count("pcie.host"),
        pcie_nic=read.count("pcie.nic"),
        frontend_nics=read.count("frontend.nics"),
        frontend_bandwidth=read.bandwidth("frontend.nic_bandwidth"),
        frontend_cages=read.count("frontend.cages"),
        frontend_connector=read.text("frontend.connector"),
        power=read.figure("power", "power"),
        rack_power=read.figure("rack_power", "power"),
        rack_units=read.count("rack_units"),
        pfc=read.flag("flow_control.pfc"),
        ecn=read.flag("flow_control.ecn"),
        year=read.count("year"),
    )


def model(read: FactReader) -> Model:
    """A language model."""
    return Model(**_header(read), **architecture(read), **published(read))


def stack(read: FactReader) -> Stack:
    """A generation of training software."""
    return Stack(
        **_header(read),
        year=read.count("year") or 0,
        selective=read.text("selective") or "",
        hides=read.texts("hides"),
        dispatcher=read.text("dispatcher") or "all-to-all",
        rack_dispatcher=read.text("rack_dispatcher"),
        releases=read.texts("releases"),
        full_sharding=read.text("full_sharding"),
        reduces=read.text("reduces"),
        attention_year=read.count("attention_year") or 0,
        memory=framework_memory(read),
        serving=serving_software(read),
        compiled=read.flag("compiled") or False,
        achievable=read.achievable(),
    )


def kernels(read: FactReader) -> Kernels:
    """Measured kernels of an accelerator."""
    return Kernels(
        **_header(read),
        accelerator=read.text("accelerator") or "",
        year=read.count("year") or 0,
        achievable=read.achievable(),
    )


BUILDERS: Mapping[str, Callable[[FactReader], Entry]] = {
    "accelerator": accelerator,
    "interconnect": interconnect,
    "nic": nic,
    "switch": switch,
    "platform": platform,
    "model": model,
    "stack": stack,
    "kernels": kernels,
}


def _header(read: FactReader) -> dict[str, Any]:
    raw_entry = read.raw_entry
    return {
        "id": raw_entry.id,
        "name": raw_entry.name,
        "vendor": raw_entry.vendor,
        "status": raw_entry.status,
        "notes": raw_entry.notes,
    }
