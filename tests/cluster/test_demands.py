"""What a model demands of a framework: the uses that its published architecture has."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.demands import Demands, LayoutNumbers, layout_uses, model_uses
from clusterspec.cluster.requests import Engines
from clusterspec.records import replace
from tests.catalog.shipped import held
from tests.effort import each
from tests.settings import SETTINGS

USES = (
    ("llama-2-7b", ""),
    ("llama-3.1-70b", "grouped-query-attention"),
    ("gemma-2-9b", "grouped-query-attention sliding-window tied-embeddings"),
    ("mixtral-8x7b", "experts grouped-query-attention"),
    ("deepseek-r1", "experts latent-attention"),
    ("deepseek-v3.2", "experts latent-attention sparse-attention"),
    ("deepseek-v4-pro", "compressed-attention experts sparse-attention"),
    ("nemotron-h-56b", "grouped-query-attention mamba-2"),
    ("qwen3-next-80b-a3b", "experts grouped-query-attention linear-attention"),
)


@each(("name", "uses"), USES)
def test_a_model_uses_what_its_architecture_has_and_its_names(name: str, uses: str) -> None:
    found = {use for use in model_uses(SETTINGS.catalog.model(name)) if use}
    parts = name.split("-")
    names = {"model-" + "-".join(parts[:count]) for count in range(1, len(parts) + 1)}
    assert found == names | {*uses.split()}


def test_only_a_run_that_trains_layers_of_prediction_needs_support_for_them() -> None:
    model = SETTINGS.catalog.model("deepseek-v3")
    assert model.prediction is not None
    assert ["token-prediction" in {*model_uses(replace(model, predicted=count))} for count in (0, 1)] == [False, True]


ONE = LayoutNumbers(
    tp=1,
    cp=1,
    ep=1,
    expert_tp=1,
    pp=1,
    virtual_stages=1,
    micro_batch=1,
    interleaved=False,
    sequence_parallel=False,
    own_stages=False,
    ring=True,
    sharding="fsdp",
    schedule="1f1b",
)
"""A layout of one rank."""
DENSE, EXPERT = (SETTINGS.catalog.model(name) for name in ("llama-2-7b", "mixtral-8x7b"))
LAYOUT_USES: tuple[tuple[dict[str, Any], int, str], ...] = (  # layout, ranks, and its uses with a dense model
    ({}, 1, ""),
    ({}, 2, "data-parallel fsdp"),
    ({"sharding": "none"}, 2, "data-parallel unsharded"),
    ({"cp": 2}, 2, "cp fsdp"),  # context parallelism shards states too
    ({"tp": 2}, 2, "tp"),
    ({"sequence_parallel": True}, 1, ""),
    ({"tp": 2, "sequence_parallel": True}, 2, "tp sequence-parallel"),
    ({"attention_dp": 2}, 2, "attention-dp"),
    ({"ep": 2}, 2, "ep data-parallel fsdp"),
    ({"ep": 8}, 8, "ep data-parallel fsdp"),
    ({"ep": 16}, 16, "ep ep-across-domains data-parallel fsdp"),  # of domains of 8
    ({"expert_tp": 2}, 1, ""),  # of a dense model
    ({"pp": 2}, 2, "pp 1f1b"),
    ({"pp": 3}, 3, "pp 1f1b uneven-stages"),  # of 32 layers
    ({"pp": 2, "virtual_stages": 2}, 2, "pp virtual-stages"),
    ({"pp": 2, "virtual_stages": 3}, 2, "pp virtual-stages uneven-stages"),
    ({"virtual_stages": 3}, 1, ""),
    ({"recompute": "none"}, 1, ""),
    ({"recompute": "selective"}, 1, "recomputation"),
    ({"recompute": "full"}, 1, "recomputation full-recomputation"),
)


@each(("layout", "ranks", "uses"), LAYOUT_USES)
def test_a_layout_uses_what_has_more_than_one_rank(layout: dict[str, Any], ranks: int, uses: str) -> None:
    demands = Demands(ranks=ranks, capabilities=held("megatron-core"), model=DENSE, batch=16, sequence=4096, domain=8)
    assert layout_uses(replace(ONE, **layout), demands) == {*uses.split()}
    experts = {"expert-tp"} if "expert_tp" in layout else set[str]()
    assert layout_uses(replace(ONE, **layout), replace(demands, model=EXPERT)) == {*uses.split()} | experts


def test_experts_that_tp_shards_reach_the_next_domain_sooner() -> None:
    """Domains of 8 ranks: 4 × 2 lie in one, 4 × 4 in two."""
    demands = Demands(ranks=16, capabilities=held("megatron-core"), model=EXPERT, batch=16, sequence=4096, domain=8)
    found = ["ep-across-domains" in layout_uses(replace(ONE, ep=4, expert_tp=tp), demands) for tp in (1, 2, 4)]
    assert found == [False, False, True]


def test_experts_on_a_part_of_an_engine_are_a_use_of_engines_alone() -> None:
    demands = Demands(ranks=16, capabilities=held("vllm"), model=EXPERT, batch=None, sequence=None, serves=True)
    for ep, partial in ((1, False), (2, True), (4, True), (8, False)):
        layout = replace(ONE, tp=4, attention_dp=2, pp=2, ep=ep)
        assert ("partial-ep" in layout_uses(layout, demands)) == partial, ep
        assert "partial-ep" not in layout_uses(layout, replace(demands, serves=False))


def test_an_engine_of_which_nothing_is_said_is_one_rank() -> None:
    engine = Engines()
    assert (engine.replicas, engine.ranks, engine.ep, engine.expert_tp, engine.redundant_experts) == (1, 1, 1, 1, 0)
    assert replace(engine, tp=2, attention_dp=3, pp=5).ranks == 30
