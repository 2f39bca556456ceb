"""What launchers and runs leave behind: JobSets, device types of NetBox, amd-smi, OSU tests and step logs."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

MEGATRON = """\
    [2026-01-16 07:32:24] iteration {0:8d}/     100 | consumed samples: {1:12d} | elapsed time per iteration (ms): {2} \
| throughput per GPU (TFLOP/s/GPU): 490.0 | learning rate: 4.1E-07 | global batch size:  2048 | lm loss: 1.3E+01 |"""
TITAN = (
    "[rank0]:[titan] - root - INFO - \x1b[31mstep: {0:2}  \x1b[32mloss: 8.1  \x1b[33mmemory: 40.1GiB(50.5%)  "
    "\x1b[34mtps: {1:,}  \x1b[36mtflops: 300.10  \x1b[35mmfu: 30.34%"
)
MAXTEXT = (
    "completed step: {0}, seconds: {1}, TFLOP/s/device: 312.5, Tokens/s/device: 5120.1, total_weights: 65536, loss: 10"
)


def test_steps_after_the_first_give_the_time_of_a_run() -> None:
    slow = [30000.0, 20000.0] + [15800.0] * 5
    reading = read("\n".join(MEGATRON.strip().format(n + 1, 2048 * n, ms) for n, ms in enumerate(slow)))
    assert counts(reading)["step_seconds"] == 15.8
    assert given(reading) == {"layout.framework": "megatron-core", "workload.global_batch": 2048}
    reading = read("\n".join(TITAN.format(n + 1, rate) for n, rate in enumerate([900, 4000, 5_120, 5_120, 5_120])))
    assert counts(reading)["tokens_per_second_per_accelerator"] == 5120
    assert counts(reading)["mfu_percent"] == 30.34
    reading = read("\n".join(MAXTEXT.format(n, seconds) for n, seconds in enumerate([60, 9, 2.5, 2.5, 2.5])))
    assert (counts(reading)["step_seconds"], counts(reading)["steps"]) == (2.5, 5)
    sizes = (
        "using world size: 64, data-parallel size: 2, context-parallel size: 1, "
        "hierarchical context-parallel sizes: None, tensor-model-parallel size: 4, pipeline-model-parallel size: 8\n"
    )
    reading = read(
        sizes + "+ torchrun pretrain_gpt.py --tensor-model-parallel-size 1\n" + MEGATRON.strip().format(1, 0, 5.0)
    )
    expected = {"layout.framework": "megatron-core", "layout.tp": 4, "layout.cp": 1, "layout.pp": 8}
    assert given(reading) == {**expected, "workload.global_batch": 2048}
    tokens = MEGATRON.strip().replace("| elapsed", "| consumed tokens: 4194304 | elapsed").format(1, 0, 5.0)
    assert given(read(tokens))["layout.framework"] == "megatron-deepspeed"
    both = MEGATRON.strip().format(1, 0, 5.0) + "\n" + MAXTEXT.format(0, 1.0)
    with pytest.raises(SeveralParts, match=r"lines 1 \(megatron-core, 1 step\), 2 \(maxtext, 1 step\)"):
        read(both, "step-log")


def test_groups_that_megatron_initializes_are_degrees() -> None:
    group = "> initialized {0} model parallel with size {1}\n"
    step = MEGATRON.strip().format(1, 2048, 5.0) + "\n"
    reading = read(group.format("tensor", 8) + group.format("pipeline", 4) + step)
    assert (given(reading)["layout.tp"], given(reading)["layout.pp"]) == (8, 4)
    assert "tensor and pipeline groups only" in unknown(reading)
    reading = read(group.format("tensor", 8) + group.format("tensor", 2) + group.format("pipeline", 4) + step)
    assert "layout.tp" not in given(reading)
    assert given(reading)["layout.pp"] == 4


def test_steps_of_two_runs_are_not_joined() -> None:
    runs = [[30e3, 26e3, 26e3, 26e3, 26e3], [31e3, 13e3, 13e3, 13e3, 13e3]]
    log = "\n".join(MEGATRON.strip().format(n + 1, 0, ms) for run in runs for n, ms in enumerate(run))
    with pytest.raises(SeveralParts, match="2 runs"):
        read(log)
    assert [counts(read(log, "step-log", part=part))["step_seconds"] for part in (1, 2)] == [26, 13]
    with pytest.raises(FormatError, match="--part 3 is none"):
        read(log, "step-log", part=3)
    titan = "step: 10  loss: {0}  memory: 10.1GiB(12%)  tps: {1}  mfu: 39.7%\n"  # every rank prints the step
    assert counts(read(titan.format(3.4, "6,785") * 3))["steps"] == 1
    with pytest.raises(SeveralParts, match="2 runs"):
        read(titan.format(3.4, "6,785") * 2 + titan.format(3.3, "7,865") * 2)


JOB_SET = """\
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: train}
    spec:
      replicatedJobs:
      - name: coordinator
        template: {spec: {template: {spec: {containers: [{name: c}]}}}}
      - name: workers
        replicas: 2
        template:
          spec:
            parallelism: 4
            template:
              spec:
                containers:
                - name: w
                  resources: {limits: {nvidia.com/gpu: 8}}
    """


def test_a_job_set_has_as_many_nodes_as_pods_that_ask_for_accelerators() -> None:
    reading = read(JOB_SET)
    assert given(reading) == {"layout.nodes": 8, "cluster.accelerators_per_node": 8}
    assert counts(reading)["accelerators"] == 64
    assert "layout.nodes" not in given(read(JOB_SET.replace("nvidia.com/gpu: 8", "cpu: 8")))


def test_a_device_type_states_ports_by_rate_and_not_what_it_is() -> None:
    ports = "".join(f"  - {{name: swp{n}, type: infiniband-ndr}}\n" for n in range(64))
    head = "manufacturer: NVIDIA\nmodel: {0}\nslug: nvidia-x\nu_height: 1\ninterfaces:\n"
    tail = "  - {name: mgmt0, type: 1000base-t, mgmt_only: true}\npower-ports:\n  - {name: PSU1, maximum_draw: 1720}\n"
    reading = read(head.format("QM9700") + ports + tail)
    assert given(reading) == {"cluster.scale_out.switch": "quantum-2-qm9700"}
    assert (counts(reading)["ports of 400 Gb/s"], counts(reading)["watts of a power port, at most"]) == (64, 1720)
    other = read(head.format("Server X") + ports.replace("infiniband-ndr", "400gbase-x-qsfp112") + tail)
    assert (given(other), counts(other)["ports of 400 Gb/s"]) == ({}, 64)
    assert "whether it is a switch or a node" in unknown(other)


def test_direct_links_of_amd_smi_are_those_of_the_least_weight() -> None:
    devices = [f"0000:{n}c:00.0" for n in range(1, 5)]
    head = " " * 13 + " ".join(devices)

    def table(name: str, cell: str) -> str:
        rows = [" ".join([one, *("SELF" if one == other else cell for other in devices)]) for one in devices]
        return "\n".join(
            [f"{name} TABLE:", head, *(row.replace("SELF", "0") if cell == "15" else row for row in rows), ""]
        )

    reading = read(table("ACCESS", "ENABLED") + table("WEIGHT", "15") + table("LINK TYPE", "XGMI"))
    assert given(reading)["cluster.accelerators_per_node"] == 4
    assert given(reading)["cluster.scale_up.topology"] == "full-mesh"


OSU = """\
    # OSU MPI-CUDA{0} Bandwidth Test v7.3
    # Size      Bandwidth (MB/s)
    1                       1.98
    4194304             {1}
    """


def test_osu_counts_megabytes_of_a_million_bytes_and_sums_directions() -> None:
    plain = read(OSU.format("", "24500.50")).given[0].value
    both = read(OSU.format(" Bi-Directional", "49001.00")).given[0].value
    assert plain == both == {"collective": "send-recv", "ranks": 2, "size": "4 MiB", "busbw": "24.5005 GB/s"}
    with pytest.raises(SeveralParts, match="several tests"):
        read(OSU.format("", "1.00") + OSU.format("", "2.00"))
    with pytest.raises(FormatError, match="without its number of ranks"):
        read("# OSU MPI-CUDA Allreduce Latency Test v7.3\n# Size Avg Latency(us)\n4 10.5\n")


def test_a_collective_that_no_spec_has_is_not_taken_for_another() -> None:
    row = "  8388608  2097152  float  none  -1  100.0  83.89  73.40  0  100.0  83.89  73.40  0\n"
    head = "#       size   count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    assert "the collective" in unknown(read(f"$ mpirun -np 8 ./build/gather_perf -b 8M\n{head}{row}"))


NCCL = """\
all_reduce_perf_mpi -b 1G
#  Rank  0 Group  0 Pid {pid} on {host} device  0 [{bus}] {name}
#  Rank  1 Group  0 Pid {pid} on {host} device  1 [0000:f5:00] {name}
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1   8000.0  134.22  {rate}      0   8000.0  134.22  {rate}      0
"""


def test_tables_of_different_machines_are_chosen_by_part() -> None:
    """The same accelerators on other hosts are one machine; another name, or other bus addresses, are another."""
    first = NCCL.format(pid=1, host="a", bus="0000:75:00", name="NVIDIA B200", rate="134.22")
    same = first.replace("on a ", "on b ")
    assert sum(each.appended for each in read(first + same).given) == 2
    for other in (first.replace("B200", "H100 80GB HBM3"), first.replace("0000:75:00", "0000:05:00")):
        with pytest.raises(SeveralParts, match=r"lines 5 .* 10 .*--part N chooses"):
            read(first + other)
        second = read(first + other, "nccl-tests", part=2)
        assert [each.at.line for each in second.given if each.appended] == [10]
        assert given(second)["cluster.accelerator"] in {"b200-sxm-180gb", "h100-sxm-80gb"}
    with pytest.raises(FormatError, match="has 2 tables, and --part 3"):
        read(first + same, part=3)
    slower = same.replace("8000.0  134.22  134.22", "16000  67.11  67.11")
    with pytest.raises(SeveralParts, match="contradict each other"):
        read(first + slower)
    entry = read(first + same[: same.index("#       size")]).given[0].value  # a run without a table follows
    assert isinstance(entry, dict) and (entry["ranks"], entry["nodes"]) == (2, 1)


def test_one_direction_of_a_bidirectional_copy_is_shown_and_not_measured() -> None:
    """700 GB/s with 710 GB/s in the other direction: neither is halved, and neither is a link alone."""
    title = "memcpy CE GPU(row) <-> GPU(column) {0} bandwidth (GB/s)\n  0 1\n0 N/A {1}\n1 {1} N/A\n\n"
    running = "Running device_to_device_bidirectional_memcpy_write_ce.\n"
    reading = read(running + title.format("Write1", 700.0) + title.format("Write2", 710.0), "p2p")
    assert counts(reading)["device_to_device_bidirectional_memcpy_write_ce slowest pair, each way"] == "710 GB/s"
    assert not given(reading)
    assert "one direction while the other is copied too" in unknown(reading)


def test_a_collective_of_one_rank_measures_no_link() -> None:
    text = NCCL.format(pid=1, host="a", bus="0000:75:00", name="NVIDIA B200", rate="0.00")
    alone = "\n".join(line for line in text.splitlines() if "Rank  1" not in line)
    assert not read(alone).given and "one rank" in unknown(read(alone))


def test_output_of_several_tools_in_one_file_is_named_and_not_chosen_from() -> None:
    topology = "        GPU0    GPU1\nGPU0     X      NV18\nGPU1    NV18     X\n"
    log = NCCL.format(pid=1, host="a", bus="0000:75:00", name="NVIDIA B200", rate="134.22")
    parts = r"output of nvidia-smi-topo \(from line 1\), nccl-tests \(from line \d+\): import it once with each KIND"
    with pytest.raises(SeveralParts, match=parts):
        read(topology + log)
    assert given(read(topology + log, "nccl-tests"))["cluster.accelerator"] == "b200-sxm-180gb"
    assert counts(read(topology + log, "nvidia-smi-topo"))["accelerators"] == 2


def test_the_bandwidth_of_several_pairs_of_ranks_is_not_that_of_one() -> None:
    text = "# OSU MPI Multiple Bandwidth / Message Rate Test v7.0\n# [ pairs: 4 ]\n# Size MB/s\n8 252.65 9.1\n"
    with pytest.raises(FormatError, match="several pairs of ranks"):
        read(text)


RESULT = {
    "model_id": "openai/gpt-oss-120b",
    "num_prompts": 500,
    "request_rate": "inf",
    "burstiness": 1.0,
    "max_concurrency": 128,
    "duration": 40.0,
    "completed": 500,
    "total_input_tokens": 1_024_000,
    "total_output_tokens": 64_000,
    "output_throughput": 1600.0,
    "median_ttft_ms": 250.5,
}
PRINTED = """\
Traffic request rate: {0}
Burstiness factor: 0.25 (Gamma distribution)
============ Serving Benchmark Result ============
Successful requests:                     300
Failed requests:                         2
Benchmark duration (s):                  20.00
Total input tokens:                      300000
Total generated tokens:                  30000
Output token throughput (tok/s):         1500.00
---------------Time to First Token----------------
P99 TTFT (ms):                           1500.00
==================================================
"""


def test_a_load_test_states_its_load_and_what_was_measured() -> None:
    serving = "workload.serving"
    closed = {f"{serving}.load": "closed", f"{serving}.concurrency": 128, f"{serving}.requests": 500}
    reading = read(json.dumps(RESULT))
    lengths = {f"{serving}.input_tokens": {"mean": 2048}, f"{serving}.output_tokens": {"mean": 128}}
    named = {"workload.kind": "serve", "workload.model": "gpt-oss-120b"}
    assert given(reading) == named | closed | lengths
    assert counts(reading)["median_ttft_seconds"] == 0.2505
    spread = RESULT | {"input_lens": [1024] * 250 + [3072] * 250, "output_lens": [128] * 500}
    reading = read(json.dumps(spread))
    assert given(reading)[f"{serving}.input_tokens"] == {"mean": 2048, "p99": 3072, "max": 3072}
    assert given(reading)[f"{serving}.output_tokens"] == 128
    falling = RESULT | {"input_lens": [*range(2299, 1799, -1)]}  # the 495th of 500, and the largest
    assert given(read(json.dumps(falling)))[f"{serving}.input_tokens"] == {"mean": 2048, "p99": 2294, "max": 2299}
    offline = read(json.dumps(RESULT | {"max_concurrency": None}))
    assert given(offline)[f"{serving}.load"] == "offline"
    assert "import the launch" in unknown(offline)
    reading = read(PRINTED.format("12.5"))
    gamma = {"process": "gamma", "cv": 2.0}
    stated = {f"{serving}.load": "open", f"{serving}.request_rate": 12.5, f"{serving}.arrivals": gamma}
    assert given(reading).items() >= (stated | {f"{serving}.requests": 302}).items()
    assert counts(reading)["p99_ttft_seconds"] == 1.5
    assert "2 of 302 requests failed" in unknown(reading)


@pytest.mark.parametrize(
    ("completed", "offered", "failed"),
    [(500, 500, None), (499, 500, "1 of 500"), (0, 500, "500 of 500"), (500, None, None), (500, 400, None)],
)
def test_requests_that_did_not_complete_are_listed(completed: int, offered: int | None, failed: str | None) -> None:
    reading = read(json.dumps(RESULT | {"completed": completed, "num_prompts": offered}))
    assert counts(reading)["completed_requests"] == completed
    assert given(reading).get("workload.serving.requests") == offered
    assert [part.what for part in reading.unknown if "requests failed" in part.what] == (
        [f"{failed} requests failed"] if failed else []
    )


def test_a_load_test_whose_last_lines_are_cut_off_states_its_totals() -> None:
    whole = PRINTED.format("12.5")
    reading = read(whole[: whole.index("-----")])
    assert given(reading)["workload.serving.input_tokens"] == {"mean": 1000}
    with pytest.raises(FormatError, match="no result"):
        read(whole[: whole.index("Total generated")])


def test_runs_of_a_load_test_are_chosen_from() -> None:
    lines = "\n".join(json.dumps(RESULT | {"max_concurrency": limit}) for limit in (8, 16))
    for text, shown in ((lines, "line 2: at most 16 in flight"), (PRINTED.format(1) + PRINTED.format(2), "2 requests")):
        with pytest.raises(SeveralParts, match=shown):
            read(text)
    assert given(read(lines, "load-test", part=2))["workload.serving.concurrency"] == 16
    # Python writes Infinity, which JSON has not
    text = json.dumps(RESULT | {"request_rate": float("inf"), "max_concurrency": None})
    assert given(read(text))["workload.serving.load"] == "offline"


ACCELERATE = """\
distributed_type: {0}
mixed_precision: bf16
num_machines: 2
num_processes: 16
"""


def test_a_configuration_of_accelerate_states_sharding_and_degrees() -> None:
    fsdp = "fsdp_config:\n  {0}\n"
    for text, sharding in (
        (fsdp.format("fsdp_sharding_strategy: HYBRID_SHARD"), "hsdp"),
        (fsdp.format("fsdp_sharding_strategy: 2"), "zero2"),
        (fsdp.format("fsdp_reshard_after_forward: true"), "fsdp"),
        (fsdp.format("fsdp_version: 2"), None),
    ):
        reading = read(ACCELERATE.format("FSDP") + text)
        assert given(reading).get("layout.sharding") == sharding, text
        assert (given(reading)["layout.framework"], given(reading)["layout.nodes"]) == ("fsdp", 2)
    degrees = "parallelism_config:\n  parallelism_config_tp_size: 4\n  parallelism_config_dp_{0}: 2\n"
    both = degrees.format("shard_size") + "  parallelism_config_dp_replicate_size: 2\n"
    layout = given(read(ACCELERATE.format("FSDP") + both))
    assert [layout[f"layout.{key}"] for key in ("tp", "dp", "sharding", "shard_group")] == [4, 4, "hsdp", 2]
    layout = given(read(ACCELERATE.format("MULTI_GPU")))
    assert (layout["layout.dp"], layout["layout.sharding"]) == (16, "none")
    reading = read(
        ACCELERATE.format("DEEPSPEED") + "deepspeed_config:\n  zero_stage: 3\n  offload_optimizer_device: cpu\n"
    )
    assert given(reading)["layout.sharding"] == "fsdp"
    assert given(reading)["layout.offload.optimizer"] == 1


def test_a_configuration_of_accelerate_states_all_that_it_has_a_key_for() -> None:
    """Sixteen ranks on two nodes: eight on each. What has no key is listed, with its line."""
    base: dict[str, object] = {"workload.kind": "train", "workload.precision": "bf16", "layout.nodes": 2}
    for kind, lines, expected, left in (
        (
            "MEGATRON_LM",
            "megatron_lm_config:\n  megatron_lm_tp_degree: 4\n  megatron_lm_pp_degree: 2\n"
            "  megatron_lm_use_distributed_optimizer: true\n  megatron_lm_sequence_parallelism: false\n"
            "  megatron_lm_recompute_activations: true\n  megatron_lm_num_micro_batches: 6\n",
            {
                **{"layout.framework": "megatron-core", "layout.tp": 4, "layout.pp": 2, "layout.sharding": "zero1"},
                **{"layout.sequence_parallel": False, "layout.recompute": "selective"},
            },
            "",
        ),
        (
            "MEGATRON_LM",
            "megatron_lm_config:\n  megatron_lm_use_distributed_optimizer: false\n",
            {"layout.framework": "megatron-core", "layout.sharding": "none"},
            "",
        ),
        (
            "FSDP",
            "fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_activation_checkpointing: true\n"
            "  fsdp_offload_params: true\n",
            {
                **{"layout.framework": "fsdp", "layout.sharding": "fsdp", "layout.recompute": "full"},
                "layout.offload.optimizer": 1,
            },
            "fsdp_offload_params",
        ),
        (
            "DEEPSPEED",
            "deepspeed_config:\n  zero_stage: 2\n  offload_optimizer_device: none\n  offload_param_device: nvme\n"
            "  gradient_accumulation_steps: 3\n",
            {"layout.framework": "deepspeed", "layout.sharding": "zero2"},
            "offload_param_device: nvme",
        ),
        (
            "DEEPSPEED",
            "deepspeed_config:\n  deepspeed_config_file: ds.json\n",
            {"layout.framework": "deepspeed"},
            "ds.json: a separate file",
        ),
        ("TPU", "", {}, "distributed_type: TPU"),
        (
            "FSDP",
            "parallelism_config:\n  parallelism_config_dp_shard_size: 2\n  parallelism_config_dp_replicate_size: 2\n"
            "  parallelism_config_cp_size: 4\n",
            {"layout.framework": "fsdp", "layout.cp": 4, "layout.dp": 4, "layout.sharding": "hsdp"},
            "",
        ),
        (
            "FSDP",
            "parallelism_config:\n  parallelism_config_tp_size: 8\n",
            {"layout.framework": "fsdp", "layout.tp": 8, "layout.dp": 1, "layout.sharding": "none"},
            "",
        ),
    ):
        reading = read(ACCELERATE.format(kind) + lines)
        assert given(reading) == base | expected, lines
        wanted = {"ranks": 16, "ranks_per_node": 8}
        wanted |= {"micro_batches": 6} if "micro_batches" in lines else {}
        wanted |= {"gradient_accumulation_steps": 3} if "accumulation" in lines else {}
        assert counts(reading) == wanted, lines
        assert (left in unknown(reading)) and (left != "" or not unknown(reading)), (lines, unknown(reading))
    uneven = read(ACCELERATE.format("NO").replace("16", "15").replace("bf16", "no"))
    assert counts(uneven) == {"ranks": 15}


def test_a_log_that_a_script_quotes_in_a_comment_is_not_its_content() -> None:
    """A launch with the log of an earlier run below is a launch."""
    step = (
        "iteration 70/ 1000 | consumed samples: 280 | elapsed time per iteration (ms): 2738.6 | global batch size: 4 |"
    )
    launch = "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024 --bf16"
    reading = read(f"#!/bin/bash\n{launch}\n# {step}\n")
    assert given(reading)["layout.tp"] == 2 and "step_seconds" not in counts(reading)
    assert counts(read(f"{step}\n"))["step_seconds"] == 2.7386
    with pytest.raises(FormatError, match="has no step"):
        read(f"# {step}\n", "step-log")


TABLE = """\
# nThread 1 nGpus 4 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  4294967296    1073741824     float     sum      -1   52551    81.7   122.6      0    51204    83.9   125.8      0
  8589934592    2147483648     float     sum      -1  105104    81.7   122.6      0   102408    83.9   125.8      0
"""


def test_a_table_that_a_script_prints_is_no_log() -> None:
    """The same table is one where nothing prints it as text, and where a script's log follows."""
    log = f"# Collective test starting: all_reduce_perf\n{TABLE}"
    assert read(log, "nccl-tests", "log.txt").given
    printed = f"#!/bin/bash\n# runs all_reduce_perf\ncat << 'EOF'\n{TABLE}EOF\n"
    with pytest.raises(FormatError, match="text that the script prints, not the log of a run"):
        read(printed, "nccl-tests", "benchmark.sh")
    assert read(f"{printed}{log}", "nccl-tests", "job.out", part=2).given
