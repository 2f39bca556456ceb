"""Conversion of raw entries to typed entries, one function per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clusterspec.catalog.entries import Accelerator, Interconnect, Kernels, Nic, Optics, PartFailures, Platform, Switch
from clusterspec.catalog.frameworks import (
    Framework,
    Library,
    features,
    release_and_base,
    release_and_year,
    required_multiples,
    support_statements,
)
from clusterspec.catalog.models import Model, architecture
from clusterspec.catalog.reader import Entry, FactReader
from clusterspec.catalog.stacks import Stack, framework_memory, serving_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.catalog.facilities import Cdu, StorageSystem


def power_figures(read: FactReader) -> dict[str, Any]:
    """The power of an entry in watts: the largest (else the typical) figure, the typical figure, and their scope."""
    largest, typical = read.figure("power", "power"), read.figure("power.typical", "power")
    return {
        "power": largest or read.figure("power.max", "power") or typical,
        "power_typical": typical,
        "power_idle": read.figure("power.idle", "power"),
        "power_lowest": read.figure("power.lowest", "power"),
        "power_includes": read.texts("power.includes"),
        "power_unpublished": bool(read.flag("power.unpublished")),
    }


def accelerator(read: FactReader) -> Accelerator:
    """An accelerator, with bandwidths per direction and dense peaks."""
    return Accelerator(
        **_header_fields(read),
        ranks_per_accelerator=read.count("ranks_per_accelerator") or 1,
        slice_names=read.texts("slices.names"),
        units_of_slices=read.count("slices.units") or 1,
        memory=read.figure("memory", "bytes"),
        memory_printed=read.printed_figure("memory"),
        memory_bandwidth=read.figure("memory_bandwidth", "rate"),
        check_bits_in_memory=read.flag("check_bits_in_memory") or False,
        on_chip_name=read.text("on_chip.name") or "",
        on_chip_memory=read.figure("on_chip.memory", "bytes"),
        on_chip_bandwidth=read.figure("on_chip.bandwidth", "rate"),
        peaks=read.peaks("peak"),
        unpublished_peaks=read.texts("unpublished_peaks"),
        double_peak=read.peak("double_peak"),
        **power_figures(read),
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
        tile_rounds=read.flag("tile_rounds") is not False,
        array=read.count("array"),
        kernels=read.text("kernels"),
        cooling=read.texts("cooling"),
        unified_memory=read.flag("unified_memory") or False,
        processor_memory=read.figure("processor_memory", "bytes"),
        stochastic_rounding=read.flag("stochastic_rounding") or False,
        compiled=read.flag("compiled") or False,
        whole_graphs=read.flag("whole_graphs") or False,
        smallest_graph=read.count("smallest_graph"),
        peer_to_peer=read.flag("peer_to_peer"),
        gpudirect_rdma=read.flag("gpudirect_rdma"),
        architecture=read.text("architecture") or "",
        market_price=read.band("market.price"),
        market_rent=read.band("market.rent"),
        achievable=read.achievable(),
    )


def interconnect(read: FactReader) -> Interconnect:
    """A scale-up interconnect, a scale-out technology or a host bus."""
    return Interconnect(
        **_header_fields(read),
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
        single_vendor=read.flag("single_vendor") or False,
        in_network_reduction=read.flag("in_network_reduction") or False,
        plugins=read.texts("plugins"),
        protocols=read.texts("protocols"),
        algorithms=read.texts("algorithms"),
        overlapped_latency=read.flag("overlapped_latency") or False,
        overlapped_rings=read.flag("overlapped_rings") or False,
        latency=read.figure("latency", "time"),
        mtu=read.figure("mtu", "bytes"),
        largest_slice=read.count("largest_slice"),
        rdma_priorities=read.counts("rdma_priorities"),
        replaced_by=read.raw_entry.replaced_by,
        on_accelerator=read.flag("on_accelerator") or False,
        year=read.count("year"),
        achievable=read.achievable(),
    )


def nic(read: FactReader) -> Nic:
    """A network adapter."""
    return Nic(
        **_header_fields(read),
        port_bandwidth=read.bandwidth("port_bandwidth"),
        ports=read.count("ports"),
        ethernet_port_bandwidth=read.bandwidth("ethernet_port_bandwidth"),
        ethernet_ports=read.count("ethernet_ports"),
        pcie=read.count("pcie"),
        lanes=read.count("lanes"),
        cages=read.count("cages"),
        connector=read.text("connector"),
        other_connectors=read.texts("other_connectors"),
        families=read.texts("families"),
        **power_figures(read),
        out_of_order=read.flag("out_of_order"),
        gpudirect_rdma=read.flag("gpudirect_rdma"),
        trimming=read.flag("trimming"),
        mtu=read.figure("mtu", "bytes"),
        year=read.count("year"),
    )


def switch(read: FactReader) -> Switch:
    """A switch of a scale-out fabric."""
    return Switch(
        **_header_fields(read),
        ports=read.count("ports"),
        port_bandwidth=read.bandwidth("port_bandwidth"),
        families=read.texts("families"),
        cages=read.count("cages"),
        connector=read.text("connector"),
        splits=read.count("splits"),
        management_ports=read.count("management_ports"),
        access_ports=read.count("access_ports"),
        access_bandwidth=read.bandwidth("access_bandwidth"),
        **power_figures(read),
        rack_units=read.count("rack_units"),
        cooling=read.texts("cooling"),
        in_network_reduction=read.flag("in_network_reduction") or False,
        latency=read.figure("latency", "time"),
        managed=read.flag("managed"),
        subnet_manager_nodes=read.count("subnet_manager_nodes"),
        adaptive_routing=read.flag("adaptive_routing"),
        trimming=read.flag("trimming"),
        mtu=read.figure("mtu", "bytes"),
        cage_power=read.figure("cage_power", "power"),
        module_top=read.text("module_top"),
        year=read.count("year"),
    )


def optics(read: FactReader) -> Optics:
    """A transceiver module, or a cable with fixed ends."""
    return Optics(
        **_header_fields(read),
        type=read.text("type") or "",
        reach_class=read.text("reach_class") or "",
        media=read.text("media") or "",
        bandwidth=read.bandwidth("bandwidth"),
        ports=read.count("ports") or 1,
        lane_bandwidth=read.bandwidth("lane_bandwidth"),
        reach=read.figure("reach", "length"),
        cages=read.texts("cages"),
        top=read.text("top") or "",
        **power_figures(read),
        part_numbers=read.texts("part_numbers"),
        families=read.texts("families"),
    )


def platform(read: FactReader) -> Platform:
    """A node, rack, instance or slice as sold."""
    return Platform(
        **_header_fields(read),
        form=read.text("form") or "",
        cloud=read.flag("cloud") or False,
        accelerator=read.text("accelerator") or "",
        accelerators_per_node=read.count("accelerators_per_node"),
        domain=read.count("domain"),
        shape=read.counts("shape"),
        topology=read.text("topology"),
        interconnect=read.text("interconnect"),
        scale_up_bandwidth=read.bandwidth("scale_up_bandwidth"),
        scale_up_switches=read.count("scale_up_switches.count"),
        switch_tray_units=read.count("scale_up_switches.rack_units"),
        switch_loss=read.text("scale_up_switches.loss", "stops", "restarts", "slows"),
        scale_up_switch_links=read.counts("scale_up_switches.links"),
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
        **power_figures(read),
        rack_power=read.figure("rack_power", "power"),
        rack_units=read.count("rack_units"),
        rack_kilograms=read.count("rack_kilograms"),
        intake_celsius=read.count("intake_celsius"),
        pfc=read.flag("flow_control.pfc"),
        ecn=read.flag("flow_control.ecn"),
        sold_nodes=read.count("sold_nodes") or 1,
        node_sizes=read.counts("node_sizes"),
        servers=read.texts("servers"),
        cooling=read.texts("cooling"),
        liquid_share=read.figure("liquid_share", "number"),
        supplies=read.count("supplies.count"),
        supply_power=read.figure("supplies.power", "power"),
        supply_units=read.count("supplies.rack_units"),
        gpudirect_rdma=read.flag("gpudirect_rdma"),
        mtu=read.figure("mtu", "bytes"),
        year=read.count("year"),
        market_rent=read.band("market.rent"),
    )


def model(read: FactReader) -> Model:
    """A language model."""
    return Model(
        **_header_fields(read),
        **architecture(read),
        parameters=read.figure("parameters", "count"),
        parameters_with_prediction=read.flag("parameters_with_prediction") or False,
        encoder_parameters=read.figure("encoder_parameters", "count"),
        active_parameters=read.figure("active_parameters", "count"),
        year=read.count("year"),
        checkpoint_precision=read.text("checkpoint_precision"),
        checkpoint_expert_precision=read.text("checkpoint_expert_precision"),
        fp8_block=read.count("fp8_block") or 0,
        repository=read.text("repository") or "",
        license=read.text("license") or "",
    )


def stack(read: FactReader) -> Stack:
    """A generation of training software."""
    return Stack(
        **_header_fields(read),
        year=read.count("year") or 0,
        selective=read.text("selective") or "",
        saved_exchanges=read.text("saved_exchanges") or "",
        hides=read.texts("hides"),
        may_hide=read.texts("may_hide"),
        dispatcher=read.text("dispatcher") or "all-to-all",
        rack_dispatcher=read.text("rack_dispatcher"),
        releases=read.texts("releases"),
        full_sharding=read.text("full_sharding"),
        reduces=read.text("reduces"),
        all_reduces=read.texts("all_reduces"),
        attention_year=read.count("attention_year") or 0,
        attention_library=read.text("attention_library") or "",
        memory=framework_memory(read),
        serving=serving_defaults(read),
        compiled=read.flag("compiled") or False,
        separate_matrices=read.flag("separate_matrices") or False,
        pads_vocabulary=read.flag("pads_vocabulary") or False,
        adapter_precision=read.text("adapter_precision") or "",
        achievable=read.achievable(),
    )


def framework(read: FactReader) -> Framework:
    """A framework of training or serving."""
    releases = dict(map(release_and_year, read.texts("releases")))
    return Framework(
        **_header_fields(read),
        base=read.text("base"),
        vendors=read.texts("vendors"),
        vendors_sourced=read.is_cited("vendors"),
        purposes=read.texts("purposes"),
        stacks=read.text("stacks"),
        calendar=read.flag("calendar_releases") or False,
        releases=releases,
        base_releases=dict(map(release_and_base, read.texts("base_releases"))),
        synonyms=read.texts("synonyms"),
        run_by=read.texts("run_by"),
        features=dict(features(read, releases)),
        statements=dict(support_statements(read, releases)),
        multiples=dict(required_multiples(read, releases)),
    )


def library(read: FactReader) -> Library:
    """A driver, toolkit or library."""
    from clusterspec.catalog.releases import release_faults

    releases = dict(map(release_and_year, read.texts("releases")))
    return Library(
        **_header_fields(read),
        vendors=read.texts("vendors"),
        vendors_sourced=read.is_cited("vendors"),
        releases=releases,
        synonyms=read.texts("synonyms"),
        statements=dict(support_statements(read, releases)),
        faults=tuple(release_faults(read)),
    )


def kernels(read: FactReader) -> Kernels:
    """Measured kernels of an accelerator."""
    return Kernels(
        **_header_fields(read),
        accelerator=read.text("accelerator") or "",
        year=read.count("year") or 0,
        stands_in_from=read.count("stands_in_from"),
        stands_in_for=read.text("stands_in_for") or "",
        achievable=read.achievable(),
    )


def storage_system(read: FactReader) -> StorageSystem:
    """A storage system as sold."""
    from clusterspec.catalog.facilities import StorageSystem, storage_system_fields  # few specs name one

    return StorageSystem(**_header_fields(read), **power_figures(read), **storage_system_fields(read))


def cdu(read: FactReader) -> Cdu:
    """A cooling distribution unit."""
    from clusterspec.catalog.facilities import Cdu, cdu_fields  # few specs name one

    return Cdu(**_header_fields(read), **power_figures(read), **cdu_fields(read))


def part_failures(read: FactReader) -> PartFailures:
    """How often one part of a kind fails."""
    return PartFailures(
        **_header_fields(read),
        afr=read.figure("afr", "number"),
        failures=read.figure("failures", "number"),
        parts=read.count("parts"),
        observed=read.figure("observed", "time"),
        low=read.figure("range.low", "number"),
        high=read.figure("range.high", "number"),
        repair=read.figure("repair", "time"),
    )


BUILDERS: Mapping[str, Callable[[FactReader], Entry]] = {
    "accelerator": accelerator,
    "interconnect": interconnect,
    "nic": nic,
    "switch": switch,
    "optics": optics,
    "storage-system": storage_system,
    "cdu": cdu,
    "platform": platform,
    "model": model,
    "framework": framework,
    "library": library,
    "stack": stack,
    "kernels": kernels,
    "failure-rate": part_failures,
}


def _header_fields(read: FactReader) -> dict[str, Any]:
    raw_entry = read.raw_entry
    return {
        "id": raw_entry.id,
        "name": raw_entry.name,
        "vendor": raw_entry.vendor,
        "status": raw_entry.status,
        "notes": raw_entry.notes,
    }
