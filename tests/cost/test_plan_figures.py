"""Figures of a plan that reports and rules read, from a plan with figures that are given."""

from __future__ import annotations

import pytest

from clusterspec.cluster.fabric import counted_fabric
from clusterspec.cost.compact_mixers import attended_entries
from clusterspec.cost.headline import sent_term
from clusterspec.cost.mixers import full_attention_flops
from clusterspec.cost.nameplates import it_power, lowest_it_power, lowest_machine_watts, machine_watts, power_draw
from clusterspec.cost.plan import Communication, Plan
from clusterspec.cost.storage import storage_use
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.studies import study_text
from tests.catalog.shipped import CATALOG
from tests.cost.plans import plan
from tests.settings import SETTINGS


def planned(text: str) -> Plan:
    return study_text("clusterspec: 1\n" + text, SETTINGS).plan


def test_a_plan_fits_up_to_its_capacity_and_surely_below_the_upper_end() -> None:
    """90 % of 80 GB, which are sold as 80 GB; a capacity that is all of the memory has no share."""
    found = plan()
    assert found.stored is not None and found.stored.capacity is not None and found.memory is not None
    upper = found.memory.total.ends[1]  # what the allocator keeps in addition, it gives back
    for value, fits, surely in (
        (found.stored.total * 0.999, False, False),
        (found.stored.total, True, False),
        (upper, True, True),
        (upper * 0.999, True, False),
    ):
        size = Figure(value, "B", found.stored.capacity.origin)
        one = replace(found, stored=found.stored._replace(capacity=size))
        assert (one.fits, one.surely_fits, one.memory_capacity) == (fits, surely, value)
    cluster = found.design.cluster
    assert cluster is not None and cluster.accelerator.memory is not None
    whole, origin = cluster.accelerator.memory.value, cluster.accelerator.memory.origin
    for share, text in ((1.0, "85.5 GB (sold as 80 GB)"), (0.9, "77 GB (90 % of 85.5 GB, sold as 80 GB)")):
        size = Figure(share * whole, "B", origin)
        assert replace(found, stored=found.stored._replace(capacity=size)).capacity_text == text
    assert replace(found, stored=None).capacity_text == "an unknown capacity"
    assert (replace(found, stored=None).fits, replace(found, stored=None).surely_fits) == (None, None)


def test_the_range_of_the_mfu_is_that_of_the_step() -> None:
    found = plan()
    assert found.mfu is not None and found.step_seconds is not None and found.step_time_range is not None
    fast, slow = found.step_time_range
    assert fast < found.step_seconds < slow
    assert found.mfu_range == pytest.approx(
        (found.mfu * found.step_seconds / slow, found.mfu * found.step_seconds / fast)
    )
    assert replace(found, mfu=None).mfu_range is None is replace(found, step=None).mfu_range
    assert not found.is_update and not found.has_separate_engines and not found.fullest_is_prefill


ASSUMED = "cluster: {platform: gaudi3-hls, nodes: 4, scale_out: {technology: roce-v2}}\n"


def test_nodes_of_assumed_power_draw_at_least_the_low_end_of_their_range() -> None:
    design = planned(ASSUMED).design
    fabric, cluster = counted_fabric(design), design.cluster
    assert cluster is not None
    drawn, whole = power_draw(cluster, fabric, None), it_power(cluster, fabric, None)
    assert drawn.node is not None and drawn.node_range is not None and whole is not None and drawn.nodes == 4
    least = whole[0] - 4 * (drawn.node.value - drawn.node_range[0])
    assert lowest_it_power(cluster, fabric, None) == pytest.approx(least) and least < whole[0]
    assert (machine_watts(design), lowest_machine_watts(design)) == pytest.approx((whole[0], least))
    stated = planned("cluster: {platform: dgx-h100, nodes: 4, power: {node: 10 kW, switch: 1 kW}}\n").design
    assert machine_watts(stated) == lowest_machine_watts(stated) == pytest.approx(40e3, rel=0.2)
    nothing = planned("workload: {model: llama-3.1-8b}\n").design
    assert machine_watts(nothing) is None is lowest_machine_watts(nothing)


STORED = """
cluster: {platform: dgx-h100, nodes: 4, networks: {storage: {bandwidth: 40 GB/s, read: 80 GB/s}}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128, dataset_tokens: 1T}
layout: {framework: megatron-core, tp: 2}
operations: {checkpoint: {interval: 30 min, keep: 3}}
"""


def test_the_use_of_a_store_names_each_transfer_with_its_seconds_bytes_and_rate() -> None:
    found = storage_use(planned(STORED))
    assert found is not None and found.checkpoint is not None and found.restore is not None and found.data is not None
    assert found.kept is not None and found.kept.value == pytest.approx(3 * found.checkpoint.size.value)
    told = found.to_json()
    for name, one in (("checkpoint", found.checkpoint), ("restore", found.restore)):
        assert told[name] == {"seconds": one.seconds.value, "bytes": one.size.value, "rate": one.rate.value}
        assert one.seconds.value == pytest.approx(one.size.value / one.rate.value, rel=0.05)
    assert told["load"] is None and told["kept_bytes"] == found.kept.value
    names = {"checkpoints_kept", "checkpoint_write", "checkpoint_write_bytes", "checkpoint_write_rate"}
    names |= {f"checkpoint_restore{end}" for end in ("", "_bytes", "_rate")}
    names |= {"data_needed", "data_rate", "data_first_batch", "data_set", "data_set_read"}
    assert set(found.terms) == names and all(term.name == name for name, term in found.terms.items())
    assert found.data.whole is not None and found.data.whole.size.value == pytest.approx(1e12 * found.data.width.value)
    short = storage_use(planned(STORED.replace(", dataset_tokens: 1T", "").replace(", keep: 3", "")))
    assert short is not None and short.kept is None and short.data is not None and short.data.whole is None
    assert not {"checkpoints_kept", "data_set", "data_set_read"} & set(short.terms)
    assert short.to_json()["kept_bytes"] is None


def test_compressed_attention_meets_its_window_and_the_entries_of_each_kind_of_layer() -> None:
    """Near tokens of the window, then one entry for each ratio of tokens; light layers select among theirs."""
    model = CATALOG.model("deepseek-v4-pro")
    part, sparse = model.compressed, model.sparse
    assert part is not None and sparse is not None
    for sequence in (float(part.window) / 2, 1e5, 1e6):
        light, heavy = attended_entries(model, part, sequence)
        near = min(part.window, sequence)
        entries = [max(0.0, sequence) / ratio for ratio in (part.light_ratio, part.heavy_ratio)]
        assert light == pytest.approx(near + min(entries[0], sparse.tokens), rel=0.02, abs=2)
        assert heavy == pytest.approx(near + entries[1], rel=0.02, abs=2)
    every, _ = attended_entries(replace(model, sparse=None), part, 1e6)
    assert every > attended_entries(model, part, 1e6)[0]
    some = full_attention_flops(model, 1e5)
    more = full_attention_flops(replace(model, compressed=replace(part, heavy_layers=part.heavy_layers + 1)), 1e5)
    width = model.head_dim + model.latent_rope + model.value_width
    assert more - some == pytest.approx(6 * model.heads * width * attended_entries(model, part, 1e5)[1], rel=1e-6)


def test_the_term_of_the_memory_has_the_range_of_the_plan() -> None:
    found = plan()
    assert found.memory is not None and found.memory_range is not None and found.memory_term is not None
    term, total = found.memory_term, found.memory.total
    assert (term.value, term.low, term.high, term.parts) == (total.value, *found.memory_range, total.parts)
    assert replace(found, stored=None).memory_term is None is replace(found, stored=None).memory_range


def test_the_term_of_a_collective_multiplies_its_calls() -> None:
    term = sent_term(Communication("tp", "all-reduce", "scale-up", 8, 4.0, 1e9, 0.02, 0.005))
    assert (term.name, term.value, term.unit, term.formula) == ("tp all-reduce", 0.02, "s", "calls * seconds_per_call")
    told = {name: (figure.value, figure.unit) for name, figure in term.inputs}
    assert told == {
        "calls": (4.0, "1"),
        "bytes": (1e9, "B"),
        "seconds_per_call": (0.005, "s"),
        "ranks": (8, "1"),
        "exposed": (0.005, "s"),
    }
    none = sent_term(Communication("tp", "all-reduce", "scale-up", 8, 0.0, 0.0, 0.0, 0.0))
    assert dict(none.inputs)["seconds_per_call"].value == 0.0
