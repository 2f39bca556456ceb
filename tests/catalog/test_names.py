"""What people type, and what they may have meant."""

from __future__ import annotations

import pytest

from clusterspec.catalog import KINDS, Catalog, UnknownEntry
from clusterspec.catalog.export import shipped_rows
from clusterspec.catalog.lookup import (
    AmbiguousName,
    HoldsBoards,
    KnownByName,
    NamesSlice,
    RunsOnFrameworks,
    SeveralEntries,
    entries_named,
    resolved_id,
)
from tests.catalog.shipped import CATALOG

FAMILIES = {
    "h100": ("h100-nvl-94gb", "h100-pcie-80gb", "h100-sxm-80gb"),
    "A100": ("a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm-40gb", "a100-sxm-80gb"),
    "h200": ("h200-nvl-141gb", "h200-sxm-141gb"),
    "mi300": ("mi300a", "mi300x"),
    "tpu v5": ("tpu-v5e", "tpu-v5p"),
    "b200": ("b200-sxm-180gb",),
    "gb200": (),
    "h10": (),
    "h": (),
}


PRINTED = {
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA A100-SXM4-80GB": "a100-sxm-80gb",
    "NVIDIA GH200 480GB": "gh200-96gb",
    "NVIDIA GH200 144G HBM3e": "gh200-144gb",
    "NVIDIA RTX 6000 Ada Generation": "rtx-6000-ada",
    "Tesla V100-SXM2-16GB": "v100-sxm-16gb",
    "Tesla V100-SXM2-32GB": "v100-sxm-32gb",
    "Tesla P100-SXM2-16GB": "p100-sxm-16gb",
    "AMD Instinct MI300X OAM": "mi300x",
    "AMD Instinct MI355X OAM": "mi355x",
    "nvidia-h100-mega-80gb": "h100-sxm-80gb",
    "nvidia-h200-141gb": "h200-sxm-141gb",
    "nvidia-tesla-a100": "a100-sxm-40gb",
    "tpu-v5-lite-podslice": "tpu-v5e",
    "tpu-v6e-slice": "tpu-v6e",
    "TPU Ironwood": "tpu-v7x",
}
"""Names as drivers and labels of clouds print them."""


@pytest.mark.parametrize("printed", PRINTED)
def test_a_name_that_a_driver_or_a_cloud_prints_is_its_entry(printed: str) -> None:
    assert resolved_id(CATALOG, printed) == ("accelerator", PRINTED[printed])


@pytest.mark.parametrize("printed", ["NVIDIA A100 80GB", "NVIDIA H100 80GB", "GB200 Superchip"])
def test_a_name_of_several_products_is_no_entry(printed: str) -> None:
    with pytest.raises(UnknownEntry):
        resolved_id(CATALOG, printed)


@pytest.mark.parametrize("text", FAMILIES)
def test_a_family_name_lists_its_members(text: str) -> None:
    assert CATALOG.family("accelerator", text) == FAMILIES[text]


@pytest.mark.parametrize(
    ("kind", "text", "meant"),
    [
        ("accelerator", "h100-sxm-80g", "h100-sxm-80gb"),
        ("accelerator", "h100_sxm_80gb", "h100-sxm-80gb"),
        ("interconnect", "infiniband-nrd", "infiniband-ndr"),
        ("interconnect", "nvlink4", "nvlink-4"),
        ("platform", "dgxh100", "dgx-h100"),
        ("model", "llama3.1-70b", "llama-3.1-70b"),
        ("switch", "qm9700", "quantum-2-qm9700"),
        ("platform", "hgx-mi300x", "mi300x-ubb8"),
        ("switch", "nvidia-qm9700", "quantum-2-qm9700"),
        ("interconnect", "ndr-infiniband", "infiniband-ndr"),
        ("interconnect", "HDR200", "infiniband-hdr"),
        ("interconnect", "roce", "roce-v2"),
        ("interconnect", "tcp", "ethernet"),
        ("interconnect", "HDR", "infiniband-hdr"),
        ("model", "gpt-3", "gpt3-175b"),
    ],
)
def test_the_intended_id_is_among_the_nearest(kind: str, text: str, meant: str) -> None:
    near = CATALOG.nearest_ids(kind, text)
    assert meant in near
    assert len(near) <= 3


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("H200 NVL", "accelerator/h200-nvl-141gb"),
        ("NVIDIA H100 80GB HBM3", "accelerator/h100-sxm-80gb"),
        ("B300", "accelerator/b300-sxm-288gb"),
        ("ironwood", "accelerator/tpu-v7x platform/tpu-v7x"),
        ("SN5600", "switch/spectrum-4-sn5600"),
        ("Q3400", "switch/quantum-x800-q3400"),
        ("BCM78900", "switch/tomahawk-5"),
        ("TH6", "switch/tomahawk-6"),
        ("MMS4X00-NS", "optics/mms4x00-ns"),
        ("Helios", "platform/mi455x-helios"),
        ("Standard_ND96isr_H200_v5", "platform/azure-nd-h200-v5"),
        ("p5.48xlarge", "platform/aws-p5-48xlarge"),
        ("Qwen/Qwen3-32B", "model/qwen3-32b"),
        ("MCX75310AAS-NEAT", "nic/connectx-7"),
        ("MCP4Y10-N001", "optics/dac-mcp4y10"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "model/mixtral-8x7b"),
        ("deepseek-ai/DeepSeek-R1-0528", "model/deepseek-r1"),
        ("nvidia/DeepSeek-R1-0528-NVFP4-v2", "model/deepseek-r1"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "model/llama-3.1-8b"),
        ("google/gemma-4-31B-it-qat-w4a16-ct", "model/gemma-4-31b"),
        ("unsloth/Qwen3-8B-unsloth-bnb-4bit", "model/qwen3-8b"),
        ("deepseek-ai/DeepSeek-V4-Flash-0731", "model/deepseek-v4-flash"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B-FP8", "model/llama-3.3-70b"),
        ("Qwen/QwQ-32B", "model/qwen2.5-32b"),
        ("deepseek-ai/DeepSeek-R1-Distill", ""),
        ("vllm==0.30.0", "framework/vllm"),
        ("TensorRT-LLM 1.3", "framework/trt-llm"),
        ("tpu7x-standard-4t", "platform/tpu-v7x"),
        ("HBM3", ""),
        ("MCX", ""),
        ("SN56", ""),
    ],
)
def test_the_name_of_a_product_leads_to_its_entry(name: str, entry: str) -> None:
    entries = [(kind, id_) for kind in KINDS for id_ in CATALOG.ids_named(kind, name)]
    assert ["/".join(each) for each in entries] == entry.split()
    if len(entries) == 1:
        assert resolved_id(CATALOG, name) == entries[0]
    else:
        with pytest.raises(UnknownEntry) as caught:
            resolved_id(CATALOG, name)
        assert caught.value.nearest[: len(entries)] == tuple(entry.split())


def test_an_alias_belongs_to_one_entry() -> None:
    for row in shipped_rows():
        for alias in filter(None, row.aliases.split(", ")):
            assert CATALOG.ids_named(row.kind, alias) == (row.id,), alias


def test_a_family_does_not_continue_a_number() -> None:
    assert CATALOG.family("model", "gpt-3") == ()  # gpt-3.6b is another number


def test_an_unknown_id_offers_the_nearest() -> None:
    with pytest.raises(UnknownEntry) as caught:
        CATALOG.platform("dgx-h1000")
    assert caught.value.nearest[0] == "dgx-h100"
    assert "did you mean dgx-h100" in str(caught.value)


def test_find_returns_none_for_an_id_for_which_get_raises() -> None:
    assert CATALOG.find("model", "no-such-model") is None
    assert CATALOG.find("model", "llama-3.1-8b") is CATALOG.model("llama-3.1-8b")


def test_an_id_of_two_kinds_must_say_which() -> None:
    with pytest.raises(AmbiguousName, match="accelerator/tpu-v5p or platform/tpu-v5p"):
        resolved_id(CATALOG, "tpu-v5p")
    assert resolved_id(CATALOG, "platform/tpu-v5p") == ("platform", "tpu-v5p")
    assert resolved_id(CATALOG, "dgx-h100") == ("platform", "dgx-h100")


def test_every_id_resolves_to_itself() -> None:
    catalog = Catalog.open()
    for kind in KINDS:
        for name in catalog.ids(kind):
            assert resolved_id(catalog, f"{kind}/{name}") == (kind, name)


def test_a_name_of_two_kinds_is_shown_as_the_first_of_them() -> None:
    view, others = entries_named(CATALOG, "Ironwood")
    assert (view.kind, view.id, others) == ("accelerator", "tpu-v7x", ("platform/tpu-v7x",))
    view, others = entries_named(CATALOG, "platform/tpu-v7x")
    assert (view.kind, view.id, others) == ("platform", "tpu-v7x", ())


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("H200", "accelerator/h200-nvl-141gb accelerator/h200-sxm-141gb"),
        ("Blackwell Ultra", "accelerator/b300-sxm-288gb accelerator/gb300 accelerator/gb300-desktop"),
        ("Llama 4", "model/llama-4-maverick model/llama-4-scout"),
    ],
)
def test_a_family_and_a_generation_name_all_their_entries(name: str, entries: str) -> None:
    with pytest.raises(SeveralEntries) as caught:
        entries_named(CATALOG, name)
    assert caught.value.entries == tuple(entries.split())


def test_kernels_are_shown_by_their_kind() -> None:
    assert entries_named(CATALOG, "kernels/blackwell-ultra")[0].kind == "kernels"


@pytest.mark.parametrize(("program", "beneath"), [("NeMo-RL", "fsdp megatron-core"), ("slime", "megatron-core")])
def test_a_program_without_an_entry_names_what_it_runs(program: str, beneath: str) -> None:
    with pytest.raises(RunsOnFrameworks) as caught:
        entries_named(CATALOG, program)
    assert caught.value.entries == tuple(f"framework/{each}" for each in beneath.split())


@pytest.mark.parametrize(
    ("server", "boards"),
    [
        ("SYS-821GE-TNHR", "hgx-h100 hgx-h200"),
        ("XE9680", "gaudi3-hls hgx-h100 hgx-h200 mi300x-ubb8"),
        ("Dell PowerEdge XE9712", "gb200-nvl72 gb300-nvl72"),
        ("supermicro sys-a21ge-nbrt", "hgx-b200"),
        ("SR680a V3", "hgx-b200 hgx-h200"),
    ],
)
def test_a_server_of_another_maker_names_the_boards_it_is_sold_with(server: str, boards: str) -> None:
    with pytest.raises(HoldsBoards) as caught:
        entries_named(CATALOG, server)
    assert caught.value.entries == tuple(f"platform/{each}" for each in boards.split())


@pytest.mark.parametrize("name", ["SR680a V9", "PowerEdge", "Dell PowerEdge", "ThinkSystem", "XE968", "XE9680 XE9680"])
def test_words_with_a_designation_name_no_server(name: str) -> None:
    with pytest.raises(UnknownEntry):
        entries_named(CATALOG, name)


@pytest.mark.parametrize(
    ("name", "chips", "chip"),
    [("v5litepod-256", 256, "tpu-v5e"), ("v5p-512", 256, "tpu-v5p"), ("tpu7x-128", 64, "tpu-v7x")],
)
def test_a_slice_is_shown_as_its_chips(name: str, chips: int, chip: str) -> None:
    with pytest.raises(NamesSlice, match=f"{chips} chips of accelerator/{chip}$"):
        entries_named(CATALOG, name)


SHARED = {
    "NC H100 v5": "azure-nc40ads-h100-v5 azure-nc80adis-h100-v5",
    "ND A100 v4 series": "azure-nd96amsr-a100-v4 azure-nd96asr-a100-v4",
    "NDv5": "azure-nd-h100-v5 azure-nd-h200-v5 azure-nd-mi300x-v5",
    "NVadsA10_v5": "azure-nv36ads-a10-v5 azure-nv72ads-a10-v5",
    "AWS p6": "aws-p6-b200-48xlarge aws-p6-b300-48xlarge",
    "P6e instances": "aws-p6e-gb200-36xlarge aws-p6e-gb300-36xlarge",
    "A2 Ultra": "gcp-a2-ultragpu-1g gcp-a2-ultragpu-2g gcp-a2-ultragpu-4g gcp-a2-ultragpu-8g",
    "8xB300": "dgx-b300 hgx-b300 aws-p6-b300-48xlarge nebius-b300 oci-bm-gpu-b300-8",
    "8 x MI300X": "mi300x-ubb8 azure-nd-mi300x-v5 oci-bm-gpu-mi300x-8",
    "NVL144": "rubin-ultra-nvl144 vr-nvl72",
    "DGX SuperPOD H100": "dgx-h100 dgx-h100-superpod-nvls",
}
"""Names that people write for several platforms, with the ids that they may mean."""
ONE = {
    "Standard_ND96isr_H200_v5": "azure-nd-h200-v5",
    "ND96isr H200 v5": "azure-nd-h200-v5",
    "NDm A100 v4": "azure-nd96amsr-a100-v4",
    "A4 High": "gcp-a4-highgpu-8g",
    "trn1n": "aws-trn1n-32xlarge",
    "DGX SuperPOD B300": "dgx-b300",
    "GB200 NVL72 rack": "gb200-nvl72",
    "HGX B200 board": "hgx-b200",
    "TPU v4 pod": "tpu-v4",
}
"""Names that people write for one platform."""


@pytest.mark.parametrize("name", SHARED)
def test_a_name_of_several_platforms_lists_them_and_prefers_those_on_sale(name: str) -> None:
    assert CATALOG.ids_meant("platform", name) == tuple(SHARED[name].split())
    with pytest.raises(SeveralEntries) as caught:
        entries_named(CATALOG, name)
    assert caught.value.entries == tuple(f"platform/{each}" for each in SHARED[name].split())


@pytest.mark.parametrize("name", ONE)
def test_a_name_of_one_platform_is_that_platform(name: str) -> None:
    assert CATALOG.ids_meant("platform", name) == (ONE[name],)


@pytest.mark.parametrize("name", ["NVL36", "8xH999", "9xH100", "SuperPOD of dreams", "g55", "rack", "NC H100 v6", ""])
def test_a_name_of_no_platform_means_none(name: str) -> None:
    assert CATALOG.ids_meant("platform", name) == ()


def test_all_instances_of_clouds_come_after_machines() -> None:
    found = CATALOG.ids_meant("platform", "8xH100")
    rented = [CATALOG.platform(each).cloud for each in found]
    assert rented == sorted(rented)
    assert {True, False} == {*rented}


def test_the_name_of_a_part_that_ends_with_its_vendor_does_not_repeat_it() -> None:
    with pytest.raises(KnownByName, match="GB300 NVL72 of Nebius is shipping"):
        entries_named(CATALOG, "Nebius GB300")
