from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from clusterspec.analysis.searches.space.families import families, layout_of, section_of
from clusterspec.analysis.searches.studied import Pins, SearchJob, Space, divisors, section_with_fixed_settings
from clusterspec.cluster.legality import forbids_uneven_stages
from clusterspec.finding import Severity
from clusterspec.studies import variation
from tests.analysis.jobs import DENSE, EXPERT, JOBS, choices, job, study_of
from tests.catalog.shipped import held
from tests.effort import telling


@telling(2)
@pytest.mark.parametrize("name", JOBS)
def test_the_size_of_a_family_is_its_number_of_layouts(name: str) -> None:
    for family in families(job(JOBS[name])):
        assert sum(1 for _ in choices(family)) == family.size


@pytest.mark.parametrize("name", JOBS)
def test_a_number_names_one_layout(name: str) -> None:
    space = Space(list(families(job(JOBS[name]), Pins({"cp": 1}))))
    every = [choice for family in space.families for choice in choices(family)]
    assert len(every) == space.size
    assert [space.choice(number) for number in range(0, space.size, 7)] == every[::7]


@pytest.mark.parametrize("name", JOBS)
def test_pasted_into_the_spec_a_layout_resolves_to_itself(name: str) -> None:
    """The layout that search times is the one that its section gives, on a sample of every job."""
    one = study_of(JOBS[name])
    searched = job(JOBS[name])
    assert one.document is not None
    every = list(families(searched))
    for family in Random(1).sample(every, min(12, len(every))):
        choice = Random(2).choice(list(islice(choices(family), 400)))
        section = section_with_fixed_settings(one, section_of(searched, choice))
        varied = variation.rewritten_study(one, {("layout",): section})
        assert varied.design.layout == layout_of(searched, choice), section


@telling(1)
@pytest.mark.parametrize("name", ["dense", "expert", "sharded", "uneven"])
def test_rules_of_divisibility_find_no_error_in_a_layout_of_the_search(name: str) -> None:
    one = study_of(JOBS[name])
    searched = job(JOBS[name])
    assert one.document is not None
    every = list(families(searched))
    for family in Random(3).sample(every, min(10, len(every))):
        choice = Random(4).choice(list(islice(choices(family), 400)))
        section = section_with_fixed_settings(one, section_of(searched, choice))
        varied = variation.rewritten_study(one, {("layout",): section})
        errors = {found.rule for found in varied.checked.findings if found.severity is Severity.ERROR}
        assert not {rule for rule in errors if "indivisible" in rule or "mismatch" in rule or "forbids" in rule}, (
            section
        )


def degrees(searched: SearchJob) -> set[tuple[int, int, int, int]]:
    return {(family.tp, family.cp, family.pp, family.dp) for family in families(searched)}


def test_degrees_multiply_to_the_ranks_and_divide_what_they_cut() -> None:
    # Llama 3.1 8B: 32 heads, 8 key-value heads, 32 layers; 16 ranks; a batch of 32 sequences of 4,096 tokens
    found = degrees(job(DENSE))
    assert all(tp * cp * pp * dp == 16 for tp, cp, pp, dp in found)
    assert {tp for tp, *_ in found} == {1, 2, 4, 8, 16}
    assert {pp for _, _, pp, _ in found} == {1, 2, 4, 8, 16}
    assert (2, 1, 2, 4) in found and (1, 1, 1, 16) in found


def test_experts_divide_over_ep_and_expert_groups_over_the_ranks_of_a_stage() -> None:
    # Mixtral 8x7B has 8 experts
    for family in families(job(EXPERT)):
        assert 8 % family.ep == 0
        assert (16 // family.pp) % (family.ep * family.expert_tp) == 0


def test_a_pinned_key_has_its_value_in_every_layout() -> None:
    pinned = list(families(job(DENSE), Pins({"tp": 4, "micro_batch": 2, "sharding": "zero1"})))
    assert pinned
    for family in pinned:
        assert family.tp == 4
        assert {pipeline.micro_batch for pipeline in family.pipelines} == {2}
        assert {sharding.kind for sharding in family.shardings} == {"zero1"}


def test_hsdp_groups_divide_the_replicas_and_are_proper() -> None:
    for family in families(job(JOBS["sharded"])):
        groups = [sharding.group for sharding in family.shardings if sharding.kind == "hsdp"]
        assert groups == [size for size in divisors(family.dp * family.cp) if 1 < size < family.dp * family.cp]


def test_stages_may_differ_by_a_layer_where_the_framework_allows_it() -> None:
    # Llama 3.2 3B has 28 layers: 8 stages hold 3 or 4 of them, 16 hold 1 or 2. Of 10 virtual stages two are shorter, of
    # 20 twelve
    searched = job(JOBS["uneven"])
    found = {(family.pp, pipe.virtual_stages) for family in families(searched) for pipe in family.pipelines}
    assert {(8, 1), (16, 1), (4, 7), (2, 5)} <= found
    assert (2, 10) not in found
    pinned = next(families(searched, Pins({"pp": 8, "cp": 1, "virtual_stages": 1})))
    section = section_of(searched, next(choices(pinned)))
    assert section["stage_layers"] == [3, 3, 4, 4, 4, 4, 3, 3]
    torus = job(JOBS["uneven"].replace("megatron-core", "maxtext"))
    assert {family.pp for family in families(torus)} == {1, 2, 4}


@pytest.mark.parametrize(
    ("framework", "year", "virtual_stages", "shorter", "refused"),
    [
        ("megatron-core", 2025, 4, 3, False),
        ("megatron-core", 2024, 1, 2, False),
        ("megatron-core", 2024, 1, 3, True),
        ("nemo", 2024, 2, 1, True),
        ("torchtitan", 2025, 2, 3, False),
        ("deepspeed", 2025, 1, 5, False),
        ("deepspeed", 2025, 2, 1, True),
        ("maxtext", 2026, 1, 1, True),
        ("", 2026, 1, 4, False),
    ],
)
def test_which_frameworks_run_uneven_stages(
    framework: str, year: int, virtual_stages: int, shorter: int, refused: bool
) -> None:
    assert forbids_uneven_stages(held(framework, year), virtual_stages, shorter) is refused


def test_the_interleaved_schedule_takes_micro_batches_in_multiples_of_the_stages() -> None:
    for family in families(job(DENSE)):
        for pipe in family.pipelines:
            if pipe.virtual_stages > 1:
                assert pipe.schedule == "interleaved"
                assert 32 // (family.dp * pipe.micro_batch) % family.pp == 0
                assert 32 // family.pp % pipe.virtual_stages == 0
