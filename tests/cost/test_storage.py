"""The storage system at work: times worked out by hand, and laws of its limits."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.cost.storage import StorageUse, engine_load, storage_use
from clusterspec.studies import Study, study_text
from tests.effort import telling
from tests.settings import SETTINGS

JOB = """clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 64, networks: {{storage: {{bandwidth: 40 GB/s{store}}}}}}}
workload: {{model: {{base: llama-3.1-70b}}, sequence_length: 8192, global_batch: 512}}
layout: {{tp: 8, pp: 2{layout}}}
operations: {{checkpoint: {{interval: 30 min{saving}}}}}
"""
PARAMETERS = 70_553_706_496
"""Weights of Llama 3.1 70B."""


def study(store: str = "", layout: str = "", saving: str = "") -> Study:
    return study_text(JOB.format(store=store, layout=layout, saving=saving), SETTINGS)


def use(store: str = "", layout: str = "", saving: str = "") -> StorageUse:
    found = storage_use(study(store, layout, saving).plan)
    assert found is not None
    return found


def test_a_checkpoint_is_written_at_the_rate_that_its_clients_reach() -> None:
    """14 bytes of each weight are 987.75 GB. 64 nodes of 5 GB/s reach 40 GB/s, of 0.5 GB/s 32 GB/s, in 8 slots 4 GB/s;
    512 files at 1,000 a second take half a second more. NICs of 2 Gb/s in all, of the store or of the frontend by
    which it is reached, carry 16 GB/s, whatever a client could take.
    """
    size = 14 * PARAMETERS
    for store, rate, more in (
        ("", 40e9, 0.0),
        (", per_client: 5 GB/s", 40e9, 0.0),
        (", per_client: 0.5 GB/s", 32e9, 0.0),
        (", per_client: 0.5 GB/s, slots: 8", 4e9, 0.0),
        (", metadata_rate: 1000", 40e9, 0.512),
        (", per_client: 5 GB/s, nics_per_node: 2, nic_bandwidth: 1 Gb/s", 16e9, 0.0),
        ("}, frontend: {nic_bandwidth: 2 Gb/s", 16e9, 0.0),
        (", shares: out_of_band}, frontend: {nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s", 8e9, 0.0),
        (", shares: scale_out}, frontend: {nic_bandwidth: 1 Gb/s", 40e9, 0.0),
    ):
        found = use(store).checkpoint
        assert found is not None
        assert found.seconds.value == pytest.approx(size / rate + more, rel=1e-6), store


def test_a_restore_reads_each_copy_of_the_weights() -> None:
    """32 replicas of 16 ranks: with ZeRO-1 32 copies of 2 bytes and one of 12; fully sharded all of it once."""
    for layout, wide, states in (("", 32, 1), (", sharding: fsdp", 1, 1), (", sharding: none", 32, 32)):
        found = use(", read: 80 GB/s", layout).restore
        assert found is not None
        size = PARAMETERS * (2 * wide + 12 * states)
        assert found.size.value == size
        assert found.seconds.value == pytest.approx(size / 80e9)


def test_what_is_kept_and_the_pause_of_training() -> None:
    """Three checkpoints are 2.96 TB; the 24.7 s of one are 1.37 % of half an hour, of which 18 s are 1 %."""
    found = use(saving=", keep: 3")
    assert found.kept is not None and found.kept.value == 3 * 14 * PARAMETERS
    report = analysis.solve(study(), "storage.bandwidth", "stall<=1%")
    assert report.value == pytest.approx(14 * PARAMETERS / 18, rel=2e-3)
    assert report.catalog_step == 80e9
    asynchronous = analysis.solve(study(saving=", mode: asynchronous"), "storage.bandwidth", "stall<=1%")
    assert asynchronous.free


DATA = JOB.replace("global_batch: 512}}", "global_batch: 512{data}}}").replace("pp: 2", "pp: 2, sharding: fsdp")


@pytest.mark.parametrize(
    ("store", "data", "width", "rate"),
    [
        ("", "", 4, 40e9),  # 128,256 words do not fit into two bytes
        (", read: 80 GB/s", ", dataset_token_bytes: 100", 100, 80e9),
        (", read: 80 GB/s, per_client: 0.5 GB/s", ", dataset_token_bytes: 1.5", 1.5, 32e9),
        (", per_client: 1 GB/s, slots: 2", ", dataset_token_bytes: 5000", 5000, 2e9),
    ],
)
def test_training_reads_its_tokens_as_fast_as_it_takes_them(store: str, data: str, width: float, rate: float) -> None:
    """512 × 8,192 tokens in a step; training waits where the store gives less than it takes; 15T tokens read once."""
    one = study_text(DATA.format(store=store, layout="", saving="", data=f"{data}, dataset_tokens: 15T"), SETTINGS)
    found, step = storage_use(one.plan), one.plan.step_seconds
    assert found is not None and found.data is not None and step
    needed = 512 * 8192 * width / step
    assert found.data.needed.value == pytest.approx(needed) and found.data.batch.rate.value == rate
    assert found.data.batch.seconds.value == pytest.approx(512 * 8192 * width / rate)
    assert found.data.stall == pytest.approx(max(0.0, 1 - rate / needed))
    assert found.data.whole is not None and found.data.whole.seconds.value == pytest.approx(15e12 * width / rate)
    assert bool(found.data.assumptions) == (not data)
    fired = [each for each in one.findings if each.rule == "data-loading-exposed"]
    assert [each.path for each in fired] == ([("cluster", "networks", "storage", "slots")] if needed > rate else [])


@telling(1)
@pytest.mark.parametrize(
    ("key", "until", "figure"),
    [
        ("storage.read", "restore<=60s", 14 * PARAMETERS / 60),
        ("storage.per_client", "restore<=60s", 14 * PARAMETERS / 60 / 8),
        ("storage.slots", "restore<=60s", 64),
        ("storage.read", "stall<=1%", None),  # 0.4 GB/s in 64 slots write too slowly, whatever is read
    ],
)
def test_what_to_buy_for_reading_by_each_limit(key: str, until: str, figure: float | None) -> None:
    """987.75 GB in a minute are 16.46 GB/s: 8 slots of 2.06 GB/s each, or 64 slots of 0.4 GB/s (in powers of two)."""
    store = {"storage.read": ", read: 1 GB/s", "storage.per_client": ", per_client: 1 GB/s, slots: 8"}
    limited = store.get(key, ", per_client: 0.4 GB/s, slots: 8")
    if until.startswith("stall"):
        limited = ", per_client: 0.4 GB/s, slots: 64"
    report = analysis.solve(study_text(DATA.format(store=limited, layout="", saving="", data=""), SETTINGS), key, until)
    assert (report.value is None) == (figure is None), report.why
    if figure is not None:
        assert report.value == pytest.approx(figure, rel=2e-3 if key != "storage.slots" else 0.4)


def test_engines_read_their_weights_at_once() -> None:
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4, networks: {storage: {bandwidth: 40 GB/s}}}\n"
        "workload: {kind: serve, model: {base: llama-3.1-70b}, "
        "serving: {input_tokens: 1024, output_tokens: 128, concurrency: 64}}\n"
        "layout: {framework: vllm, tp: 8, dp: 4}\n"
    )
    found = storage_use(study_text(text, SETTINGS).plan)
    assert found is not None and found.load is not None and found.checkpoint is None
    assert found.load.seconds.value == pytest.approx(4 * 2 * PARAMETERS / 40e9)


@pytest.mark.parametrize(
    ("tp", "pp", "client", "rate"), [(8, 1, "5 GB/s", 5e9), (8, 2, "5 GB/s", 10e9), (4, 1, "50 GB/s", 40e9)]
)
def test_one_engine_reads_at_what_its_own_nodes_reach(tp: int, pp: int, client: str, rate: float) -> None:
    store = f"networks: {{storage: {{bandwidth: 40 GB/s, per_client: {client}}}}}"
    text = (
        f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 4, {store}}}\n"
        "workload: {kind: serve, model: {base: llama-3.1-70b}, "
        "serving: {input_tokens: 1024, output_tokens: 128, concurrency: 64}}\n"
        f"layout: {{framework: vllm, tp: {tp}, pp: {pp}}}\n"
    )
    found = engine_load(study_text(text, SETTINGS).plan)
    assert found is not None and found.seconds.value == pytest.approx(2 * PARAMETERS / rate)


def test_nothing_is_said_of_a_store_that_is_not_described() -> None:
    bare = JOB.replace(", networks: {{storage: {{bandwidth: 40 GB/s{store}}}}}", "")
    assert storage_use(study_text(bare.format(layout="", saving=""), SETTINGS).plan) is None
