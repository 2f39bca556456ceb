"""What options of engines cannot express of a layout is listed, each part where the layout has it."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.model import Dispatcher, Overlap
from clusterspec.exchange.exporters import sglang, vllm
from clusterspec.exchange.exporters.engines import EngineKind
from tests.designs import SERVED, changed, layout_of
from tests.effort import each


def kind(
    *,
    ep: int = 8,
    dp: int = 1,
    tp: int = 1,
    overlap: bool = False,
    inside: bool = False,
    dispatcher: str = "all-to-all",
) -> EngineKind:
    """Engines of a layout with these degrees."""
    chosen = {"overlap": Overlap(tp="full" if inside else "none", ep=overlap), "dispatcher": Dispatcher(dispatcher)}
    return EngineKind("", changed(layout_of(SERVED), {"ep": ep, "attention_dp": dp, "tp": tp, **chosen}), 0)


@each(
    ("engines", "listed"),
    [
        ({}, []),
        ({"overlap": True}, ["the overlap of expert traffic"]),
        ({"ep": 1, "overlap": True}, []),
        ({"dispatcher": "deepep"}, ["the dispatcher deepep"]),
        ({"dispatcher": "deepep", "overlap": True}, ["the overlap of expert traffic", "the dispatcher deepep"]),
        ({"dispatcher": "deepep", "dp": 8, "overlap": True}, []),
        ({"ep": 1, "dispatcher": "all-gather"}, []),
        ({"dispatcher": "all-gather", "dp": 8}, ["the dispatcher all-gather"]),
        ({"dp": 8}, ["the dispatcher all-to-all: by default vLLM gathers"]),
        ({"ep": 1, "dp": 8}, []),
        ({"ep": 1, "tp": 8, "inside": True}, ["all-reduces inside GEMMs"]),
        ({"ep": 1, "inside": True}, []),
        ({"ep": 1, "tp": 8}, []),
    ],
)
def test_vllm_has_no_option_for_some_parts_of_a_layout(engines: dict[str, Any], listed: list[str]) -> None:
    found = [*vllm.omitted_degrees([kind(**engines)])]
    assert len(found) == len(listed)
    assert all(line.startswith(start) for line, start in zip(found, listed, strict=True)), found


@each(
    ("engines", "listed"),
    [
        ({}, []),
        ({"overlap": True}, ["the overlap of expert traffic"]),
        ({"ep": 1, "overlap": True}, []),
        ({"dp": 8, "overlap": True}, []),
        ({"dispatcher": "deepep", "overlap": True}, []),
        ({"dispatcher": "hybrid"}, ["the dispatcher hybrid"]),
        ({"ep": 1, "dispatcher": "hybrid"}, []),
        ({"ep": 1, "tp": 8, "inside": True}, ["all-reduces inside GEMMs"]),
        ({"ep": 1, "inside": True}, []),
    ],
)
def test_sglang_has_no_option_for_some_parts_of_a_layout(engines: dict[str, Any], listed: list[str]) -> None:
    found = [*sglang.omitted_degrees([kind(**engines)])]
    assert len(found) == len(listed)
    assert all(line.startswith(start) for line, start in zip(found, listed, strict=True)), found
