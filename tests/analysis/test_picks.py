"""What search picks: it fits at the upper end of its memory range, and draws no warning that another layout avoids."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from clusterspec import studies
from clusterspec.analysis.rewrite import text_with_layout
from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.picks import Candidate, tie_order, tied_layouts
from clusterspec.analysis.searches.space.families import families, layout_of, section_of
from clusterspec.analysis.searches.space.kept import Kept, lowest_of_families
from clusterspec.analysis.searches.space.run import EvaluatedBlock, Limits
from clusterspec.analysis.searches.space.run import search as run_search
from clusterspec.analysis.searches.space.searches import evaluation
from clusterspec.analysis.searches.studied import Pins, SearchOptions, Space, StudyVariations
from clusterspec.cli import run
from clusterspec.cost.plan import TIE
from clusterspec.finding import Severity
from clusterspec.results.search import LayoutRow
from tests.analysis.jobs import DENSE, EXPERT, JOBS, SHARDED, design_of, job, study_of
from tests.effort import sampled, telling, thorough

BY_HAND = {
    "mi300x": """
cluster: {platform: mi300x-ubb8, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {framework: torchtitan}
""",
    "gb200": """
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 288, precision: fp8}
layout: {framework: megatron-core, tp: 4}
""",
    "trainium": """
cluster: {platform: aws-trn2-48xlarge, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {framework: neuronx-distributed, tp: 8}
""",
    "gaudi": """
cluster: {platform: gaudi3-hls, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {framework: megatron-deepspeed, tp: 2}
""",
    "long": """
cluster: {platform: dgx-h200, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 131072, global_batch: 8}
layout: {framework: megatron-core, tp: 2, cp: 4}
""",
    "without a layout": """
cluster: {platform: dgx-b200, nodes: 1}
workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 64}
""",
    "tight": """
cluster: {platform: dgx-a100, nodes: 2}
workload: {model: llama-2-13b, sequence_length: 4096, global_batch: 64}
layout: {framework: megatron-core, tp: 4, sharding: none}
""",
}
SPECS = JOBS | BY_HAND
FULLY_SHARDED = """
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 32}
layout: {framework: megatron-core, software_year: 2024, tp: 2}
"""


def pasted(text: str, row: LayoutRow) -> studies.Study:
    """The spec with the layout of a row, read from its text."""
    one = study_of(text)
    return studies.study_text(text_with_layout(one, row.layout), one.settings)


@thorough
@pytest.mark.parametrize("name", sampled(SPECS, 4))
def test_a_pick_fits_at_the_upper_end_of_its_range_and_draws_what_is_printed(name: str) -> None:
    report = search(study_of(SPECS[name]), SearchOptions({"cp": 1} if name != "long" else {}, top=2))
    assert not report.unsure
    pick = report.layouts[0]
    settings = [{key: value for key, value in row.layout.items() if key != "order"} for row in report.layouts]
    assert settings[0] not in settings[1:], "tied layouts that differ only in the order of their axes"
    study = pasted(SPECS[name], pick)
    assert study.plan.memory_range is not None and study.plan.memory_capacity is not None
    assert study.plan.memory_range[1] <= study.plan.memory_capacity
    assert pick.surely_fits and pick.memory_range == pytest.approx(study.plan.memory_range, rel=1e-9)
    assert pick.step_time == pytest.approx(study.plan.step_seconds, rel=1e-9)
    assert set(pick.findings) == {found.rule for found in study.findings}
    assert not [found for found in study.findings if found.severity is Severity.ERROR]


@thorough
@pytest.mark.parametrize("text", sampled([DENSE, EXPERT, SHARDED], 1))
def test_the_pick_is_the_fastest_of_the_layouts_with_the_fewest_warnings_whatever_their_notes(text: str) -> None:
    pins = {"cp": 1, "micro_batch": 1, "virtual_stages": 1}
    report, searched = search(study_of(text), SearchOptions(pins, top=1)), job(text)
    space, studied = Space(list(families(searched, Pins(pins)))), StudyVariations(study_of(text))
    memory = searched.cluster.accelerator.memory
    pick, fastest = report.layouts[0], dict[tuple[int, ...], float]()
    assert memory is not None and pick.high is not None and pick.step_time is not None
    for block in evaluation(studied.one.design, searched)(space):
        for number, seconds, upper in zip(block.number, block.step_time, block.upper, strict=True):
            choice = space.choice(int(number))
            if seconds <= pick.high and upper <= memory.value and choice.order == ("tp", "cp", "ep", "dp", "pp"):
                other = Candidate.of(number, studied.with_layout(section_of(searched, choice)), studied)
                if not other.errors:
                    counts = other.objection_counts
                    fastest[counts] = min(seconds, fastest.get(counts, seconds))
    drawn = Counter(found.severity.rank for found in pasted(text, pick).findings if found.path[:1] == ("layout",))
    assert min(fastest) == (drawn[0], drawn[1])
    assert pick.step_time <= fastest[min(fastest)] * (1 + TIE)


NOTED = """
cluster: {platform: tpu-v6e, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {framework: maxtext, sharding: fsdp}
"""


def test_a_note_puts_no_slower_layout_first() -> None:
    """A group off the axes of the torus has half of the bandwidth, as the note says; its step contains that."""
    found = search(study_of(NOTED), SearchOptions({"cp": 1, "pp": 1, "sharding": "fsdp"}, top=3))
    times = [row.step_time or 0.0 for row in found.layouts]
    assert "group-off-torus-axis" in found.layouts[0].findings
    assert times[0] <= min(times) * (1 + TIE)
    assert found.layouts[0].step_time == pytest.approx(found.pareto[0].step_time, rel=TIE)


def test_where_nothing_surely_fits_the_best_that_may_fit_is_marked() -> None:
    large = DENSE.replace("llama-3.1-8b", "llama-3.1-70b")
    pins = {"tp": 8, "pp": 2, "cp": 1, "micro_batch": 1, "recompute": "none", "sharding": "zero1", "virtual_stages": 1}
    capacity = job(large).cluster.accelerator.memory
    assert capacity is not None
    report = search(study_of(large), SearchOptions(pins, top=1))
    found = report.layouts[0] if report.layouts else report.smallest
    assert found is not None and found.memory_range is not None
    assert report.fitting == 0 and found.memory_range[1] > capacity.value
    assert report.unsure == (found.memory is not None and found.memory <= capacity.value)


@thorough
def test_less_headroom_allows_what_may_fit() -> None:
    text = BY_HAND["tight"]
    sure, likely = (
        search(study_of(text), SearchOptions({"cp": 1, "pp": 1}, top=4, min_headroom=headroom))
        for headroom in (None, 0.0)
    )
    assert (sure.fitting, sure.may_fit) == (likely.fitting, likely.may_fit)
    assert all(row.surely_fits for row in sure.layouts)
    assert all(row.fits for row in likely.layouts)


@telling(1)
@pytest.mark.parametrize("framework", ["megatron-core", "custom"])
def test_the_upper_end_on_columns_is_that_of_the_explained_memory(framework: str) -> None:
    text = EXPERT.replace("megatron-core", framework)
    searched, design = job(text), design_of(text)
    space = Space(list(families(searched, Pins({"cp": 1, "micro_batch": 2, "tp": 2, "virtual_stages": 1}))))
    studied = StudyVariations(study_of(text))
    uppers = {int(n): (m, u) for block in evaluation(design, searched)(space) for n, m, u in _rows(block)}
    for number in range(0, space.size, max(1, space.size // 12)):
        plan = studied.with_layout(section_of(searched, space.choice(number))).plan
        assert plan.memory is not None and plan.memory_range is not None
        upper = plan.memory.total.ends[1]  # the range reaches further, to what the allocator keeps and gives back
        assert uppers[number] == pytest.approx((plan.memory_bytes, upper), rel=1e-9)
        assert plan.memory_range[1] >= upper


def _rows(block: EvaluatedBlock) -> list[tuple[float, float, float]]:
    return list(zip(block.number, block.memory, block.upper, strict=True))


def test_the_memory_of_a_layout_does_not_depend_on_the_sharding_of_the_spec() -> None:
    """Megatron Core of 2024 shards weights with DeepSpeed's code, whose logits and buckets take other memory."""
    studied, searched = StudyVariations(study_of(FULLY_SHARDED)), job(FULLY_SHARDED)
    space = Space(list(families(searched, Pins({"tp": 2, "cp": 1, "pp": 1, "micro_batch": 1, "recompute": "none"}))))
    held = {int(n): m for block in evaluation(studied.one.design, searched)(space) for n, m, _ in _rows(block)}
    kinds = {space.choice(number).sharding.kind for number in held}
    assert {"zero1", "fsdp"} <= kinds
    for number, memory in held.items():
        plan = studied.with_layout(section_of(searched, space.choice(number))).plan
        assert memory == pytest.approx(plan.memory_bytes, rel=1e-9)


def test_the_smallest_layout_of_a_block_without_a_path_gives_way_to_another() -> None:
    searched = job(DENSE)
    space = Space(list(families(searched, Pins({"cp": 1, "pp": 1, "micro_batch": 1}))))
    block = EvaluatedBlock([0, 1, 2], [float("inf"), 2.0, 1.0], [1e9, 2e9, 3e9], [1e9, 2e9, 3e9])
    found = run_search(space, lambda _: iter([block]), Limits(80e9), top=1)
    assert found.smallest is not None and found.smallest.number == 1


def test_columns_and_lists_give_the_same_best_of_each_family() -> None:
    import numpy

    values, numbers, firsts = [3.0, 1.0, 1.0, 5.0, 4.0, 2.0], [0, 1, 4, 6, 1, 5], [0, 2, 4, 9]
    alone = lowest_of_families(values, numbers, firsts)
    together = lowest_of_families(numpy.array(values), numpy.array(numbers), firsts)  # type: ignore[arg-type]
    assert alone == together == [1, 2, 4, 5]


H100 = "cluster: {platform: dgx-h100, nodes: 2}\n"
TRAINING = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (H100 + TRAINING.replace(", global_batch: 64", ""), "global_batch"),
        (H100.replace(", nodes: 2", "") + TRAINING, "nodes"),
        (H100, "`workload` is missing"),
        (H100 + "workload: {kind: serve, model: llama-3.1-8b, sequence_length: 4096}\n", "workload.serving"),
        (TRAINING, "`cluster` is missing"),
    ],
)
def test_an_incomplete_spec_says_what_is_missing(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text("clusterspec: 1\nname: test\n" + text)
    assert run(["search", str(spec)]) == 1
    printed = capsys.readouterr().out
    assert words in printed and "0 layouts" not in printed and "0 plans" not in printed


def test_layouts_within_a_tie_of_the_first_are_ordered_by_memory() -> None:
    """The third is within a tie of the second, not of the first; the fourth begins another group."""
    one, end = job(DENSE), 1 + TIE
    space = Space(list(families(one)))
    kept = [Kept(key, key, memory, number) for number, (key, memory) in enumerate(TIED)]
    assert [each.number for each in tie_order(one, space, kept)] == [1, 0, 2, 4, 3]
    assert [each.number for each in tie_order(one, space, kept, end=end)] == [1, 0]
    assert [each.number for each in tie_order(one, space, [*kept, kept[0]])] == [1, 0, 2, 4, 3]
    assert [each.number for each in tied_layouts(kept)] == [0, 1]


TIED = [(1.0, 9e9), (1 + TIE, 5e9), (1 + 1.5 * TIE, 1e9), (2.0, 3e9), (2 + TIE, 2e9)]
"""Keys and memory of layouts."""


def test_an_explanation_adds_up() -> None:
    report = search(study_of(DENSE), SearchOptions({"cp": 1, "recompute": "none"}, top=2, explain=True))
    best, second, own = report.layouts[0], report.layouts[1], report.present
    assert own is not None and [each.other for each in report.comparisons] == ["next", "spec"]
    for found, other in zip(report.comparisons, (second, own), strict=True):
        assert best.step_time is not None and other.step_time is not None
        assert found.seconds == pytest.approx(best.step_time - other.step_time)
        assert best.memory is not None and other.memory is not None
        assert found.memory == best.memory - other.memory
        assert sum(seconds for _, seconds in found.parts) == pytest.approx(found.seconds, abs=1e-9)


@thorough
def test_tables_are_no_wider_than_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    spec = tmp_path / "spec.yaml"
    spec.write_text("clusterspec: 1\nname: test" + EXPERT)
    run(["search", str(spec), "--set", "cp=1", "--set", "pp=1", "--explain"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


BLOCK = """layout:
    # by hand
    framework: megatron-core   # the usual
    tp: 2   # narrow
    pp: 4
    stage_layers:
    - 7
    - 7
    - 7
    - 7
    cp: 1
"""
LAYOUTS = {
    "block": BLOCK,
    "flow": "layout: {framework: megatron-core, tp: 2, pp: 4, stage_layers: [7, 7, 7, 7]}  # kept\n",
    "short": "layout: {tp: 2}\n",
    "empty": "layout: {}\n",
    "absent": "",
}
HEAD = """# first
clusterspec: 1
name:   test # name
cluster: {platform: dgx-h100,  nodes: 2} # two
workload:
    model: llama-3.2-3b
    sequence_length: 4096
    global_batch: 16

"""
UNEVEN: dict[str, object] = {"tp": 1, "pp": 3, "stage_layers": [9, 10, 9], "order": ["tp", "dp", "pp"]}


@pytest.mark.parametrize("style", LAYOUTS)
def test_writing_changes_the_lines_of_the_layout_alone(style: str) -> None:
    after = "# last\n" if LAYOUTS[style] else ""
    one = studies.study_text(HEAD + LAYOUTS[style] + after, study_of(DENSE).settings)
    text = text_with_layout(one, UNEVEN)
    assert text.startswith(HEAD + "layout:") and text.endswith(after)
    assert "stage_layers: [9, 10, 9]" in text
    written = studies.study_text(text, one.settings).document
    assert written is not None and written.value["layout"] == UNEVEN


def test_writing_keeps_the_comments_of_keys_that_stay() -> None:
    one = studies.study_text(HEAD + BLOCK, study_of(DENSE).settings)
    text = text_with_layout(one, {"framework": "megatron-core", "tp": 8, "pp": 1})
    assert text == HEAD + (
        "layout:\n    # by hand\n    framework: megatron-core   # the usual\n    tp: 8   # narrow\n    pp: 1\n"
    )


def test_the_layout_of_a_pick_is_the_layout_that_was_evaluated() -> None:
    searched = job(EXPERT)
    space = Space(list(families(searched, Pins({"cp": 1, "micro_batch": 1, "recompute": "full"}))))
    studied = StudyVariations(study_of(EXPERT))
    for number in range(0, space.size, max(1, space.size // 10)):
        choice = space.choice(number)
        assert studied.with_layout(section_of(searched, choice)).design.layout == layout_of(searched, choice)
