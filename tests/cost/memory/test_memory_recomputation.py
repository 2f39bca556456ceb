"""Recomputation means the same for time and for memory: what costs a kernel saves its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.catalog import Catalog
from clusterspec.cost.estimate import estimate
from clusterspec.cost.memory.recomputation import MODULES
from clusterspec.cost.plan import Plan
from clusterspec.document.outline import at
from clusterspec.pipeline import study_text
from clusterspec.spec.schema import schema
from tests.settings import SETTINGS

STACKS = Catalog.open().ids("stack")
LATENT = {"base": "deepseek-v3", "layers": 8, "moe_layers": 4}


def plan(layout: dict[str, Any], model: Any = "llama-3.1-8b", **work: Any) -> Plan:
    spec = {
        "clusterspec": 1,
        "name": "test",
        "cluster": {"platform": "dgx-h100", "nodes": 16},
        "workload": {"model": model, "sequence_length": 4096, "global_batch": 1024, **work},
        "layout": layout,
    }
    return estimate(study_text(json.dumps(spec), SETTINGS).design)


def stored(found: Plan) -> float:
    """Bytes of activations that layers keep, without what one layer needs at work."""
    assert found.memory is not None
    passing = {"working_space", "logits_and_loss"}
    return sum(part.value for part in found.memory.activations.parts if part.name not in passing)


def seconds(found: Plan) -> float:
    assert found.step_time is not None
    return found.step_time.value


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("attention", ["flash", "plain"])
def test_selective_recomputation_costs_time_and_saves_memory(stack: str, attention: str) -> None:
    framework, _, year = stack.rpartition("-")
    layout = {"framework": framework, "software_year": int(year)}
    none, selective, full = (
        plan({**layout, "recompute": word}, attention=attention) for word in ("none", "selective", "full")
    )
    if none.step_time is not None:
        assert seconds(none) < seconds(selective) < seconds(full)
    assert stored(full) < stored(none)
    assert stored(selective) < stored(none)


def test_the_format_and_memory_know_the_same_modules() -> None:
    assert tuple(at(schema(), ("layout", "recompute", 0))["enum"]) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_a_module_costs_time_and_saves_memory(module: str) -> None:
    layout = {"framework": "megatron-core", "ep": 8}
    none, some = (plan({**layout, "recompute": chosen}, LATENT) for chosen in ("none", [module]))
    assert seconds(some) > seconds(none)
    assert stored(some) < stored(none)


def test_modules_add_up() -> None:
    layout = {"framework": "megatron-core", "ep": 8}

    def saved(modules: Any) -> float:
        return stored(plan({**layout, "recompute": "none"}, LATENT)) - stored(
            plan({**layout, "recompute": modules}, LATENT)
        )

    apart = saved(["norm"]) + saved(["latent"]) + saved(["mlp"])
    assert saved(["norm", "latent", "mlp"]) == pytest.approx(apart)


def test_light_recomputation_is_its_modules() -> None:
    """What selective means in Megatron Core 2026: norms, activation functions, expansions of latents."""
    layout = {"framework": "megatron-core", "software_year": 2026, "ep": 8}
    words, modules = (
        plan({**layout, "recompute": chosen}, LATENT) for chosen in ("selective", ["norm", "activation", "latent"])
    )
    assert stored(words) == stored(modules)
    assert seconds(words) == pytest.approx(seconds(modules))


def test_norms_keep_their_input_and_drop_their_output() -> None:
    """Two norms of 8 layers: 2 × 8 × tokens × hidden × 2 bytes less."""
    layout = {"framework": "megatron-core", "tp": 1}
    none, some = (plan({**layout, "recompute": chosen}) for chosen in ("none", ["norm"]))
    assert stored(none) - stored(some) == 2 * 32 * 4096 * 4096 * 2
