"""Candidate layouts of starting specs, worked out by hand from round machines."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.catalog.models import Model
from clusterspec.cli import UsageFault, starting, starting_layouts
from clusterspec.cli.starting import RankedSpec, StartingSpec
from clusterspec.cli.starting_layouts import NODES, Attempt, candidate_layouts
from clusterspec.cost.parameters import model_weights
from clusterspec.records import replace
from clusterspec.rules.fabric.roce_without_flow_control import TECHNOLOGIES
from clusterspec.studies import study_text
from tests.designs import TRAINED, study_of
from tests.effort import thorough
from tests.settings import SETTINGS

CATALOG = SETTINGS.catalog
DGX, GAUDI, V5P = (CATALOG.platform(name) for name in ("dgx-h100", "gaudi3-hls", "tpu-v5p"))
H100 = CATALOG.accelerator("h100-sxm-80gb")
SMALL, LARGE, SPARSE = (CATALOG.model(name) for name in ("llama-3.1-8b", "llama-3.1-70b", "deepseek-v3"))


def with_memory(bytes_: float) -> Accelerator:
    assert isinstance(H100, Accelerator) and H100.memory is not None
    return replace(H100, memory=replace(H100.memory, value=bytes_))


@pytest.mark.parametrize(("kind", "each"), [("train", 16), ("serve", 1)])
def test_the_fewest_nodes_are_those_whose_memory_holds_the_parameters(kind: str, each: int) -> None:
    """8 accelerators a node; exactly the memory of four nodes is enough, a byte less needs eight."""
    needed = model_weights(SMALL).total * each
    for nodes, place in ((1, 0), (2, 1), (4, 2), (1024, 10)):
        assert starting_layouts._fewest_nodes(DGX, with_memory(needed / (8 * nodes)), SMALL, kind) == place
        less = with_memory(needed / (8 * nodes) * 0.999)
        assert starting_layouts._fewest_nodes(DGX, less, SMALL, kind) == min(place + 1, len(NODES) - 1)
    assert starting_layouts._fewest_nodes(DGX, None, SMALL, kind) == 0
    assert starting_layouts._fewest_nodes(DGX, replace(with_memory(1.0), memory=None), SMALL, kind) == 0


@pytest.mark.parametrize(
    ("platform", "kind", "unit"),
    [
        ("aws-p6e-gb200-36xlarge", "train", 9),
        ("aws-trn3-ultra-gen2", "serve", 36),
        ("aws-trn2u-48xlarge", "train", 4),
        ("dgx-h100", "train", 1),
    ],
)
def test_nodes_grow_by_the_units_that_a_platform_is_sold_in(platform: str, kind: str, unit: int) -> None:
    """A small model fits on one unit; what is sold by the node begins with one node."""
    machine = CATALOG.platform(platform)
    assert isinstance(machine, Platform) and machine.sold_nodes == unit
    chip = CATALOG.accelerator(machine.accelerator or "")
    tried = [one.nodes for one in candidate_layouts(machine, chip, SMALL, kind, None)]
    assert tried[0] == unit and {nodes % unit for nodes in tried} == {0}
    needed = model_weights(SMALL).total * 16
    each = (machine.accelerators_per_node or 1) * unit
    assert starting_layouts._fewest_nodes(machine, with_memory(needed / (2 * each)), SMALL, "train") == 1, "two units"


def test_a_serving_template_has_a_request_for_each_engine() -> None:
    """144 accelerators in engines of 4 are 36 engines, and 16 requests would leave 20 idle; 2 engines have 16."""
    for ranks, tp, requests in ((144, 4, 36), (8, 4, 16), (64, 4, 16), (68, 4, 17)):
        text = Attempt(1, tp, 1, 1, "none", "bf16", ranks).text(DGX, SMALL, "serve", "vllm")
        assert f"concurrency: {requests} " in text


def found(kind: str = "train", nodes: int = 1, model: Model = SMALL, chip: Accelerator | None = H100) -> list[Attempt]:
    return list(starting_layouts._layouts_on_nodes(nodes, DGX, chip, model, kind))


def degrees(attempts: list[Attempt]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((one.tp, one.pp) for one in attempts))


def test_layouts_of_one_node_begin_with_the_lowest_degrees() -> None:
    """8 ranks; stages begin where tp takes four ranks; without recomputation first."""
    attempts = found()
    assert degrees(attempts) == [(1, 1), (2, 1), (4, 1), (8, 1), (4, 2)]
    assert list(dict.fromkeys(one.recompute for one in attempts)) == ["none", "selective", "full"]
    assert all(one.ranks == 8 and one.nodes == 1 and one.ep == 1 and one.precision == "bf16" for one in attempts)
    assert degrees(found("serve")) == [(1, 1), (2, 1), (4, 1), (8, 1), (4, 2)]
    assert {one.recompute for one in found("serve")} == {"none"}


def test_tensor_parallelism_stays_in_the_domain_and_divides_the_ranks() -> None:
    three = found(nodes=3)
    assert max(one.tp for one in three) == 8
    assert {one.pp for one in three if one.tp == 8} == {1, 3}, "24 ranks: three stages, and no power of two"
    assert all(24 % (one.tp * one.pp) == 0 for one in three)
    assert {one.pp for one in three} == {1, 2, 3}
    alone = replace(DGX, domain=None, accelerators_per_node=None)
    assert degrees(list(starting_layouts._layouts_on_nodes(2, alone, H100, SMALL, "train"))) == [(1, 1), (1, 2)]


def test_stages_are_at_most_the_layers() -> None:
    shallow = replace(SMALL, layers=2)
    assert {one.pp for one in found(nodes=8, model=shallow)} == {1, 2}
    unknown = replace(SMALL, layers=0)
    assert max(one.pp for one in found(nodes=8, model=unknown)) == 16


@pytest.mark.parametrize(("kind", "each"), [("train", 6), ("serve", 1)])
def test_the_split_is_wide_enough_for_the_part_that_data_parallelism_does_not_divide(kind: str, each: int) -> None:
    """With a quarter of that part as memory, four ranks of a replica are the fewest."""
    chip = with_memory(model_weights(SMALL).total * each / 4)
    assert min(one.tp * one.pp for one in found(kind, chip=chip)) == 4
    assert min(one.tp * one.pp for one in found(kind, chip=with_memory(model_weights(SMALL).total * each / 3.99))) == 4
    assert min(one.tp * one.pp for one in found(kind, chip=None)) == 1


def test_experts_lie_on_the_ranks_of_degrees_that_divide_them() -> None:
    assert starting_layouts._expert_degrees(SPARSE, 64, "train") == (8, 16, 32, 64, 1)
    assert starting_layouts._expert_degrees(SPARSE, 63, "train") == (8, 16, 32, 1)
    assert starting_layouts._expert_degrees(replace(SPARSE, experts=24), 64, "train") == (8, 1)
    assert starting_layouts._expert_degrees(SPARSE, 64, "serve") == (1,)
    assert starting_layouts._expert_degrees(LARGE, 64, "train") == (1,)
    spread = found(nodes=4, model=SPARSE, chip=None)
    assert any(one.pp > 1 and one.tp == 1 and one.ep > 1 for one in spread), "experts need no tensor parallelism"


def test_layouts_are_those_of_the_nodes_or_of_growing_numbers_of_them() -> None:
    stated = list(candidate_layouts(DGX, H100, SMALL, "train", 3))
    assert {one.nodes for one in stated} == {3} and len(stated) <= starting_layouts.MOST_OF_NODES
    grown = candidate_layouts(DGX, H100, LARGE, "train", None)
    assert next(grown).nodes == NODES[starting_layouts._fewest_nodes(DGX, H100, LARGE, "train")]


@pytest.mark.parametrize(
    ("peaks", "unpublished", "kind", "precision"),
    [
        (("bf16", "fp8"), (), "train", "bf16"),
        (("fp8", "fp16"), (), "train", "fp16"),
        (("fp8",), ("bf16",), "train", "fp8"),
        ((), ("fp32", "fp8"), "train", "fp8"),
        (("fp4",), (), "serve", "fp4"),
        (("fp4",), (), "train", "bf16"),
    ],
)
def test_the_precision_is_the_most_usual_with_a_published_peak(
    peaks: tuple[str, ...], unpublished: tuple[str, ...], kind: str, precision: str
) -> None:
    figure: Any = next(iter(H100.peaks.values()))
    chip: Any = replace(H100, peaks=dict.fromkeys(peaks, figure), unpublished_peaks=unpublished)
    assert starting_layouts._usual_precision(chip, kind) == precision
    assert starting_layouts._usual_precision(None, kind) == "bf16"


@pytest.mark.parametrize(
    ("vendor", "kind", "names"),
    [
        ("NVIDIA", "train", ["megatron-core", "maxtext", "custom"]),
        ("Google", "train", ["maxtext", "custom"]),
        ("AWS", "train", ["neuronx-distributed", "custom"]),
        ("NVIDIA", "serve", ["vllm", "sglang", "custom"]),
        ("nobody", "serve", ["custom"]),
    ],
)
def test_usual_frameworks_run_on_accelerators_of_the_vendor(vendor: str, kind: str, names: list[str]) -> None:
    assert list(starting._usual_frameworks(CATALOG, vendor, kind)) == names


def text_of(attempt: Attempt, kind: str = "train", model: Model = SMALL, platform: Platform = DGX) -> str:
    return attempt.text(platform, model, kind, "megatron-core")


def test_a_spec_states_its_degrees_above_one() -> None:
    plain, split = Attempt(2, 4, 1, 1, "none", "bf16", 16), Attempt(2, 4, 2, 8, "full", "fp8", 16)
    one, two = text_of(plain), text_of(split)
    assert "  pp: 1 " in one and "\n  ep: " not in one and "recompute: none" in one and "micro_batch: 1" in one
    assert "  pp: 2 " in two and "\n  ep: 8" in two and "precision: fp8" in two and "recompute: full" in two
    served = text_of(plain, "serve")
    assert "pp:" not in served and "recompute" not in served and "kind: serve" in served
    assert "  pp: 2 " in text_of(split, "serve")
    assert "sequence_length: 8192 " in one and f"global_batch: {plain.global_batch} " in one


@pytest.mark.parametrize(
    ("longest", "length", "prompt"), [(None, 8192, 2048), (4096, 4096, 2048), (300, 300, 44), (256, 256, 1)]
)
def test_sequences_fit_in_the_context_of_the_model(longest: int | None, length: int, prompt: int) -> None:
    attempt, model = Attempt(1, 1, 1, 1, "none", "bf16", 8), replace(SMALL, max_sequence_length=longest)
    assert f"sequence_length: {length} " in text_of(attempt, model=model)
    assert f"input_tokens: {prompt} " in text_of(attempt, "serve", model)


def test_the_precision_of_a_published_checkpoint_is_left_to_it() -> None:
    attempt = Attempt(1, 8, 1, 1, "none", "bf16", 8)
    published = text_of(attempt, "serve", SPARSE)
    assert "weights as in the published checkpoint: fp8" in published and "\n  precision:" not in published
    other = text_of(replace(attempt, precision="fp8"), "serve", SPARSE)
    assert "published checkpoint" not in other and "  precision: fp8" in other
    assert "published checkpoint" not in text_of(attempt, "train", SPARSE)
    assert starting_layouts._checkpoint_text(replace(SPARSE, checkpoint_expert_precision="fp4")).endswith(
        "fp8, experts fp4"
    )
    assert starting_layouts._checkpoint_text(SMALL) == ""


def test_flow_control_is_stated_where_ethernet_drops_packets_and_nobody_states_it() -> None:
    roce = CATALOG.platform("gaudi3-hls")
    assert isinstance(roce, Platform)
    known = next(iter(TECHNOLOGIES))
    lossy = replace(roce, technologies=(known,), cloud=False, pfc=None, ecn=None)
    assert "flow_control: {pfc: true, ecn: true}" in starting_layouts._scale_out_text(lossy, {})
    for stated in ({"cloud": True}, {"pfc": False}, {"ecn": True}, {"technologies": ("infiniband-ndr", known)}):
        changed: dict[str, Any] = dict(stated)
        assert starting_layouts._scale_out_text(replace(lossy, **changed), {}) == ""


def test_what_the_check_advises_stands_in_its_section() -> None:
    advised: dict[Any, str] = {("cluster", "scale_out", "placement"): "near", ("layout", "stage_layers"): "[1, 2]"}
    text = Attempt(2, 4, 2, 1, "none", "bf16", 16).text(DGX, SMALL, "train", "megatron-core", advised)
    assert "\n  scale_out:\n    placement: near\n" in text and text.count("scale_out:") == 1
    assert text.index("layout:\n") < text.index("  stage_layers: [1, 2]\n")


def test_the_bubble_of_a_starting_batch_is_a_tenth_at_most() -> None:
    """31 of 279 + 31 micro-batches: 9 × 31 for each of two replicas; without stages 256 sequences are enough."""
    assert Attempt(8, 1, 32, 1, "none", "bf16", 64).global_batch == 2 * 279
    assert Attempt(8, 1, 2, 1, "none", "bf16", 64).global_batch == 9 * 32
    assert Attempt(8, 1, 1, 1, "none", "bf16", 64).global_batch == 256


def test_stages_begin_without_tensor_parallelism_where_pcie_joins_the_accelerators() -> None:
    pcie = replace(DGX, interconnect="pcie-5")
    assert (1, 2) in degrees(list(starting_layouts._layouts_on_nodes(1, pcie, H100, SMALL, "train")))
    assert (1, 2) not in degrees(found())
    for interconnects, joined in ((("pcie-4",), True), (("nvlink-4", "pcie-4"), False), ((), False)):
        chip = replace(H100, interconnects=interconnects)
        assert starting_layouts._is_joined_by_pcie(replace(DGX, interconnect=None), chip) == joined
    assert not starting_layouts._is_joined_by_pcie(replace(DGX, interconnect=None), None)


def test_a_name_that_the_catalog_lacks_has_the_nearest() -> None:
    with pytest.raises(UsageFault, match=r"no platform `dgx-h10`; nearest: dgx-h100"):
        starting._catalog_entry(CATALOG, "platform", "dgx-h10")
    with pytest.raises(UsageFault, match=r"`8x MI300X` is a name of 3 platforms.*; write one of: mi300x-ubb8, "):
        starting._catalog_entry(CATALOG, "platform", "8x MI300X")
    with pytest.raises(UsageFault, match=r"no platform 'dgx'; there are dgx-1, .*dgx-h100, "):
        starting._catalog_entry(CATALOG, "platform", "dgx")
    with pytest.raises(UsageFault, match=r"there are qwen2.*catalog list model` lists all"):
        starting._catalog_entry(CATALOG, "model", "Qwen")
    assert starting._catalog_entry(CATALOG, "model", "llama-3.1-8b") is not None


ATTEMPT = Attempt(1, 8, 1, 1, "none", "bf16", 8)
FITS, WORSE = (0, 2, 0.5), (0, 3, 0.5)
TRIED = [  # the flaws of layouts in turn, the place of the chosen one, whether it is sound, and how many are tried
    ([starting.FLAWLESS, FITS], 0, True, 1),
    ([FITS, starting.FLAWLESS, FITS], 1, True, 2),
    ([WORSE, FITS, WORSE], 1, True, 3),
    ([FITS] * 3, 0, True, 3),  # the first of equals
    ([starting.UNSOUND], 0, False, 1),
    ([(100, 1, 0.0), starting.UNSOUND], 1, False, 2),
    ([starting.UNSOUND, FITS], 1, True, 2),
    ([FITS] * 199, 0, True, starting.MOST_BETTERED + 1),
    ([starting.UNSOUND] * 1100, 0, False, starting.MOST_TRIED),
    ([(99, 0, 0.0)], 0, True, 1),
    ([starting.UNSOUND] * (starting.MOST_TRIED - 1) + [FITS] * 9, starting.MOST_TRIED - 1, True, starting.MOST_TRIED),
    ([], None, False, 0),
]


@pytest.mark.parametrize(("flaws", "chosen", "sound", "tried"), TRIED)
def test_the_best_of_the_first_layouts_is_the_start(
    flaws: list[tuple[int, int, float]],
    chosen: int | None,
    sound: bool,
    tried: int,
) -> None:
    study = study_of(TRAINED.replace("tp: 2", "tp: 16"))
    assert len(study.errors) == 1 and study.plan.fits
    ranked = iter([RankedSpec(str(place), study, rank) for place, rank in enumerate(flaws)])
    found = StartingSpec.of(starting._best_spec([ATTEMPT] * len(flaws), lambda _: next(ranked)))
    told = () if sound or chosen is None else (f"{study.errors[0].message} ({study.errors[0].rule})",)
    assert found == ("" if chosen is None else str(chosen), sound, told)
    assert len(flaws) - len([*ranked]) == tried


def test_the_fastest_layout_of_the_fewest_nodes_is_the_start() -> None:
    """Without a warning or a note, more tokens per second come first; without such a layout, more nodes are tried."""
    speeds = [(1, (0, 1, -900.0)), (1, (0, 0, -200.0)), (1, (0, 0, -300.0)), (1, (1, 0, -999.0)), (2, (0, 0, -400.0))]
    ranked = iter([RankedSpec(str(place), study_of(TRAINED), rank) for place, (_, rank) in enumerate(speeds)])
    best = starting._best_spec([replace(ATTEMPT, nodes=nodes) for nodes, _ in speeds], lambda _: next(ranked))
    assert best is not None and best.text == "2"
    assert next(ranked).text == "4", "two nodes are not tried"


@thorough
@pytest.mark.parametrize("platform", ["aws-g6-xlarge", "aws-g5-xlarge"])
def test_notes_on_a_slow_network_take_no_more_nodes(platform: str) -> None:
    """One accelerator of 24 GB with 2.5 Gb/s starves on any number of nodes: 8B fit on 32 nodes and on no fewer."""
    found = starting.starting_spec(SETTINGS, platform, "llama-3.1-8b", "train")
    assert "\n  nodes: 32 " in found.text and found.sound


def test_notes_alone_take_no_more_nodes() -> None:
    noted = RankedSpec("noted", study_of(TRAINED), (0, 3, -300.0))
    best = starting._best_spec([replace(ATTEMPT, nodes=nodes) for nodes in (1, 2)], lambda _: noted)
    assert best == noted
    warned = RankedSpec("warned", study_of(TRAINED), (1, 0, -900.0))
    ranked = iter([warned, noted])
    assert starting._best_spec([replace(ATTEMPT, nodes=nodes) for nodes in (1, 2)], lambda _: next(ranked)) == noted


STARVED = """clusterspec: 1
cluster: {{platform: aws-g6-xlarge, nodes: {}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}}
layout: {{pp: 8, micro_batch: 1, recompute: full}}
"""


def test_a_plan_that_fits_ranks_before_one_that_does_not() -> None:
    fits, larger, unfit = (starting._spec_rank(study_text(STARVED.format(nodes), SETTINGS)) for nodes in (32, 64, 8))
    assert starting.UNSOUND <= fits < larger < unfit
