"""Which generation of software a layout means: by release, by year, or the newest."""

from __future__ import annotations

import pytest

from clusterspec.catalog.frameworks import version_numbers
from tests.cluster.resolving import assumed, clean, resolve_text
from tests.effort import each

H100 = "cluster: {platform: dgx-h100, nodes: 4}\n"
WORK = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}\n"


def stack_of(layout: str) -> str:
    design = clean(f"{H100}{WORK}layout: {layout}")
    assert design.layout is not None and design.layout.stack is not None
    return design.layout.stack.id


@each(
    ("layout", "stack"),
    [
        ("{software: megatron-core 0.4}", "megatron-core-2023"),
        ("{software: megatron-core 0.7}", "megatron-core-2024"),
        ("{software: megatron-core 0.15}", "megatron-core-2025"),
        ("{software: megatron-core 0.15.2}", "megatron-core-2025"),
        ("{software: megatron-core v0.18.0rc1}", "megatron-core-2026"),
        ("{software: megatron-core 0.15, software_year: 2021}", "megatron-core-2025"),
        ("{software: megatron-bridge 0.2}", "megatron-core-2025"),  # its own numbers, not those of Megatron Core
        ("{software: megatron-bridge 0.3.1}", "megatron-core-2026"),
        ("{software: nemo 25.11}", "megatron-core-2025"),
        ("{software: nemo 24.07}", "megatron-core-2024"),
        ("{software: nemo 2.0}", "megatron-core-2026"),
        ("{software: fsdp 2.1.2}", "fsdp-2023"),
        ("{software: fsdp 2.9}", "fsdp-2024"),
        ("{software: fsdp 2.10}", "fsdp-2026"),
        ("{framework: megatron-core, software_year: 2022}", "megatron-core-2021"),
        ("{framework: megatron-core, software_year: 2019}", "megatron-core-2021"),
        ("{framework: megatron-core}", "megatron-core-2026"),
        ("{framework: nemo, software_year: 2025}", "megatron-core-2025"),
        ("{framework: deepspeed, software_year: 2021}", "deepspeed-2023"),
    ],
)
def test_a_layout_means_one_generation(layout: str, stack: str) -> None:
    assert stack_of(layout) == stack


def test_a_known_release_is_no_assumption() -> None:
    keys = assumed(clean(f"{H100}{WORK}layout: {{software: megatron-core 0.15}}"))
    assert "layout.software" not in keys and "layout.software_year" not in keys


@pytest.mark.parametrize(
    ("written", "nearest"), [("0.20", "0.19"), ("0.1", "0.3"), ("1.2", "0.19"), ("0.10.1", None), ("0.9.9", None)]
)
def test_an_unknown_release_takes_the_nearest_known_one(written: str, nearest: str | None) -> None:
    """The newest that is not newer, else the oldest; a patch of a known release is known."""
    keys = assumed(clean(f"{H100}{WORK}layout: {{software: megatron-core {written}}}"))
    assert keys.get("layout.software") == (f"megatron-core {nearest}" if nearest else None)


def test_a_framework_without_known_releases_takes_the_newest_year() -> None:
    keys = assumed(clean(f"{H100}{WORK}layout: {{software: maxtext 0.1}}"))
    assert keys["layout.software_year"] == 2026


def test_a_framework_without_entries_takes_those_of_another() -> None:
    keys = assumed(clean(f"{H100}{WORK}layout: {{framework: custom}}"))
    assert keys["layout.stack"] == "custom-2021"
    assert assumed(clean(f"{H100}{WORK}layout: {{tp: 8}}"))["layout.stack"] == "megatron-core-2026"


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ("{software: megatrom 0.15}", "does not name a framework of the format"),
        ("{software: nemo 2.0, framework: torchtitan}", "a release of nemo, but `framework` is torchtitan"),
    ],
)
def test_unknown_software_is_reported(layout: str, said: str) -> None:
    _, problems = resolve_text(f"{H100}{WORK}layout: {layout}")
    assert [(one.rule, one.path) for one in problems] == [("unknown-choice", ("layout", "software"))]
    assert said in problems[0].message and problems[0].help


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("pytorch", "fsdp"),
        ("Megatron_LM", "megatron-core"),
        ("deepspeed-ulysses", "deepspeed"),
        ("torchtitam", "torchtitan"),
        ("TransformerEngine", None),
    ],
)
def test_a_name_in_use_leads_to_its_framework_and_an_unlike_name_to_none(name: str, meant: str | None) -> None:
    for layout in (f"{{framework: {name}}}", f"{{software: {name} 1.2}}"):
        _, (problem,) = resolve_text(f"{H100}{WORK}layout: {layout}")
        written = problem.fix.replacements[0].text if problem.fix else None
        assert written == (meant and layout.replace("}", "").partition(": ")[2].replace(name, meant))


@pytest.mark.parametrize(
    ("first", "second"), [("0.9", "0.10"), ("0.15", "0.15.1"), ("1.3.0rc1", "1.3.1"), ("2025.12", "2026.1")]
)
def test_releases_are_ordered_by_their_numbers(first: str, second: str) -> None:
    assert version_numbers(first) < version_numbers(second)


def test_full_sharding_of_early_releases_uses_another_framework() -> None:
    """Megatron-LM of 2021 shards weights with DeepSpeed, whose buffers and limits count then; its kernels stay."""
    text = "{{framework: megatron-core, software_year: {}, sharding: {}}}"
    old, new = (clean(f"{H100}{WORK}layout: {text.format(year, 'fsdp')}").layout for year in (2021, 2025))
    assert old and new and old.stack and new.stack
    assert old.stack.id == "megatron-core-2021"
    assert [old.stack.memory_of(sharding).buckets for sharding in ("fsdp", "zero1")] == [1e9, 0]
    assert new.stack.memory_of("fsdp").buckets == 0
    assert old.stack.memory_of("fsdp").live == 1e9


def test_the_reason_names_what_is_not_known() -> None:
    def why(layout: str) -> str:
        design = clean(f"{H100}{WORK}layout: {layout}")
        return next(reason for key, _, reason in design.assumptions if key == "layout.software_year")

    assert why("{framework: maxtext}") == "the newest known"
    assert why("{software: maxtext 0.1}") == "the catalog has no release of maxtext: the newest year"


@pytest.mark.parametrize(
    ("layout", "year"),
    [
        ("{software: megatron-core 0.3}", 2023),
        ("{software: megatron-core 0.9}", 2024),
        ("{software: fsdp 2.7}", 2025),
        ("{software: nemo 25.02}", 2025),
    ],
)
def test_a_release_has_a_year_of_its_own(layout: str, year: int) -> None:
    """Kernels of attention follow the year: that of the release, not the first of its generation."""
    design = clean(f"{H100}{WORK}layout: {layout}")
    assert design.layout is not None
    assert design.layout.software_year == year
