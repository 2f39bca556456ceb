"""Parts of engines and of jobs at the ends of their conditions, from records with round numbers."""

from __future__ import annotations

import pytest

from clusterspec.cost.memory import Job
from clusterspec.cost.serving.constants import CONTEXT
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.parts.step import UNFUSED, _scores_in_memory
from clusterspec.cost.serving.plan_engines import _sampling_bytes
from clusterspec.quantity import Figure
from clusterspec.source import Computed
from tests.designs import SERVED, TRAINED, changed, engines_of, layout_of, study_of, work_of


def engine(limit: float | None) -> Engine:
    """An engine of two ranks with 16 heads and 10 layers, whose fused kernel is for prompts beyond the limit."""
    achievable = {} if limit is None else {UNFUSED: Figure(limit, "1", Computed("longest prompt"))}
    model = {"workload.model.heads": 16, "whole.full_layers": 8, "whole.window_layers": 2}
    changes = {"cluster.accelerator.achievable": achievable, "layout.tp": 2}
    return changed(engines_of(SERVED).decode, model | changes)


@pytest.mark.parametrize(
    ("limit", "fresh", "before", "seen"),
    [
        (None, 0.0, 100.0, 0.0),
        (8_192.0, 0.0, 8_191.0, 8_191.0),
        (8_192.0, 0.0, 8_192.0, 8_192.0),  # a prompt as long as the limit
        (8_192.0, 0.0, 8_193.0, 0.0),
        (8_192.0, 1_000.0, 500.0, 500.0),
        (8_192.0, 16_384.0, 8_192.0, 8_192.0**2 / 2 / 16_384),  # as many as a prompt at the limit
    ],
)
def test_scores_pass_through_memory_up_to_the_limit(
    limit: float | None, fresh: float, before: float, seen: float
) -> None:
    """Three tokens, of which each rank has 8 heads."""
    assert _scores_in_memory(engine(limit), 3.0, before, fresh) == 3 * seen * 8 * 10


@pytest.mark.parametrize(
    ("kept", "stages", "shards", "once"),
    [(True, 2, 8, 1.0), (True, 2, 1, 0.0), (True, 1, 8, 0.0), (True, 1, 1, 0.0), (False, 2, 8, 0.0)],
)
def test_a_pipeline_with_shards_gathers_once_a_step_where_its_software_keeps_weights(
    kept: bool, stages: int, shards: int, once: float
) -> None:
    job = Job.of(study_of(TRAINED).design, work_of(TRAINED), layout_of(TRAINED))
    layout = {"layout.pp": stages, "layout.shard_group": shards}
    assert changed(job, {"framework.kept_in_pipelines": kept, **layout}).synchronizes_once == once


@pytest.mark.parametrize(("width", "reserved"), [(0.0, 0.0), (12.0, 256 * 1_000 * 12.0 + CONTEXT.value)])
def test_an_engine_reserves_memory_for_sampling_and_its_context_or_neither(width: float, reserved: float) -> None:
    """256 sequences of a vocabulary of 1,000 with 12 bytes each."""
    serving = {"workload.serving.sampling_bytes": width, "workload.serving.sampled_sequences": 256}
    whole = changed(engines_of(SERVED).decode, {"workload.model.vocab": 1_000, **serving})
    assert _sampling_bytes(whole) == pytest.approx(reserved, abs=0.0)
