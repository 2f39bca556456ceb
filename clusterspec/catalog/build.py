"""Conversion of raw entries to typed entries, one function per kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from clusterspec.catalog.entries import (
    Accelerator,
    DefaultTier,
    FrameworkMemory,
    Interconnect,
    Kernels,
    Nic,
    Optics,
    Platform,
    ServingSoftware,
    Spread,
    Stack,
    Switch,
)
from clusterspec.catalog.frameworks import (
    Framework,
    Library,
    features,
    release_and_year,
    required_multiples,
    support_statements,
)
from clusterspec.catalog.models import (
    Block,
    CompressedAttention,
    Entry,
    LinearAttention,
    Model,
    SparseAttention,
    TokenPrediction,
    Window,
)
from clusterspec.catalog.reader import FactReader

# Conversion of catalog facts to the fields of a `Model`


def architecture(read: FactReader) -> dict[str, Any]:
    """The dimensions of a model and the parts that only some models have."""
    heads, hidden = read.count("heads") or 0, read.count("hidden") or 0
    layers = read.count("layers") or 0
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": read.count("kv_heads") or heads,
        "head_dim": read.count("head_dim") or (hidden // heads if heads else 0),
        "attention_gate": read.text("attention_gate") or "none",
        "stated_attention_layers": read.count("attention_layers"),
        "stated_ffn_layers": read.count("ffn_layers"),
        "latent_q": read.count("latent_attention.q") or 0,
        "latent_kv": read.count("latent_attention.kv") or 0,
        "latent_rope": read.count("latent_attention.rope") or 0,
        "window": _attention_window(read, layers),
        "linear": _linear_attention(read),
        "sparse": _sparse_attention(read, layers),
        "compressed": _compressed_attention(read),
        "prediction": _token_prediction(read),
        "block": _block(read),
        **{name: read.count(name) or 0 for name in _COUNTS},
        **{name: read.flag(name) or False for name in _FLAGS},
        "max_sequence_length": read.count("max_sequence_length"),
        "routing_max_nodes": read.count("routing_max_nodes"),
    }


_COUNTS = (
    "value_head_dim",
    "ffn_hidden",
    "vocab",
    "experts",
    "experts_per_token",
    "expert_ffn_hidden",
    "expert_latent",
    "shared_experts",
    "shared_expert_ffn_hidden",
    "moe_layers",
)
_FLAGS = ("shared_kv", "gated_ffn", "tied_embeddings", "learned_positions", "fp16_overflows")


def published_figures(read: FactReader) -> dict[str, Any]:
    """The published parameter counts and year."""
    return {
        "parameters": read.figure("parameters", "count"),
        "parameters_with_prediction": read.flag("parameters_with_prediction") or False,
        "encoder_parameters": read.figure("encoder_parameters", "count"),
        "active_parameters": read.figure("active_parameters", "count"),
        "year": read.count("year"),
    }


def _integers_under(read: FactReader, name: str, *keys: str) -> dict[str, int]:
    """The integers under ``name``; 0 for absent ones."""
    return {key: read.count(f"{name}.{key}") or 0 for key in keys}


def _attention_window(read: FactReader, layers: int) -> Window | None:
    """The attention window: on all layers if the fact is a number of tokens, else on some."""
    if read.has("attention_window"):
        return Window(read.count("attention_window") or 0, layers)
    sizes = _integers_under(
        read, "attention_window", "tokens", "layers", "heads", "kv_heads", "head_dim", "value_head_dim"
    )
    return Window(**sizes) if sizes["tokens"] else None


def _linear_attention(read: FactReader) -> LinearAttention | None:
    keys = ("layers", "key_heads", "value_heads", "key_head_dim", "value_head_dim", "convolution")
    sizes = _integers_under(read, "linear_attention", *keys, "gate_rank", "output_gate_rank")
    kind = read.text("linear_attention.kind")
    return LinearAttention(kind, **sizes) if kind and sizes["layers"] else None


def _sparse_attention(read: FactReader, layers: int) -> SparseAttention | None:
    sizes = _integers_under(read, "sparse_attention", "tokens", "layers", "index_heads", "index_dim")
    sizes["layers"] = sizes["layers"] or layers
    return SparseAttention(**sizes) if sizes["tokens"] else None


def _compressed_attention(read: FactReader) -> CompressedAttention | None:
    keys = ("q", "rope", "output_groups", "output_rank", "window")
    kinds = ("light_ratio", "light_layers", "heavy_ratio", "heavy_layers")
    sizes = _integers_under(read, "compressed_attention", *keys, *kinds)
    return CompressedAttention(**sizes) if sizes["q"] else None


def _block(read: FactReader) -> Block | None:
    names = ("norm", "positions", "rope_scaling", "bias", "router")
    counts = ("rope_base", "rope_original_length", "router_groups", "router_top_groups")
    numbers = (
        "norm_epsilon",
        "rope_fraction",
        "rope_scaling_factor",
        "rope_mscale",
        "rope_mscale_all_dim",
        "router_scale",
    )
    facts: dict[str, Any] = {name: read.text(f"block.{name}") or "" for name in names}
    facts |= {name: read.count(f"block.{name}") or 0 for name in counts}
    facts |= {name: read.number(f"block.{name}") for name in numbers}
    facts |= {name: read.flag(f"block.{name}") for name in ("qk_norm", "expert_bias")}
    return Block(**facts) if facts["norm"] else None


def _token_prediction(read: FactReader) -> TokenPrediction | None:
    layers, ffn = read.count("multi_token_prediction.layers"), read.text("multi_token_prediction.ffn")
    return TokenPrediction(layers, ffn) if layers and ffn else None


# Conversion of catalog facts to a software stack

GROUP = "memory"
SERVING = "serving"
_MEMORY_FLAGS = (
    "sharded_master",
    "accumulators",
    "offloads_gradients",
    "placeholders",
    "quantized_inputs",
    "cuts_residual",
    "pipeline_copies",
    "late_gradients",
    "whole_logits",
)


def framework_memory(read: FactReader) -> FrameworkMemory:
    """The facts of ``memory``; an absent fact means that the framework does not do it, or that it uses no memory."""
    names = [name.removeprefix(f"{GROUP}.gradients.") for name in read.raw_entry.facts if ".gradients." in name]
    written = {name: read.text(f"{GROUP}.gradients.{name}") for name in names}
    live, at_once, reduced = (read.number(f"{GROUP}.{name}") for name in ("live", "layers_at_once", "reduced"))
    return FrameworkMemory(
        logits=_bounded_figure(read, "logits", "bytes"),
        context=_bounded_figure(read, "context", "bytes"),
        fragmentation=_bounded_figure(read, "fragmentation", "number"),
        gradients={name: value for name, value in written.items() if value is not None},
        gradient_copy=read.number(f"{GROUP}.gradient_copy") or 0.0,
        outputs_kept=read.count(f"{GROUP}.outputs_kept") or 0,
        buckets=read.number(f"{GROUP}.buckets") or 0.0,
        communicators=read.count(f"{GROUP}.communicators") or 0,
        offloads_selective=read.texts(f"{GROUP}.offloads_selective"),
        layers_at_once=2 if at_once is None else int(at_once),
        live=inf if live is None else live,
        tables_kept=read.texts(f"{GROUP}.tables_kept"),
        reduced=4.0 if reduced is None else reduced,
        **{name: read.flag(f"{GROUP}.{name}") or False for name in _MEMORY_FLAGS},
    )


def _bounded_figure(read: FactReader, name: str, kind: str) -> Spread | None:
    """A figure with its bounds ``<name>_low`` and ``<name>_high``; exact without them."""
    value = read.figure(f"{GROUP}.{name}", kind)
    if value is None:
        return None
    low, high = (read.figure(f"{GROUP}.{name}_{bound}", kind) for bound in ("low", "high"))
    return Spread(value, low.value if low else value.value, high.value if high else value.value)


def serving_software(read: FactReader) -> ServingSoftware | None:
    """The facts of ``serving``; None for software that does not serve."""
    fraction = read.number(f"{SERVING}.memory_fraction")
    if fraction is None:
        return None
    return ServingSoftware(
        memory_fraction=fraction,
        of_free=read.text(f"{SERVING}.memory_of") == "free",
        whole_requests=read.text(f"{SERVING}.reserves") == "whole requests",
        chunk_tokens=read.count(f"{SERVING}.chunk_tokens"),
        max_sequences=read.count(f"{SERVING}.max_sequences"),
        quantized_cache=read.text(f"{SERVING}.quantized_cache"),
        tiers=tuple(_default_tier(text) for text in read.texts(f"{SERVING}.tiers")),
        chunk_of_engine=read.text(f"{SERVING}.chunk_of") == "engine",
    )


def _default_tier(text: str) -> DefaultTier:
    """Defaults on some accelerators, as written: tokens of a step, with or without sequences, and where they hold.

    >>> _default_tier("2048, 256 below 70 GiB")
    DefaultTier(chunk_tokens=2048, max_sequences=256, below=75161927680.0, least=None, architecture='')
    >>> _default_tier("2048 on sm_80").architecture
    'sm_80'
    """
    numbers, word, *where = re.split(r" (below|from|on) ", text)
    chunk, _, sequences = numbers.partition(", ")
    bound = float(where[0].removesuffix(" GiB")) * 2**30 if word != "on" else None
    return DefaultTier(
        int(chunk),
        int(sequences) if sequences else None,
        bound if word == "below" else None,
        bound if word == "from" else None,
        where[0] if word == "on" else "",
    )


# Conversion of raw entries to typed entries, one function per kind


def power_figures(read: FactReader) -> dict[str, Any]:
    """The power of an entry in watts: the largest, else the typical figure; the typical one; what they count."""
    largest, typical = read.figure("power", "power"), read.figure("power.typical", "power")
    return {
        "power": largest or read.figure("power.max", "power") or typical,
        "power_typical": typical,
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
        memory_printed=read.printed("memory"),
        memory_bandwidth=read.figure("memory_bandwidth", "rate"),
        peaks=read.peaks("peak"),
        unpublished_peaks=read.texts("unpublished_peaks"),
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
        array=read.count("array"),
        kernels=read.text("kernels"),
        cooling=read.texts("cooling"),
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
        latency=read.figure("latency", "time"),
        mtu=read.figure("mtu", "bytes"),
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
        pfc=read.flag("flow_control.pfc"),
        ecn=read.flag("flow_control.ecn"),
        sold_nodes=read.count("sold_nodes") or 1,
        node_sizes=read.counts("node_sizes"),
        cooling=read.texts("cooling"),
        liquid_share=read.figure("liquid_share", "number"),
        gpudirect_rdma=read.flag("gpudirect_rdma"),
        year=read.count("year"),
    )


def model(read: FactReader) -> Model:
    """A language model."""
    return Model(
        **_header_fields(read),
        **architecture(read),
        **published_figures(read),
        fp8_block=read.count("fp8_block") or 0,
        repository=read.text("repository") or "",
    )


def stack(read: FactReader) -> Stack:
    """A generation of training software."""
    return Stack(
        **_header_fields(read),
        year=read.count("year") or 0,
        selective=read.text("selective") or "",
        hides=read.texts("hides"),
        may_hide=read.texts("may_hide"),
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


def framework(read: FactReader) -> Framework:
    """A framework of training or serving."""
    releases = dict(map(release_and_year, read.texts("releases")))
    return Framework(
        **_header_fields(read),
        base=read.text("base"),
        vendors=read.texts("vendors"),
        vendors_sourced=read.cited("vendors"),
        purposes=read.texts("purposes"),
        stacks=read.text("stacks"),
        calendar=read.flag("calendar_releases") or False,
        releases=releases,
        synonyms=read.texts("synonyms"),
        features=dict(features(read, releases)),
        statements=dict(support_statements(read, releases)),
        multiples=dict(required_multiples(read, releases)),
    )


def library(read: FactReader) -> Library:
    """A driver, toolkit or library."""
    releases = dict(map(release_and_year, read.texts("releases")))
    return Library(
        **_header_fields(read),
        vendors=read.texts("vendors"),
        vendors_sourced=read.cited("vendors"),
        releases=releases,
        synonyms=read.texts("synonyms"),
        statements=dict(support_statements(read, releases)),
    )


def kernels(read: FactReader) -> Kernels:
    """Measured kernels of an accelerator."""
    return Kernels(
        **_header_fields(read),
        accelerator=read.text("accelerator") or "",
        year=read.count("year") or 0,
        stands_in_from=read.count("stands_in_from"),
        achievable=read.achievable(),
    )


BUILDERS: Mapping[str, Callable[[FactReader], Entry]] = {
    "accelerator": accelerator,
    "interconnect": interconnect,
    "nic": nic,
    "switch": switch,
    "optics": optics,
    "platform": platform,
    "model": model,
    "framework": framework,
    "library": library,
    "stack": stack,
    "kernels": kernels,
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
