"""The time of drafting tokens before a step verifies them."""

from __future__ import annotations

from clusterspec.cost.formulas.kernels import drafting_time
from clusterspec.cost.serving.constants import LAUNCH, Part
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from clusterspec.cost.serving.engine import Engine

HEADS_ALONE, ONE_LAYER = frozenset({"medusa"}), frozenset({"eagle", "mtp"})
"""Two groups of methods: all heads read the last hidden state, or a single layer runs once for each drafted token.
n-gram matches take no time on the device, and no key states the size of a draft model.
"""


def drafting_parts(engine: Engine, sequences: float, context: float, tokens: float) -> tuple[Part, ...]:
    """The parts of a step that draft: ``tokens`` - 1 tokens for each of the ``sequences`` of an attention rank.

    In a step of one token per sequence, a drafting layer takes the mean time of a layer of the model, with its cache,
    collectives and launches; its head takes as long as the head of the model.

    Source: EAGLE, arXiv 2401.15077, section 3.1 (one decoder layer, the head of the model); Medusa, arXiv 2401.10774,
    section 2.1.1; DeepSeek-V3, arXiv 2412.19437, section 2.2 (a module of one layer).
    """
    serving = engine.workload.serving
    if serving is None or tokens <= 1 or not sequences or serving.drafter not in HEADS_ALONE | ONE_LAYER:
        return ()
    numbers = {
        "drafts": tokens - 1,
        "layers": 1.0 if serving.drafter in ONE_LAYER else 0.0,
        **layer_and_head(engine.decode(sequences, context).parts, engine.model.layers),
    }
    return (Part("drafting", drafting_time, numbers, {}),)


def layer_and_head(parts: Sequence[Part], layers: int) -> dict[str, float]:
    """Seconds of a layer of the model on average and of its head, from the ``parts`` of a step."""
    head = sum_of(part.seconds for part in parts if part.name == "head")
    rest = sum_of(part.seconds for part in parts if part.name not in {"head", LAUNCH})
    launched = sum_of(part.numbers["launches"] * part.numbers["each"] for part in parts if part.name == LAUNCH)
    return {"layer": (rest + launched) / layers, "head": head}
