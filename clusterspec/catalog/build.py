"""Conversion of raw entries to typed entries, one function per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clusterspec.catalog.entries import Accelerator, Interconnect, Kernels, Nic, Optics, Platform, Switch
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
    from clusterspec.catalog.failure_rates import PartFailures


def power_figures(facts: FactReader) -> dict[str, Any]:
    """The power of an entry in watts: the largest (else the typical) figure, the typical figure, and their scope."""
    largest, typical = facts.figure("power", "power"), facts.figure("power.typical", "power")
    return {
        "power": largest or facts.figure("power.max", "power") or typical,
        "power_typical": typical,
        "power_idle": facts.figure("power.idle", "power"),
        "power_lowest": facts.figure("power.lowest", "power"),
        "power_includes": facts.texts("power.includes"),
        "power_unpublished": bool(facts.flag("power.unpublished")),
    }


def accelerator(facts: FactReader) -> Accelerator:
    """An accelerator, with bandwidths per direction and dense peaks."""
    return Accelerator(
        **_header_fields(facts),
        ranks_per_accelerator=facts.count("ranks_per_accelerator") or 1,
        slice_names=facts.texts("slices.names"),
        units_of_slices=facts.count("slices.units") or 1,
        memory=facts.figure("memory", "bytes"),
        memory_printed=facts.printed_figure("memory"),
        memory_bandwidth=facts.figure("memory_bandwidth", "rate"),
        check_bits_in_memory=facts.flag("check_bits_in_memory") or False,
        on_chip_name=facts.text("on_chip.name") or "",
        on_chip_memory=facts.figure("on_chip.memory", "bytes"),
        on_chip_bandwidth=facts.figure("on_chip.bandwidth", "rate"),
        peaks=facts.peaks("peak"),
        unpublished_peaks=facts.texts("unpublished_peaks"),
        double_peak=facts.peak("double_peak"),
        **power_figures(facts),
        interconnects=facts.texts("scale_up.interconnects"),
        scale_up_bandwidth=facts.bandwidth("scale_up.bandwidth"),
        peer_bandwidth=facts.bandwidth("scale_up.peer_bandwidth"),
        axis_bandwidth=facts.bandwidths("scale_up.axis_bandwidth"),
        shape=facts.counts("scale_up.shape"),
        links=facts.count("scale_up.links"),
        topology=facts.text("scale_up.topology"),
        domains=facts.counts("scale_up.domains"),
        pcie=facts.count("pcie"),
        host_link=facts.bandwidth("host_link"),
        nic_bandwidth=facts.bandwidth("scale_out.nic_bandwidth"),
        nics_per_accelerator=facts.number("scale_out.nics_per_accelerator"),
        built_in_ports=facts.count("scale_out.built_in_ports"),
        scale_out=facts.text("scale_out.technology"),
        year=facts.count("year"),
        compute_units=facts.count("compute_units"),
        tile_rounds=facts.flag("tile_rounds") is not False,
        array=facts.count("array"),
        kernels=facts.text("kernels"),
        cooling=facts.texts("cooling"),
        unified_memory=facts.flag("unified_memory") or False,
        processor_memory=facts.figure("processor_memory", "bytes"),
        stochastic_rounding=facts.flag("stochastic_rounding") or False,
        compiled=facts.flag("compiled") or False,
        whole_graphs=facts.flag("whole_graphs") or False,
        smallest_graph=facts.count("smallest_graph"),
        peer_to_peer=facts.flag("peer_to_peer"),
        gpudirect_rdma=facts.flag("gpudirect_rdma"),
        architecture=facts.text("architecture") or "",
        own_software=facts.flag("own_software") or False,
        market_price=facts.band("market.price"),
        market_rent=facts.band("market.rent"),
        achievable=facts.achievable(),
    )


def interconnect(facts: FactReader) -> Interconnect:
    """A scale-up interconnect, a scale-out technology or a host bus."""
    return Interconnect(
        **_header_fields(facts),
        scope=facts.text("scope") or "",
        family=facts.text("family") or "",
        generation=facts.text("generation") or "",
        lane_rate=facts.bandwidth("lane.bandwidth"),
        lanes_per_link=facts.count("lane.per_link"),
        link_bandwidth=facts.bandwidth("link.bandwidth"),
        links=facts.count("node_ports") or facts.count("link.count"),
        bandwidth=facts.bandwidth("bandwidth"),
        peer_bandwidth=facts.bandwidth("peer_bandwidth"),
        axis_bandwidth=facts.bandwidths("axis_bandwidth"),
        port_rates=facts.bandwidths("port_rates"),
        topology=facts.text("topology"),
        rdma=facts.flag("rdma") or False,
        lossless=facts.text("lossless") or "",
        cloud=facts.flag("cloud") or False,
        proprietary=facts.flag("proprietary") or False,
        single_vendor=facts.flag("single_vendor") or False,
        in_network_reduction=facts.flag("in_network_reduction") or False,
        plugins=facts.texts("plugins"),
        protocols=facts.texts("protocols"),
        algorithms=facts.texts("algorithms"),
        overlapped_latency=facts.flag("overlapped_latency") or False,
        overlapped_rings=facts.flag("overlapped_rings") or False,
        latency=facts.figure("latency", "time"),
        mtu=facts.figure("mtu", "bytes"),
        largest_slice=facts.count("largest_slice"),
        rdma_priorities=facts.counts("rdma_priorities"),
        replaced_by=facts.raw_entry.replaced_by,
        on_accelerator=facts.flag("on_accelerator") or False,
        year=facts.count("year"),
        achievable=facts.achievable(),
    )


def nic(facts: FactReader) -> Nic:
    """A network adapter."""
    return Nic(
        **_header_fields(facts),
        port_bandwidth=facts.bandwidth("port_bandwidth"),
        ports=facts.count("ports"),
        ethernet_port_bandwidth=facts.bandwidth("ethernet_port_bandwidth"),
        ethernet_ports=facts.count("ethernet_ports"),
        pcie=facts.count("pcie"),
        lanes=facts.count("lanes"),
        cages=facts.count("cages"),
        connector=facts.text("connector"),
        other_connectors=facts.texts("other_connectors"),
        families=facts.texts("families"),
        **power_figures(facts),
        out_of_order=facts.flag("out_of_order"),
        gpudirect_rdma=facts.flag("gpudirect_rdma"),
        trimming=facts.flag("trimming"),
        mtu=facts.figure("mtu", "bytes"),
        year=facts.count("year"),
    )


def switch(facts: FactReader) -> Switch:
    """A switch of a scale-out fabric."""
    return Switch(
        **_header_fields(facts),
        ports=facts.count("ports"),
        port_bandwidth=facts.bandwidth("port_bandwidth"),
        families=facts.texts("families"),
        cages=facts.count("cages"),
        connector=facts.text("connector"),
        splits=facts.count("splits"),
        management_ports=facts.count("management_ports"),
        access_ports=facts.count("access_ports"),
        access_bandwidth=facts.bandwidth("access_bandwidth"),
        **power_figures(facts),
        rack_units=facts.count("rack_units"),
        cooling=facts.texts("cooling"),
        in_network_reduction=facts.flag("in_network_reduction") or False,
        latency=facts.figure("latency", "time"),
        managed=facts.flag("managed"),
        subnet_manager_nodes=facts.count("subnet_manager_nodes"),
        adaptive_routing=facts.flag("adaptive_routing"),
        trimming=facts.flag("trimming"),
        mtu=facts.figure("mtu", "bytes"),
        cage_power=facts.figure("cage_power", "power"),
        module_top=facts.text("module_top"),
        year=facts.count("year"),
    )


def optics(facts: FactReader) -> Optics:
    """A transceiver module, or a cable with fixed ends."""
    return Optics(
        **_header_fields(facts),
        type=facts.text("type") or "",
        reach_class=facts.text("reach_class") or "",
        media=facts.text("media") or "",
        bandwidth=facts.bandwidth("bandwidth"),
        ports=facts.count("ports") or 1,
        lane_bandwidth=facts.bandwidth("lane_bandwidth"),
        reach=facts.figure("reach", "length"),
        cages=facts.texts("cages"),
        top=facts.text("top") or "",
        **power_figures(facts),
        part_numbers=facts.texts("part_numbers"),
        families=facts.texts("families"),
    )


def platform(facts: FactReader) -> Platform:
    """A node, rack, instance or slice as sold."""
    return Platform(
        **_header_fields(facts),
        form=facts.text("form") or "",
        cloud=facts.flag("cloud") or False,
        accelerator=facts.text("accelerator") or "",
        accelerators_per_node=facts.count("accelerators_per_node"),
        domain=facts.count("domain"),
        shape=facts.counts("shape"),
        topology=facts.text("topology"),
        interconnect=facts.text("interconnect"),
        scale_up_bandwidth=facts.bandwidth("scale_up_bandwidth"),
        scale_up_switches=facts.count("scale_up_switches.count"),
        switch_tray_units=facts.count("scale_up_switches.rack_units"),
        switch_loss=facts.text("scale_up_switches.loss", "stops", "restarts", "slows"),
        scale_up_switch_links=facts.counts("scale_up_switches.links"),
        technologies=facts.texts("technologies"),
        nics_per_node=facts.count("nics_per_node"),
        nic_bandwidth=facts.bandwidth("nic_bandwidth"),
        nic=facts.text("nic"),
        cages=facts.count("cages"),
        connector=facts.text("connector"),
        pcie_host=facts.count("pcie.host"),
        pcie_nic=facts.count("pcie.nic"),
        frontend_nics=facts.count("frontend.nics"),
        frontend_bandwidth=facts.bandwidth("frontend.nic_bandwidth"),
        frontend_cages=facts.count("frontend.cages"),
        frontend_connector=facts.text("frontend.connector"),
        **power_figures(facts),
        rack_power=facts.figure("rack_power", "power"),
        rack_units=facts.count("rack_units"),
        rack_kilograms=facts.count("rack_kilograms"),
        intake_celsius=facts.count("intake_celsius"),
        pfc=facts.flag("flow_control.pfc"),
        ecn=facts.flag("flow_control.ecn"),
        sold_nodes=facts.count("sold_nodes") or 1,
        node_sizes=facts.counts("node_sizes"),
        servers=facts.texts("servers"),
        cooling=facts.texts("cooling"),
        liquid_share=facts.figure("liquid_share", "number"),
        supplies=facts.count("supplies.count"),
        supply_power=facts.figure("supplies.power", "power"),
        supply_units=facts.count("supplies.rack_units"),
        gpudirect_rdma=facts.flag("gpudirect_rdma"),
        mtu=facts.figure("mtu", "bytes"),
        year=facts.count("year"),
        market_rent=facts.band("market.rent"),
    )


def model(facts: FactReader) -> Model:
    """A language model."""
    return Model(
        **_header_fields(facts),
        **architecture(facts),
        parameters=facts.figure("parameters", "count"),
        parameters_with_prediction=facts.flag("parameters_with_prediction") or False,
        encoder_parameters=facts.figure("encoder_parameters", "count"),
        active_parameters=facts.figure("active_parameters", "count"),
        year=facts.count("year"),
        checkpoint_precision=facts.text("checkpoint_precision"),
        checkpoint_expert_precision=facts.text("checkpoint_expert_precision"),
        fp8_block=facts.count("fp8_block") or 0,
        repository=facts.text("repository") or "",
        license=facts.text("license") or "",
    )


def stack(facts: FactReader) -> Stack:
    """A generation of training software."""
    return Stack(
        **_header_fields(facts),
        year=facts.count("year") or 0,
        selective=facts.text("selective") or "",
        saved_exchanges=facts.text("saved_exchanges") or "",
        hides=facts.texts("hides"),
        may_hide=facts.texts("may_hide"),
        dispatcher=facts.text("dispatcher") or "all-to-all",
        rack_dispatcher=facts.text("rack_dispatcher"),
        releases=facts.texts("releases"),
        full_sharding=facts.text("full_sharding"),
        reduces=facts.text("reduces"),
        all_reduces=facts.texts("all_reduces"),
        attention_year=facts.count("attention_year") or 0,
        attention_library=facts.text("attention_library") or "",
        memory=framework_memory(facts),
        serving=serving_defaults(facts),
        compiled=facts.flag("compiled") or False,
        separate_matrices=facts.flag("separate_matrices") or False,
        pads_vocabulary=facts.flag("pads_vocabulary") or False,
        adapter_precision=facts.text("adapter_precision") or "",
        achievable=facts.achievable(),
    )


def framework(facts: FactReader) -> Framework:
    """A framework of training or serving."""
    releases = dict(map(release_and_year, facts.texts("releases")))
    return Framework(
        **_header_fields(facts),
        base=facts.text("base"),
        vendors=facts.texts("vendors"),
        vendors_sourced=facts.is_cited("vendors"),
        purposes=facts.texts("purposes"),
        stacks=facts.text("stacks"),
        calendar=facts.flag("calendar_releases") or False,
        releases=releases,
        base_releases=dict(map(release_and_base, facts.texts("base_releases"))),
        synonyms=facts.texts("synonyms"),
        run_by=facts.texts("run_by"),
        features=dict(features(facts, releases)),
        statements=dict(support_statements(facts, releases)),
        multiples=dict(required_multiples(facts, releases)),
    )


def library(facts: FactReader) -> Library:
    """A driver, toolkit or library."""
    from clusterspec.catalog.releases import release_faults

    releases = dict(map(release_and_year, facts.texts("releases")))
    return Library(
        **_header_fields(facts),
        vendors=facts.texts("vendors"),
        vendors_sourced=facts.is_cited("vendors"),
        releases=releases,
        synonyms=facts.texts("synonyms"),
        statements=dict(support_statements(facts, releases)),
        faults=tuple(release_faults(facts)),
    )


def kernels(facts: FactReader) -> Kernels:
    """Measured kernels of an accelerator."""
    return Kernels(
        **_header_fields(facts),
        accelerator=facts.text("accelerator") or "",
        year=facts.count("year") or 0,
        stands_in_from=facts.count("stands_in_from"),
        stands_in_for=facts.text("stands_in_for") or "",
        achievable=facts.achievable(),
    )


def storage_system(facts: FactReader) -> StorageSystem:
    """A storage system as sold."""
    from clusterspec.catalog.facilities import StorageSystem, storage_system_fields  # few specs name one

    return StorageSystem(**_header_fields(facts), **power_figures(facts), **storage_system_fields(facts))


def cdu(facts: FactReader) -> Cdu:
    """A cooling distribution unit."""
    from clusterspec.catalog.facilities import Cdu, cdu_fields  # few specs name one

    return Cdu(**_header_fields(facts), **power_figures(facts), **cdu_fields(facts))


def part_failures(facts: FactReader) -> PartFailures:
    """How often one part of a kind fails."""
    from clusterspec.catalog.failure_rates import PartFailures, part_failures_fields  # few commands need them

    return PartFailures(**_header_fields(facts), **part_failures_fields(facts))


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


def _header_fields(facts: FactReader) -> dict[str, Any]:
    raw_entry = facts.raw_entry
    return {
        "id": raw_entry.id,
        "name": raw_entry.name,
        "vendor": raw_entry.vendor,
        "status": raw_entry.status,
        "notes": raw_entry.notes,
    }
