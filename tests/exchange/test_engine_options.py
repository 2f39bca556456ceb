"""Options of inference engines: each is written where the spec states what it sets, and nowhere else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clusterspec.exchange.exporters.registry import ExportedFile, NotExportable, exporter_of
from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown
from tests.exchange.test_exporters import pod, source

SERVED = """\
workload:
  kind: serve
  model: {model}
  serving: {{input_tokens: 1000, output_tokens: 500, concurrency: 64{serving}}}
{work}layout: {{software: {software}, {layout}}}
"""
NEWEST = {"sglang": "sglang 0.5.23", "vllm": "vllm 0.33.0", "trt-llm": "trt-llm 1.3.0rc11"}
DENSE, EXPERTS = "llama-3.1-70b", "deepseek-v3"


def written(
    kind: str, layout: str, *, model: str = DENSE, serving: str = "", work: str = "", software: str = ""
) -> ExportedFile:
    text = SERVED.format(model=model, serving=serving, work=work, layout=layout, software=software or NEWEST[kind])
    return exporter_of(kind).write(pod(2, rest=text))


def options(file: ExportedFile) -> set[str]:
    """The lines of the first command or file, without what joins them."""
    text = str(file.content).split("# replica 2")[0]
    return {line.strip().rstrip("\\&").strip() for line in text.splitlines() if not line.startswith("#")}


Given = dict[str, str]
PLAIN: Given = {"layout": "tp: 8, dp: 2"}
WIDE: Given = {"model": EXPERTS, "layout": "tp: 1, attention_dp: 16, ep: 16"}
ALONE: Given = {"model": EXPERTS, "layout": "tp: 16, ep: 16"}
APART = ", disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}"
SPLIT: Given = {"layout": "tp: 8", "serving": APART + "}"}
PAGES: Given = {"layout": "tp: 8", "serving": APART + ", transfer: {block_tokens: 64}}"}
DEEPEP, OVERLAP = ", dispatcher: deepep", ", dispatcher: deepep, overlap: {ep: true}"
FUSED = ", overlap: {tp: full}"
DRAFTS = ", speculative: {tokens: 3, acceptance: 0.7}"
MATCHED = ", speculative: {tokens: 3, acceptance: 0.7, method: ngram}"
MATCHING = {
    "--speculative-algorithm NGRAM --speculative-num-draft-tokens 4",
    "--speculative-ngram-max-bfs-breadth 1",
}


def more(base: Given, **keys: str) -> Given:
    """A design with keys added to those of its sections."""
    return base | {name: base.get(name, "") + text for name, text in keys.items()}


ROWS: list[tuple[str, Given, Given, set[str], set[str]]] = [  # engine, before, after; options gone, options new
    ("sglang", PLAIN, {"layout": "tp: 4, pp: 2, dp: 2"}, {"--tp-size 8"}, {"--tp-size 4", "--pp-size 2"}),
    ("sglang", WIDE, more(WIDE, layout=DEEPEP), set(), {"--moe-a2a-backend deepep"}),
    ("sglang", more(WIDE, layout=DEEPEP), more(WIDE, layout=OVERLAP), set(), {"--enable-two-batch-overlap"}),
    (
        "sglang",
        WIDE,
        more(WIDE, software="sglang 0.5.21"),
        {"--attn-dp-size 16"},
        {"--dp-size 16 --enable-dp-attention"},
    ),
    (
        *("sglang", WIDE, more(WIDE, serving=", redundant_experts: 32"), set()),
        {"--enable-eplb --ep-num-redundant-experts 32"},
    ),
    ("sglang", SPLIT, PAGES, set(), {"--page-size 64"}),
    ("sglang", PLAIN, more(PLAIN, serving=", max_sequences: 48"), set(), {"--max-running-requests 48"}),
    ("sglang", WIDE, more(WIDE, serving=", max_sequences: 48"), set(), {"--max-running-requests 768"}),
    ("sglang", PLAIN, more(PLAIN, serving=", captured_graphs: false"), set(), {"--disable-decode-cuda-graph"}),
    ("sglang", PLAIN, more(PLAIN, serving=", receive_interval: 30"), set(), {"--scheduler-recv-interval 30"}),
    (
        *("sglang", WIDE, more(WIDE, serving=", hold_steps: 30"), set()),
        {"--enable-prefill-delayer --prefill-delayer-max-delay-passes 30"},
    ),
    ("sglang", PLAIN, more(PLAIN, work="  kv_precision: fp8\n"), set(), {"--kv-cache-dtype fp8_e4m3"}),
    ("sglang", PLAIN, more(PLAIN, work="  parameter_precision: fp8\n"), set(), {"--quantization fp8"}),
    ("sglang", PLAIN, more(PLAIN, work="  parameter_precision: fp16\n"), set(), {"--dtype half"}),
    (
        *("sglang", ALONE, more(ALONE, serving=DRAFTS), set()),
        {
            "--speculative-algorithm EAGLE --speculative-num-steps 3",
            "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
        },
    ),
    (
        *("vllm", PLAIN, {"layout": "tp: 4, pp: 2, dp: 2"}, {"--tensor-parallel-size 8"}),
        {"--tensor-parallel-size 4", "--pipeline-parallel-size 2"},
    ),
    ("vllm", WIDE, more(WIDE, layout=DEEPEP), set(), {"--all2all-backend deepep_high_throughput"}),
    ("vllm", more(WIDE, layout=DEEPEP), more(WIDE, layout=OVERLAP), set(), {"--enable-dbo"}),
    ("vllm", SPLIT, PAGES, set(), {"--block-size 64"}),
    ("vllm", PLAIN, more(PLAIN, serving=", max_sequences: 48"), set(), {"--max-num-seqs 48"}),
    (
        *("vllm", PLAIN, more(PLAIN, serving=", chunk_tokens: 4096"), {"--max-num-batched-tokens 8192"}),
        {"--max-num-batched-tokens 4096"},
    ),
    (
        *("vllm", PLAIN, more(PLAIN, serving=", memory_fraction: 0.85"), {"--gpu-memory-utilization 0.9"}),
        {"--gpu-memory-utilization 0.85"},
    ),
    ("vllm", PLAIN, more(PLAIN, serving=", captured_graphs: false"), set(), {"--enforce-eager"}),
    ("vllm", PLAIN, more(PLAIN, work="  kv_precision: fp8\n"), set(), {"--kv-cache-dtype fp8"}),
    ("vllm", PLAIN, more(PLAIN, work="  parameter_precision: fp8\n"), set(), {"--quantization fp8"}),
    ("vllm", PLAIN, more(PLAIN, work="  parameter_precision: fp16\n"), set(), {"--dtype float16"}),
    (
        *("trt-llm", WIDE, more(WIDE, serving=", hold_steps: 9"), set()),
        {"attention_dp_config:", "enable_balance: true", "timeout_iters: 9", "batching_wait_iters: 0"},
    ),
    ("trt-llm", PLAIN, {"layout": "tp: 4, pp: 2, dp: 2"}, {"--tp_size 8"}, {"--tp_size 4", "--pp_size 2"}),
    ("trt-llm", PLAIN, more(PLAIN, serving=", max_sequences: 48"), set(), {"--max_batch_size 48"}),
    (
        *("trt-llm", PLAIN, more(PLAIN, serving=", chunk_tokens: 4096"), {"--max_num_tokens 8192"}),
        {"--max_num_tokens 4096"},
    ),
    ("trt-llm", PLAIN, more(PLAIN, work="  kv_precision: fp8\n"), set(), {"dtype: fp8"}),
    ("trt-llm", PLAIN, more(PLAIN, serving=", captured_graphs: false"), set(), {"cuda_graph_config: null"}),
    (
        *("trt-llm", ALONE, more(ALONE, serving=DRAFTS), set()),
        {"speculative_config:", "decoding_type: MTP", "max_draft_len: 3", "num_nextn_predict_layers: 3"},
    ),
]


@pytest.mark.parametrize(("kind", "before", "after", "gone", "new"), ROWS)
def test_an_option_is_written_where_the_spec_states_what_it_sets(
    kind: str, before: Given, after: Given, gone: set[str], new: set[str]
) -> None:
    one, other = (options(written(kind, **design)) for design in (before, after))
    assert (one - other, other - one) == (gone, new)


EDGES: list[tuple[str, Given, Given, set[str], set[str]]] = [  # as above
    ("sglang", WIDE, more(WIDE, serving=", hold_steps: 1"), set(), set()),
    (
        *("sglang", WIDE, more(WIDE, serving=", hold_steps: 2"), set()),
        {"--enable-prefill-delayer --prefill-delayer-max-delay-passes 2"},
    ),
    ("sglang", PLAIN, more(PLAIN, serving=", hold_steps: 30"), set(), set()),
    ("sglang", PLAIN, more(PLAIN, serving=", receive_interval: 1"), set(), set()),
    ("sglang", PLAIN, more(PLAIN, serving=", receive_interval: 2"), set(), {"--scheduler-recv-interval 2"}),
    ("sglang", WIDE, more(WIDE, layout=", overlap: {ep: true}"), set(), {"--enable-two-batch-overlap"}),
    ("sglang", ALONE, more(ALONE, layout=", overlap: {ep: true}"), set(), set()),
    ("sglang", PLAIN, more(PLAIN, serving=", redundant_experts: 32"), set(), set()),
    ("sglang", ALONE, {"model": EXPERTS, "layout": "tp: 8, attention_dp: 2, ep: 16"}, set(), {"--attn-dp-size 2"}),
    ("sglang", PLAIN, more(PLAIN, serving=MATCHED), set(), MATCHING),
    ("sglang", WIDE, more(WIDE, serving=MATCHED), set(), set()),
    ("vllm", WIDE, more(WIDE, layout=", overlap: {ep: true}"), set(), set()),
    ("vllm", ALONE, more(ALONE, layout=OVERLAP), set(), set()),
    ("vllm", PLAIN, more(PLAIN, layout=DEEPEP), set(), set()),
    (
        *("vllm", PLAIN, more(PLAIN, serving=", chunk_tokens: 40, max_sequences: 48")),
        *({"--max-num-batched-tokens 8192"}, {"--max-num-batched-tokens 48", "--max-num-seqs 48"}),
    ),
    (
        *("vllm", PLAIN, more(PLAIN, serving=", chunk_tokens: 4096, max_sequences: 48")),
        *({"--max-num-batched-tokens 8192"}, {"--max-num-batched-tokens 4096", "--max-num-seqs 48"}),
    ),
    (
        *("vllm", WIDE, more(WIDE, serving=", redundant_experts: 32"), set()),
        {"--enable-eplb --eplb-config '{\"num_redundant_experts\": 32}'"},
    ),
    (
        *("vllm", PLAIN, more(PLAIN, serving=MATCHED), set()),
        {'--speculative-config \'{"method": "ngram", "num_speculative_tokens": 3}\''},
    ),
    ("trt-llm", PLAIN, more(PLAIN, serving=", hold_steps: 9"), set(), set()),
    ("trt-llm", WIDE, more(WIDE, serving=", hold_steps: 1"), set(), set()),
    *((kind, PLAIN, more(PLAIN, serving=", captured_graphs: true"), set(), set()) for kind in NEWEST),
]


@pytest.mark.parametrize(("kind", "before", "after", "gone", "new"), EDGES)
def test_an_option_is_written_from_its_least_value_and_with_all_of_its_conditions(
    kind: str, before: Given, after: Given, gone: set[str], new: set[str]
) -> None:
    one, other = (options(written(kind, **design)) for design in (before, after))
    assert (one - other, other - one) == (gone, new)


LEFT_OUT: list[tuple[str, Given, str]] = [
    ("sglang", more(PLAIN, serving=DRAFTS), "drafts of 3 tokens: --speculative-algorithm needs a draft model"),
    ("vllm", more(PLAIN, serving=DRAFTS), "drafts of 3 tokens: --speculative-config needs a method or a draft model"),
    ("trt-llm", more(PLAIN, serving=DRAFTS), "drafts of 3 tokens: speculative_config needs a draft model"),
    ("trt-llm", more(WIDE, serving=", redundant_experts: 32"), "32 redundant experts: see moe_config.load_balancer"),
    ("trt-llm", more(WIDE, layout=DEEPEP), "the dispatcher deepep: TensorRT-LLM chooses its own"),
    ("trt-llm", more(PLAIN, layout=FUSED), "all-reduces inside GEMMs: they need weights in NVFP4 and Blackwell"),
    ("vllm", more(PLAIN, layout=FUSED), "all-reduces inside GEMMs: see pass_config of --compilation-config"),
    ("sglang", more(PLAIN, layout=FUSED), "all-reduces inside GEMMs: no option of SGLang says so"),
    ("sglang", more(WIDE, layout=", dispatcher: hybrid"), "the dispatcher hybrid: see --moe-a2a-backend"),
    ("vllm", more(ALONE, layout=DEEPEP), "the dispatcher deepep: see --all2all-backend"),
    *(
        (
            kind,
            more(PLAIN, work="  parameter_precision: int4\n"),
            "weights in int4: name a checkpoint that keeps them so",
        )
        for kind in NEWEST
    ),
    *(
        (
            kind,
            more(PLAIN, model="gpt-oss-120b", work="  parameter_precision: mxfp4\n"),
            "all weights in mxfp4: openai/gpt-oss-120b keeps its experts in mxfp4 and the others in bf16",
        )
        for kind in NEWEST
    ),
    *((kind, PLAIN, "the router before 2 replicas") for kind in NEWEST),
]


@pytest.mark.parametrize(("kind", "design", "said"), LEFT_OUT)
def test_what_no_option_says_is_listed(kind: str, design: Given, said: str) -> None:
    assert sum(said in each for each in written(kind, **design).omitted) == 1
    assert not any(said in each for each in written(kind, layout="tp: 16", model=EXPERTS).omitted)


def test_tensorrt_llm_does_all_reduces_inside_gemms_of_blackwell_in_four_bits() -> None:
    for layout, kept, stated in (
        ("tp: 8" + FUSED, "nvfp4", True),
        ("tp: 8", "nvfp4", False),
        ("tp: 8" + FUSED, "fp8", False),
        ("tp: 1" + FUSED, "nvfp4", False),
        ("tp: 2" + FUSED, "nvfp4", True),
        ("tp: 2" + FUSED, "fp8", False),
        ("tp: 1" + FUSED, "fp8", False),
    ):
        rest = SERVED.format(
            model=DENSE,
            serving="",
            work=f"  precision: fp8\n  parameter_precision: {kept}\n",
            layout=layout,
            software=NEWEST["trt-llm"],
        )
        file = exporter_of("trt-llm").write(source("platform: dgx-b200, nodes: 2", rest))
        assert ("TRTLLM_GEMM_ALLREDUCE_FUSION_ENABLED=1 trtllm-serve" in str(file.content)) == stated, layout
        assert any("inside GEMMs" in each for each in file.omitted) == (kept == "fp8" and layout[:5] != "tp: 1"), layout


def test_the_release_of_the_spec_is_the_one_whose_options_are_written() -> None:
    for software, option in (
        ("sglang 0.5.9", "--disable-cuda-graph"),
        ("sglang 0.5.21", "--disable-decode-cuda-graph"),
        ("vllm 0.31", "--disable-decode-cuda-graph"),  # of another engine: the newest release that was checked
    ):
        file = written("sglang", "tp: 8", serving=", captured_graphs: false", software=software)
        assert option in options(file), software
    for software in ("sglang 0.5.8", "sglang 0.5.2"):
        with pytest.raises(NotExportable, match="were not checked"):
            written("sglang", "tp: 8", software=software)


OPTIONS = """\
enable_attention_dp: true
kv_cache_config: {dtype: fp8, free_gpu_memory_fraction: 0.8}
cuda_graph_config: {max_batch_size: 256}
tensor_parallel_size: 8
moe_expert_parallel_size: 8
max_num_tokens: 8320
speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 1}
"""
SERVERS = """\
model: meta-llama/Llama-3.1-70B-Instruct
context_servers: {tensor_parallel_size: 2, cuda_graph_config: null, kv_cache_config: {dtype: auto}}
generation_servers: {tensor_parallel_size: 4, max_batch_size: 128, kv_cache_config: {dtype: fp8}}
"""
ENGINE = """\
{"pretrained_config": {"architecture": "LlamaForCausalLM", "dtype": "bfloat16", "hidden_size": 8192,
  "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
  "hidden_act": "silu", "mapping": {"world_size": 8, "tp_size": 4, "pp_size": 2},
  "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": null}},
 "build_config": {"max_batch_size": 64, "max_num_tokens": 8192, "plugin_config": {"gemm_plugin": null}}}
"""


@pytest.mark.parametrize(
    ("text", "part", "stated", "absent"),
    [
        (
            OPTIONS,
            None,
            {"layout.tp": 1, "layout.attention_dp": 8, "layout.ep": 8, "workload.serving.speculative.tokens": 1},
            ("workload.serving.chunk_tokens", "workload.serving.max_sequences", "workload.serving.memory_fraction"),
        ),
        (SERVERS, 1, {"layout.tp": 2, "workload.serving.captured_graphs": False}, ("workload.kv_precision",)),
        (SERVERS, 2, {"layout.tp": 4, "workload.kv_precision": "fp8", "workload.model": "llama-3.1-70b"}, ()),
        (
            ENGINE,
            None,
            {"layout.tp": 4, "layout.pp": 2, "workload.model.kv_heads": 8, "workload.parameter_precision": "fp8"},
            ("workload.kv_precision",),
        ),
        (ENGINE, None, {"workload.serving.max_sequences": 64, "workload.model.gated_ffn": True}, ("layout.ep",)),
    ],
)
def test_configurations_of_tensorrt_llm_state_layout_and_limits(
    text: str, part: int | None, stated: dict[str, object], absent: tuple[str, ...]
) -> None:
    reading = read(text, part=part)
    assert reading.kind == "trtllm-config"
    assert stated.items() <= given(reading).items(), given(reading)
    assert not given(reading).keys() & set(absent)


def test_servers_of_two_roles_are_chosen() -> None:
    with pytest.raises(FormatError, match="context_servers and generation_servers: choose one"):
        read(SERVERS)


ENGINES = """serve() {{
  touch begun.$BASHPID; until [ $(ls begun.* | wc -l) = {engines} ]; do sleep 0.02; done
  echo "$CUDA_VISIBLE_DEVICES" >> devices
}}
vllm() {{ serve; }}; trtllm-serve() {{ serve; }}; python3() {{ serve; }}
NODE={node}
"""
"""Stands for the programs that engines run: each ends after all ``engines`` of its node have begun."""


@pytest.mark.parametrize("kind", NEWEST)
def test_engines_of_a_node_run_side_by_side_and_those_of_other_nodes_do_not(kind: str, tmp_path: Path) -> None:
    text = str(written(kind, "tp: 4, dp: 3").content)
    assert "$NODE is the number of the node" in text.splitlines()[0]
    for node, expected in ((1, ["0,1,2,3", "4,5,6,7"]), (2, ["0,1,2,3"])):
        place = tmp_path / str(node)
        place.mkdir()
        programs = ENGINES.format(engines=len(expected), node=node)
        subprocess.run(["bash", "-c", programs + text], cwd=place, timeout=20, check=True)
        assert sorted((place / "devices").read_text().split()) == expected
    rest = SERVED.format(model=DENSE, serving="", work="", software=NEWEST[kind], layout="tp: 8")
    alone = str(exporter_of(kind).write(pod(1, rest=rest)).content)
    assert "$NODE" not in alone and "&" not in alone and "wait" not in alone


def test_attention_replicas_of_sglang_divide_its_limits_and_a_file_of_options_needs_no_model() -> None:
    text = "served-model-name: deepseek-ai/DeepSeek-V3\ntp-size: '32'\ndp-size: '32'\nenable-dp-attention: true\n"
    text += "max-running-requests: '8192'\nchunked-prefill-size: '36864'\nmem-fraction-static: '0.82'\n"
    keys = given(read(text))
    assert (keys["layout.framework"], keys["workload.model"], keys["layout.attention_dp"]) == (
        "sglang",
        "deepseek-v3",
        32,
    )
    serving = {name: keys[f"workload.serving.{name}"] for name in ("max_sequences", "chunk_tokens", "memory_fraction")}
    assert serving == {"max_sequences": 256, "chunk_tokens": 1152, "memory_fraction": 0.82}
    undecided = read(text.replace("dp-size: '32'", "dp-size: '$DP'"))
    assert "workload.serving.max_sequences" not in given(undecided), "of how many groups is not known"
    assert "max_running_requests: 8192" in [each.what for each in undecided.unknown]
    whole = given(read(text.replace("enable-dp-attention: true\n", "")))
    assert (whole["workload.serving.max_sequences"], whole["layout.dp"]) == (8192, 32)
    vllm = given(read("tensor-parallel-size: 8\nmax-model-len: 8192\nmax-num-seqs: 64\n"))
    assert (vllm["layout.framework"], vllm["layout.tp"]) == ("vllm", 8)
    with pytest.raises(FormatError):
        read("tensor-parallel-size: 8\nmax-model-len: 8192\n")


RECIPE = """\
name: two-roles
model: {path: nvidia/DeepSeek-R1-0528-NVFP4, container: "lmsysorg/sglang:v0.5.12.post1", precision: fp4}
resources:
  gpu_type: b200
  gpus_per_node: 8
  prefill_nodes: 2
  prefill_workers: 4
  decode_nodes: 1
  decode_workers: 1
backend:
  type: sglang
  sglang_config:
    prefill:
      tensor-parallel-size: 4
      kv-cache-dtype: fp8_e4m3
      mem-fraction-static: 0.85
      chunked-prefill-size: 16384
      max-running-requests: 64
      disable-cuda-graph: true
    decode:
      tensor-parallel-size: 8
      data-parallel-size: 8
      expert-parallel-size: 8
      enable-dp-attention: true
      kv-cache-dtype: fp8_e4m3
      mem-fraction-static: 0.75
      max-running-requests: 2048
      speculative-num-steps: 2
      speculative-eagle-topk: 1
      speculative-num-draft-tokens: 3
benchmark: {type: sa-bench, isl: 8000, osl: 1000, concurrencies: "2048", req_rate: inf}
"""


def test_a_node_of_a_recipe_for_its_services_alone_is_named() -> None:
    reading = read(f"{RECIPE}infra: {{etcd_nats_dedicated_node: true}}\n")
    assert given(reading)["layout.nodes"] == 3, "the nodes with engines"
    assert "infra.etcd_nats_dedicated_node: true: the job has a further node" in unknown(reading)


def test_a_recipe_of_srt_slurm_states_the_engines_of_both_roles_and_their_load() -> None:
    reading = read(RECIPE)
    keys = given(reading)
    base = "workload.serving"
    assert {name: keys[name] for name in keys if "disaggregated" in name} == {
        f"{base}.disaggregated.prefill.replicas": 4,
        f"{base}.disaggregated.prefill.tp": 4,
        f"{base}.disaggregated.decode.replicas": 1,
        f"{base}.disaggregated.decode.tp": 1,
        f"{base}.disaggregated.decode.attention_dp": 8,
        f"{base}.disaggregated.decode.ep": 8,
    }
    assert (keys["cluster.accelerator"], keys["cluster.accelerators_per_node"], keys["layout.nodes"]) == (
        "b200-sxm-180gb",
        8,
        3,
    )
    assert (keys["layout.software"], keys["workload.parameter_precision"], keys["workload.kv_precision"]) == (
        "sglang 0.5.12",
        "nvfp4",
        "fp8",
    )
    assert keys[f"{base}.input_tokens"] == {"mean": 7200, "max": 8000}, "lengths from 0.8 to 1 of the longest"
    assert (keys[f"{base}.concurrency"], keys[f"{base}.speculative.tokens"]) == (2048, 2)
    limits = (keys[f"{base}.chunk_tokens"], keys[f"{base}.max_sequences"])
    assert limits == (16384, 256), "those of prefill, and those of a replica of decode"
    assert f"{base}.captured_graphs" not in keys, "prefill runs without graphs, decode with them"
    assert f"{base}.memory_fraction" not in keys
    listed = [each.what for each in reading.unknown]
    assert f"{base}.memory_fraction" in listed
    experts = given(read(RECIPE.replace("nvidia/DeepSeek-R1-0528-NVFP4", "deepseek-v4-pro-mxfp4")))
    assert "workload.parameter_precision" not in experts, "mxfp4 is that of its experts alone, which the catalog has"


def test_a_recipe_with_variants_or_concurrencies_is_a_question() -> None:
    several = given(read(RECIPE.replace('"2048"', "[1, 8]").replace("sa-bench,", "sa-bench, random_range_ratio: 1.0,")))
    assert "workload.serving.concurrency" not in several
    assert several["workload.serving.input_tokens"] == 8000
    indented = "".join(f"  {line}\n" for line in RECIPE.splitlines())
    with pytest.raises(FormatError, match=r"variants of it \(override_a\)"):
        read(f"base:\n{indented}override_a:\n  name: a\n")
    with pytest.raises(FormatError, match="workers for prefill"):
        read(RECIPE.replace("  decode_workers: 1\n", ""))


def test_a_container_that_only_opens_a_shell_is_no_launch() -> None:
    opened = "podman run -it --device=/dev/kfd --entrypoint /bin/bash docker.io/vllm/vllm-openai-rocm:v0.19.1\n"
    reading = read(f"{opened}vllm serve a/b --tensor-parallel-size 4\n", "serving")
    assert given(reading)["layout.tp"] == 4
    started = opened.replace("v0.19.1", "v0.19.1 -c 'vllm serve a/b --tensor-parallel-size 2'")
    assert given(read(started, "serving"))["layout.tp"] == 2


RUN = "docker run -it --rm --gpus all -p8000:8000 -v /m:/m -e A=b --shm-size=8g {} {}\n"
MODEL = "--model meta-llama/Llama-3.1-70B-Instruct"


@pytest.mark.parametrize(
    ("image", "arguments", "engine"),
    [
        ("site/llm:1", f"{MODEL} --gpu-memory-utilization 0.9 --tensor-parallel-size 8", "vllm"),
        ("site/llm:1", f"{MODEL.replace('--model', 'serve')} --max-model-len=8192 --tensor-parallel-size 8", "vllm"),
        ("site/our-vllm:1", f"{MODEL} --tensor-parallel-size 8", "vllm"),
        ("site/llm:1", f"{MODEL.replace('--model', '--model-path')} --tp-size 8 --mem-fraction-static 0.8", "sglang"),
        ("site/sglang-prod:2", f"{MODEL.replace('--model', '--model-path')} --tp 8", "sglang"),
    ],
)
@pytest.mark.parametrize("program", ["docker", "podman"])
def test_the_entry_point_of_an_image_follows_from_its_arguments(
    program: str, image: str, arguments: str, engine: str
) -> None:
    stated = given(read(RUN.format(image, arguments).replace("docker", program)))
    assert (stated["layout.framework"], stated["workload.model"], stated["layout.tp"]) == (engine, "llama-3.1-70b", 8)


@pytest.mark.parametrize(
    ("image", "arguments"),
    [
        ("site/llm:1", f"{MODEL} --tensor-parallel-size 8"),
        ("site/llm:1", f"{MODEL} --max-model-len 8192 --mem-fraction-static 0.8"),
        ("--entrypoint /start site/llm:1", f"{MODEL} --max-model-len 8192"),
        ("site/llm:1", f"./start {MODEL} --max-model-len 8192"),
    ],
)
def test_an_image_whose_engine_is_open_is_refused(image: str, arguments: str) -> None:
    with pytest.raises(FormatError, match="do not show which of them an image starts"):
        read(RUN.format(image, arguments))


def test_options_that_a_launch_shortens_are_read_where_they_are_clear() -> None:
    """argparse takes the beginning of an option's name if no other option begins so."""
    model = "meta-llama/Llama-3.1-70B-Instruct"
    options = "--tensor-parallel 4 --max-num-seq 64 --gpu-memory-util 0.8 --max-num-batched-token 8192"
    found = given(read(f"vllm serve {model} {options}\n"))
    assert (found["layout.tp"], found["workload.serving.max_sequences"]) == (4, 64)
    assert (found["workload.serving.memory_fraction"], found["workload.serving.chunk_tokens"]) == (0.8, 8192)
    several = read(f"vllm serve {model} --max-num 64\n")
    assert "workload.serving.max_sequences" not in given(several)
    assert "max_num" in unknown(several)
    both = given(read(f"vllm serve {model} --max-num-seqs 8 --max-num-seq 64\n"))
    assert both["workload.serving.max_sequences"] == 8
    sglang = "--tp 8 --mem-frac 0.7 --chunked-prefill 4096 --max-running-req 32"
    found = given(read(f"python -m sglang.launch_server --model-path {model} {sglang}\n"))
    assert (found["workload.serving.memory_fraction"], found["workload.serving.chunk_tokens"]) == (0.7, 4096)
    assert found["workload.serving.max_sequences"] == 32


@pytest.mark.parametrize(
    ("width", "path", "precision"),
    [
        ("fp8", "/models/own", "fp8"),
        ("bf16", "/models/own", "bf16"),
        ("fp16", "/models/own", "fp16"),
        ("int8", "/models/own", None),
        ("fp4", "/models/own", None),  # nvfp4 or mxfp4
        ("fp8", "nvidia/DeepSeek-R1-0528-NVFP4", "nvfp4"),  # the checkpoint's name says how it is kept
    ],
)
def test_the_width_of_a_recipe_is_a_precision_where_it_is_the_only_one_of_it(
    width: str, path: str, precision: str | None
) -> None:
    reading = read(
        RECIPE.replace("nvidia/DeepSeek-R1-0528-NVFP4", path).replace("precision: fp4", f"precision: {width}")
    )
    assert given(reading).get("workload.parameter_precision") == precision
    assert (f"precision: {width}: nvfp4 or mxfp4" in unknown(reading)) == (precision is None)
