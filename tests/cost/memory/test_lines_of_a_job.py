"""Lines of memory that a job has only with certain layers, methods and degrees, each by hand."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Trainable
from clusterspec.cost.memory import Job
from clusterspec.cost.memory.activations import _dense_tensors, _expert_tensors
from clusterspec.cost.memory.recomputation import _dequantized_lines
from clusterspec.cost.memory.states import communicator_count
from tests.cost.memory.designs import design, experts, model
from tests.effort import each


def job(of: Model | None = None, work: dict[str, Any] | None = None, **cut: Any) -> Job:
    found = design(of or model(), work, **cut)
    assert found.workload is not None and found.layout is not None
    return Job.of(found, found.workload, found.layout)


@each(
    ("method", "sizes", "tp", "elements"),
    [
        (None, {}, 1, None),
        ("lora", {}, 1, None),
        ("qlora", {}, 1, 1024 * 4096),
        ("qlora", {}, 2, 1024 * 4096 / 2),
        ("qlora", {"ffn_hidden": 512}, 1, 1024 * 16 * 64),  # 16 heads of 64 are wider
    ],
)
def test_qlora_widens_the_widest_matrix_of_a_layer(
    method: str | None, sizes: dict[str, int], tp: int, elements: float | None
) -> None:
    adapters = Trainable(method, 16, ("attention",)) if method else None
    found = _dequantized_lines(job(model(**sizes), {"trainable": adapters}, tp=tp))
    assert [line.name for line in found] == (["dequantized matrix"] if elements else [])
    assert [line.value for line in found] == ([2 * elements] if elements else [])


@each(
    ("of", "modules", "tensors"),
    [
        (model(), (), 0),
        (model(), ("attention",), 0),
        (experts(shared_experts=0), (), 2),
        (experts(shared_experts=0), ("expert",), 0),
        (experts(shared_experts=1), (), 3),
        (experts(shared_experts=1), ("shared_experts",), 2),
        (experts(shared_experts=1), ("expert",), 1),
        (experts(shared_experts=1), ("expert", "shared_experts"), 0),
    ],
)
def test_layers_of_experts_keep_tensors_unless_their_module_is_recomputed(
    of: Model, modules: tuple[str, ...], tensors: int
) -> None:
    assert len(_expert_tensors(job(of), frozenset(modules))) == tensors


def test_a_dense_network_keeps_its_tensors_unless_it_is_recomputed() -> None:
    assert [len(_dense_tensors(job(), frozenset(modules))) for modules in ((), ("attention",), ("mlp",))] == [1, 1, 0]


@each(
    ("cut", "axes"),
    [({}, None), ({"tp": 2}, 1), ({"tp": 2, "dp": 2}, 2), ({"dp": 4}, 1), ({"tp": 2, "pp": 2, "dp": 2}, 3)],
)
def test_a_rank_has_a_communicator_for_each_axis_and_one_of_all_ranks(cut: dict[str, Any], axes: int | None) -> None:
    found = job(framework="custom", software_year=2026, **cut)
    own = found.framework.communicators
    assert communicator_count(found) == (0 if axes is None else axes + 1 + own)
