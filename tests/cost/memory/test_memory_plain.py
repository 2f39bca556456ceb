"""The range of memory where the software may be plain: its upper end reaches what plain software keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clusterspec.cost.memory.explain import PLAIN, memory_assumptions
from clusterspec.cost.memory.fullest import Memory, design_memory
from tests.cost.memory.designs import design, stack

TOKENS, LAYERS, HIDDEN, FFN, VOCAB = 2048, 8, 1024, 4096, 32000


def memory_with(framework: str = "custom", *, recompute: str = "none", **stated: Any) -> Memory:
    """Memory of the usual design on a framework of one's own, of which the spec states some."""
    software = stack(framework, 2025)
    assert software is not None
    found = design_memory(design(framework=framework, stack=replace(software, **stated), recompute=recompute))
    assert found is not None
    return found


def test_what_plain_software_keeps_in_addition_is_counted_by_hand() -> None:
    rank = memory_with().rank
    norms = 2 * TOKENS * HIDDEN * 4  # each of two keeps its input in fp32 as well
    gates = TOKENS * FFN * 2  # the output of the activation, in 16 bits
    logits = TOKENS * VOCAB * (12 - 6)  # bytes at once of the plain loss, over those assumed
    added = 1.03 * (LAYERS * (norms + gates) + logits)  # and a share that is fragmented
    assert rank.largest - rank.total == pytest.approx(added, rel=1e-9)


def test_the_upper_end_reaches_plain_software_and_the_prediction_stays() -> None:
    unknown, known = memory_with(), memory_with(fused=True, loss="fused")
    plain = memory_with(fused=False, loss="plain")
    narrow = replace(unknown.rank, largest=0.0).upper_bytes - unknown.total
    assert unknown.upper_bytes == pytest.approx(unknown.total + (narrow**2 + (plain.total - unknown.total) ** 2) ** 0.5)
    assert known.rank.largest == plain.rank.largest == 0
    assert unknown.total < plain.total < unknown.upper_bytes


def test_what_is_stated_is_not_varied() -> None:
    fused, unfused = memory_with(fused=True), memory_with(fused=False)
    assert fused.rank.largest == pytest.approx(memory_with(fused=True, loss="plain").total)
    assert unfused.rank.largest == pytest.approx(memory_with(fused=False, loss="plain").total)
    chunked = memory_with(loss="chunked")
    assert chunked.rank.largest == pytest.approx(memory_with(fused=False, loss="chunked").total)


def test_layers_that_are_recomputed_keep_nothing_in_addition() -> None:
    stated = memory_with(loss="fused", recompute="full").rank
    working = (2 * 4 * HIDDEN + 2 * FFN) * TOKENS  # of the one layer whose backward pass runs
    assert 0 <= stated.largest - stated.total <= 1.03 * working


def test_known_software_has_no_plainer_one() -> None:
    assert memory_with("megatron-core").rank.largest == memory_with("torchtitan").rank.largest == 0


def test_the_assumption_is_listed_where_it_widens_the_range() -> None:
    def listed(found: Memory) -> bool:
        return PLAIN in memory_assumptions(found.job, found.rank)

    assert listed(memory_with())
    assert not listed(memory_with(fused=True, loss="fused"))
    assert not listed(memory_with("megatron-core"))


def test_a_plain_loss_keeps_18_bytes_of_a_logit_in_fp32_and_8_in_16_bits() -> None:
    """16-bit logits, three copies in fp32 and the fp32 gradient of the logits; four copies in 16 bits."""
    wide, narrow, unknown = (memory_with(loss=each).total for each in ("plain-fp32", "plain-16-bit", "plain"))
    assert wide - narrow == pytest.approx(1.03 * TOKENS * VOCAB * (18 - 8), rel=1e-9)
    assert wide - unknown == pytest.approx(1.03 * TOKENS * VOCAB * (18 - 12), rel=1e-9)


def test_torchtitan_widens_the_logits_of_a_plain_loss() -> None:
    same = {loss: memory_with("torchtitan", loss=loss).total for loss in ("plain", "plain-fp32", "plain-16-bit")}
    assert same["plain"] == same["plain-fp32"] > same["plain-16-bit"]
