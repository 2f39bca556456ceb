"""Steps in which some attention replicas run prompts while the others decode."""

from __future__ import annotations

import pytest

from clusterspec.cost.serving.engine import Decoding, Engine
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.studies import study_text
from tests.analysis.test_verbs_agree import NODE, spec_text
from tests.settings import SETTINGS


@pytest.mark.parametrize("busy", [1.0, 2.5, 8.0])
def test_replicas_without_prompts_decode_in_the_steps_of_others(busy: float) -> None:
    """A step that also runs a prompt on some replicas takes no less than one that decodes on all of them."""
    found = estimated_engine()
    decoding = Decoding(64.0, 1500.0, 1.0)
    alone = decode_step(found, 64.0, 1500.0)
    mixed = prompt_step(found, 16.0, 16.0, busy, decoding)
    assert mixed.device >= alone.device


def test_experts_compute_the_tokens_of_all_replicas() -> None:
    """Experts work on the tokens of all eight replicas: 64 that decode on each, and 16 of a prompt on one or on all.

    The rank with the busiest experts has some more of few tokens.
    """
    found, decoding = estimated_engine(), Decoding(64.0, 1500.0, 1.0)
    of_one, of_all = (prompt_step(found, 16.0, 16.0, busy, decoding).parts for busy in (1.0, 8.0))
    flops = [next(part for part in parts if part.name == "experts").numbers["flops"] for parts in (of_one, of_all)]
    assert flops[0] / flops[1] == pytest.approx((8 * 64 + 16) / (8 * 80), rel=5e-3)


def estimated_engine() -> Engine:
    layout = {"tp": 1, "attention_dp": 8, "ep": 8}
    serving = {"input_tokens": 1000, "output_tokens": 1000, "concurrency": 512}
    pools = bare_pools(
        study_text(spec_text(serving, layout, model="qwen3-30b-a3b", framework="vllm", cluster=NODE), SETTINGS).design
    )
    assert pools is not None
    return pools.decode
