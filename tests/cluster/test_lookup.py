from __future__ import annotations

import pytest

from clusterspec.cluster.unknown_names import unknown_id_problem
from clusterspec.finding import Problem, Severity
from tests.cluster.resolving import catalog, resolve_text


def only(text: str) -> Problem:
    _, problems = resolve_text(text)
    assert len(problems) == 1, problems
    return problems[0]


UNKNOWN = [
    ("cluster: {platform: dgx-h1000, nodes: 1}", ("cluster", "platform"), "dgx-h100"),
    ("cluster: {accelerator: h100-sxm-80g, nodes: 1}", ("cluster", "accelerator"), "h100-sxm-80gb"),
    ("cluster: {accelerator: {like: mi325y, memory: 100 GB}, nodes: 1}", ("cluster", "accelerator", "like"), "mi325x"),
    (
        "cluster: {platform: dgx-h100, nodes: 1, scale_up: {interconnect: nvlink4}}",
        ("cluster", "scale_up", "interconnect"),
        "nvlink-4",
    ),
    (
        "cluster: {platform: dgx-h100, nodes: 2, scale_out: {technology: infiniband-nrd}}",
        ("cluster", "scale_out", "technology"),
        "infiniband-ndr",
    ),
    (
        "cluster: {platform: dgx-h100, nodes: 2, scale_out: {switch: quantum-2-qm970}}",
        ("cluster", "scale_out", "switch"),
        "quantum-2-qm9700",
    ),
    (
        "cluster: {platform: dgx-h100, nodes: 2}\nworkload: {model: lama-3.1-70b, sequence_length: 1, global_batch: 1}",
        ("workload", "model"),
        "llama-3.1-70b",
    ),
]


@pytest.mark.parametrize(("text", "path", "near"), UNKNOWN, ids=[near for *_, near in UNKNOWN])
def test_an_unknown_id_offers_the_nearest_ones(text: str, path: tuple[str, ...], near: str) -> None:
    problem = only(text)
    assert (problem.rule, problem.path) == ("unknown-catalog-id", path)
    assert near in problem.help
    assert len(problem.help.split(",")) <= 3


def test_a_fix_is_offered_only_when_one_id_is_clearly_meant() -> None:
    clear = only("cluster: {platform: dgx-h1oo, nodes: 1}")
    assert clear.fix is None or clear.fix.replacements[0].text == "dgx-h100"
    misspelt = only("cluster: {accelerator: h100-sxm, nodes: 1}")
    assert misspelt.fix is not None and misspelt.fix.replacements[0].text == "h100-sxm-80gb"
    assert only("cluster: {platform: something-else, nodes: 1}").fix is None


# the similarity of the nearest id, and of the next one, by the longest common parts of both names
CLEAR = [
    ("accelerator", "h100-sxm-80g", "h100-sxm-80gb"),  # 0.96, 0.69
    ("platform", "dgx-h10", "dgx-h100"),  # 0.93, 0.83
    ("platform", "gb200-nvl7", "gb200-nvl72"),  # 0.952, 0.900
    ("platform", "dgx-h300", None),  # 0.875 of three ids
    ("model", "llama-3.1-7b", None),  # 0.960, 0.917
    ("switch", "quantum-2-qm970", None),  # 0.968 of two
    ("interconnect", "nvlink-44", "nvlink-4"),
    ("accelerator", "dgx-h100", None),  # 0.38
    ("accelerator", "zzzz", None),
]


@pytest.mark.parametrize(("kind", "name", "meant"), CLEAR, ids=[name for _, name, _ in CLEAR])
def test_the_nearest_id_is_a_fix_where_it_leads_by_a_twentieth(kind: str, name: str, meant: str | None) -> None:
    found = unknown_id_problem(catalog(), kind, name, ("cluster", kind))
    assert (found.fix and found.fix.replacements[0].text) == meant
    if meant is not None:
        assert found.fix is not None and found.fix.replacements[0].path == ("cluster", kind)


def test_a_name_of_another_kind_is_told_with_what_to_write() -> None:
    for kind, name, message, help_ in (
        ("accelerator", "dgx-h100", "`dgx-h100` is a platform, not an accelerator", "nearest: h100-sxm-80gb"),
        (
            "nic",
            "infiniband-ndr",
            "`infiniband-ndr` is an interconnect, not a nic",
            "write `technology: infiniband-ndr`",
        ),
        ("accelerator", "v5p-512", "`v5p-512` names a slice, not an accelerator", "and `accelerators: 256`"),
        ("accelerator", "mi300", "`mi300` is a family of 2 parts", "write one of: mi300a, mi300x"),
        ("accelerator", "zzzz", "the catalog has no accelerator `zzzz`", "shows every accelerator"),
    ):
        found = unknown_id_problem(catalog(), kind, name, ())
        assert message in found.message and help_ in found.help, name
    usual = unknown_id_problem(catalog(), "accelerator", "zzzz", (), usual="the platform has `b200`")
    assert usual.help.startswith("the platform has `b200`; ")


NAMED = [
    ("platform", "DGX H100", "dgx-h100"),
    ("platform", "NVIDIA DGX H100", "dgx-h100"),
    ("platform", "p5.48xlarge", "aws-p5-48xlarge"),
    ("platform", "Standard_ND96isr_H100_v5", "azure-nd-h100-v5"),
    ("platform", "BM.GPU.H100.8", "oci-bm-gpu-h100-8"),
    ("accelerator", "AMD Instinct MI300X", "mi300x"),
    ("model", "meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b"),
    ("model", "meta-llama/Llama-3.1-70B", "llama-3.1-70b"),
    ("model", "deepseek-ai/DeepSeek-V3", "deepseek-v3"),
    ("model", "openai/gpt-oss-120b", "gpt-oss-120b"),
    ("nic", "slingshot-11", "slingshot-cassini"),
]


@pytest.mark.parametrize(("kind", "name", "meant"), NAMED, ids=[name for _, name, _ in NAMED])
def test_the_name_of_a_product_leads_to_its_id(kind: str, name: str, meant: str) -> None:
    problem = unknown_id_problem(catalog(), kind, name, ("cluster", kind))
    assert problem.help == f"write `{meant}`; the rest is checked with it"
    assert problem.fix is not None and not problem.fix.safe and problem.fix.replacements[0].text == meant


@pytest.mark.parametrize(
    ("name", "kept"),
    [("Qwen/Qwen3-32B-AWQ", "int4"), ("nvidia/Llama-3.3-70B-Instruct-FP8", "fp8"), ("Qwen/Qwen3-32B", None)],
)
def test_the_name_of_a_quantized_checkpoint_leads_to_its_precision_too(name: str, kept: str | None) -> None:
    found = unknown_id_problem(catalog(), "model", name, ("workload", "model"))
    assert (f"`parameter_precision: {kept}` unless it is stated" in found.help) == (kept is not None)
    assert ("parameter_precision" in found.help) == (kept is not None)


def test_the_rest_of_a_spec_is_checked_with_the_only_entry_of_a_name() -> None:
    design, problems = resolve_text("cluster: {platform: DGX H100, nodes: 3}")
    assert [problem.rule for problem in problems] == ["unknown-catalog-id"]
    assert design.cluster is not None
    assert (design.cluster.accelerator.id, design.cluster.accelerators_per_node) == ("h100-sxm-80gb", 8)


def test_an_id_of_another_kind_is_named_with_its_kind() -> None:
    problem = only("cluster: {platform: h100-sxm-80gb, nodes: 1}")
    assert problem.message == "`h100-sxm-80gb` is an accelerator, not a platform"


@pytest.mark.parametrize(
    ("network", "nic"),
    [
        ("infiniband-ndr", "`nic` as one of bluefield-3, connectx-7"),
        ("efa-v3", "no `nic`: the catalog has no adapter of this network"),
    ],
)
def test_the_technology_of_a_network_in_place_of_its_nic_leads_to_both(network: str, nic: str) -> None:
    problem = only(f"cluster: {{platform: dgx-h100, nodes: 2, scale_out: {{nic: {network}}}}}")
    assert problem.help.startswith(f"write `technology: {network}` and {nic};")


@pytest.mark.parametrize(("kind", "name"), [("model", "Qwen/Qwen30-32B"), ("platform", "VR200"), ("nic", "")])
def test_a_name_of_none_or_of_several_entries_is_no_name(kind: str, name: str) -> None:
    assert len(catalog().ids_named(kind, name)) != 1
    assert "is a name of" not in unknown_id_problem(catalog(), kind, name, ("cluster", kind)).message


@pytest.mark.parametrize("family", ["h100", "h200", "a100"])
def test_a_family_name_is_ambiguous_and_nothing_is_guessed(family: str) -> None:
    design, problems = resolve_text(f"cluster: {{accelerator: {family}, nodes: 1}}")
    assert [problem.rule for problem in problems] == ["ambiguous-form-factor"]
    assert problems[0].fix is None
    assert f"{family}-sxm" in problems[0].help
    assert design.cluster is None


def test_suggestions_have_the_right_scope() -> None:
    out = only("cluster: {platform: dgx-h100, nodes: 2, scale_out: {technology: nvlink-4}}")
    assert (out.rule, out.path) == ("unknown-catalog-id", ("cluster", "scale_out", "technology"))
    up = only("cluster: {platform: dgx-h100, nodes: 2, scale_up: {interconnect: infiniband-ndr}}")
    assert (up.rule, up.path) == ("unknown-catalog-id", ("cluster", "scale_up", "interconnect"))


def test_a_very_long_name_is_not_compared() -> None:
    assert (
        unknown_id_problem(catalog(), "model", "llama-" * 100_000, ("workload", "model")).rule == "unknown-catalog-id"
    )


SPELLED = [
    ("cluster: {accelerator: gaudi-3, nodes: 1, accelerators_per_node: 8}", "gaudi3"),
    ("cluster: {accelerator: HL-225B, nodes: 1, accelerators_per_node: 8}", "gaudi2"),
    ("cluster: {accelerator: A100 80GB SXM, nodes: 1, accelerators_per_node: 8}", "a100-sxm-80gb"),
    ("cluster: {accelerator: H100_NVLINK_80GB, nodes: 1, accelerators_per_node: 8}", "h100-sxm-80gb"),
    ("cluster: {platform: DGX H100, nodes: 1}", "dgx-h100"),
    ("cluster: {platform: HGX H100 8-GPU, nodes: 1}", "hgx-h100"),
]


@pytest.mark.parametrize(("text", "id_"), SPELLED, ids=[id_ for _, id_ in SPELLED])
def test_a_name_of_one_entry_is_a_note_and_the_rest_is_checked_with_it(text: str, id_: str) -> None:
    design, (problem, *others) = resolve_text(text)
    assert (problem.rule, problem.severity) == ("unknown-catalog-id", Severity.NOTE)
    assert f"write `{id_}`" in problem.help
    assert problem.fix is not None and not problem.fix.safe
    written, problems = resolve_text(text.replace(text.partition(": {")[2].partition(": ")[2].partition(",")[0], id_))
    assert others == list(problems)
    assert design.cluster == written.cluster is not None


def test_a_checkpoint_whose_precision_the_name_states_stays_an_error() -> None:
    work = "workload: {model: Qwen/Qwen3-8B-FP8, sequence_length: 1, global_batch: 1}"
    problem = only(f"cluster: {{platform: dgx-h100, nodes: 1}}\n{work}")
    assert (problem.rule, problem.severity) == ("unknown-catalog-id", Severity.ERROR)
    assert "parameter_precision: fp8" in problem.help


@pytest.mark.parametrize("name", ["nvidia-a100-80gb", "nvidia-tesla-v100", "rtx-pro-6000-blackwell"])
def test_words_of_several_parts_are_a_family(name: str) -> None:
    problem = only(f"cluster: {{accelerator: {name}, nodes: 1, accelerators_per_node: 8}}")
    assert (problem.rule, problem.severity) == ("ambiguous-form-factor", Severity.ERROR)
    assert "family of 2 parts" in problem.message


@pytest.mark.parametrize("name", ["efav3", "EFA v3"])
def test_a_network_as_a_nic_is_named_by_any_of_its_names(name: str) -> None:
    problem = only(f"cluster: {{platform: dgx-h100, nodes: 2, scale_out: {{nic: {name}}}}}")
    assert "write `technology: efa-v3`" in problem.help


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("NC H100 v5", "azure-nc40ads-h100-v5, azure-nc80adis-h100-v5"),
        ("8x B300", "dgx-b300, hgx-b300, aws-p6-b300-48xlarge, nebius-b300, oci-bm-gpu-b300-8"),
        ("P6e instances", "aws-p6e-gb200-36xlarge, aws-p6e-gb300-36xlarge"),
    ],
)
def test_a_name_of_several_platforms_is_an_error_that_lists_all(name: str, ids: str) -> None:
    problem = only(f"cluster: {{platform: {name}, nodes: 1}}")
    number = len(ids.split(", "))
    assert problem.message == f"`{name}` is a name of {number} platforms, and no id of the catalog"
    assert problem.help.startswith(f"write one of: {ids};")
    assert (problem.severity, problem.fix) == (Severity.ERROR, None)


def test_a_name_of_one_platform_is_a_note_with_its_id() -> None:
    problem = unknown_id_problem(catalog(), "platform", "GB200 NVL72 rack", ("cluster", "platform"))
    assert problem.severity is Severity.NOTE
    assert problem.message == "`GB200 NVL72 rack` is a name of the platform `gb200-nvl72`, and no id of the catalog"
    assert problem.fix is not None and problem.fix.replacements[0].text == "gb200-nvl72"


@pytest.mark.parametrize(
    ("name", "id_", "is_spelling"),
    [("tensorrt-llm", "trt-llm", False), ("TensorRT LLM", "trt-llm", False), ("SGLang", "sglang", True)],
)
def test_a_name_of_one_framework_is_a_note_and_the_rest_is_checked_with_it(
    name: str, id_: str, is_spelling: bool
) -> None:
    served = (
        "workload: {kind: serve, model: llama-3.1-8b, serving: {concurrency: 4, input_tokens: 9, output_tokens: 9}}"
    )
    design, problems = resolve_text(
        f"cluster: {{platform: dgx-h100, nodes: 1}}\n{served}\nlayout: {{framework: {name}, tp: 2}}"
    )
    (problem,) = problems
    assert (problem.severity, problem.rule) == (Severity.NOTE, "unknown-choice")
    assert problem.message == f"`{name}` is a name of the framework `{id_}`, and no id of the catalog"
    assert problem.fix is not None and problem.fix.safe is is_spelling
    assert design.layout is not None and design.layout.framework == id_


H100 = "cluster: {accelerator: h100-sxm-80gb, nodes: 16, accelerators_per_node: 8"


@pytest.mark.parametrize(
    ("machine", "name", "why", "meant"),
    [
        (
            f"{H100}, scale_out: {{technology: infiniband, nic_bandwidth: 200 Gb/s}}}}",
            "infiniband",
            "NICs of 200 Gb/s have",
            "infiniband-hdr",
        ),
        (
            f"{H100}, scale_out: {{technology: InfiniBand, nic: connectx-8}}}}",
            "InfiniBand",
            "NICs of 800 Gb/s have",
            "infiniband-xdr",
        ),
        (f"{H100}, scale_out: {{technology: infiniband}}}}", "infiniband", "the machine has", "infiniband-ndr"),
        (f"{H100}, scale_up: {{interconnect: nvlink}}}}", "nvlink", "the machine has", "nvlink-4"),
    ],
)
def test_the_family_of_a_network_is_a_note_with_the_generation_of_its_nics_or_of_the_machine(
    machine: str, name: str, why: str, meant: str
) -> None:
    problem = only(machine)
    assert problem.severity is Severity.NOTE
    assert problem.message == f"`{name}` is a family of networks; {why} `{meant}`"
    assert problem.fix is not None and problem.fix.replacements[0].text == meant


def test_the_family_of_a_network_without_one_generation_that_fits_is_an_error() -> None:
    problem = only(f"{H100}, scale_out: {{technology: infiniband, nic_bandwidth: 300 Gb/s}}}}")
    assert problem.severity is Severity.ERROR and "infiniband-ndr" in problem.help
    assert only("cluster: {accelerator: mi300x, nodes: 2, scale_up: {interconnect: nvlink}}").severity is Severity.ERROR


@pytest.mark.parametrize(
    ("kind", "name", "message", "help_"),
    [
        (
            "platform",
            "16xB200",
            "counts 16 accelerators, and no platform has that many",
            "one of: dgx-b200, hgx-b200, ",
        ),
        ("platform", "B300x16", "counts 16 accelerators, and no platform has that many", "with `nodes: 2`"),
        ("platform", "64xTPUv5e", "counts 64 accelerators", "write `tpu-v5e` with `nodes: 8`"),
        ("platform", "H100x8", "a name of 12 platforms", "write one of: dgx-h100, "),
        ("platform", "H100-8", "a name of 12 platforms", "oci-bm-gpu-h100-8"),
        ("platform", "8 GPU H100", "a name of 12 platforms", "hgx-h100"),
        ("platform", "MI325Xx8", "a name of the platform `mi325x-ubb8`", "write `mi325x-ubb8`"),
        (
            "platform",
            "gaudi-3",
            "`gaudi-3` is the accelerator `gaudi3`",
            "write `gaudi3-hls`, or `accelerator: gaudi3`",
        ),
        ("platform", "gaudi3", "`gaudi3` is an accelerator", "write `gaudi3-hls`, or "),
        ("platform", "910B", "is the accelerator `ascend-910b`", "no platform of the catalog has it"),
        ("platform", "Trainium2", "is the accelerator `trainium2`", "one of: aws-trn2-3xlarge, aws-trn2-48xlarge, or "),
        ("accelerator", "8x MI300X", "counts 8 accelerators", "`accelerator: mi300x`, and `accelerators_per_node: 8`"),
        ("accelerator", "H100x8", "counts 8 accelerators", "as one of h100-nvl-94gb, h100-pcie-80gb, h100-sxm-80gb"),
        ("platform", "Ironwood", "a name of the platform `tpu-v7x`", "write `tpu-v7x`"),
        ("platform", "BM.GPU.H100.8", "a name of the platform `oci-bm-gpu-h100-8`", ""),
        ("platform", "8xFoo", "the catalog has no platform `8xFoo`", ""),
    ],
)
def test_parts_and_counts_lead_to_platforms(kind: str, name: str, message: str, help_: str) -> None:
    problem = unknown_id_problem(catalog(), kind, name, ("cluster", kind))
    assert message in problem.message
    assert help_ in problem.help
