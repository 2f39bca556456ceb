"""What a file keeps apart stays apart, and what it leaves open is listed: tests of links, launches, jobs and rows."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

HEAD = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"


def link_test(average: float, rate: float = 0.18, size: int = 65536) -> str:
    """One side of a test of a link as perftest prints it."""
    sides = " local address: LID 0000 QPN 0x1\n GID: 00:01\n remote address: LID 0000 QPN 0x2\n GID: 00:02\n"
    return f"    RDMA_Write BW Test\n{sides}{HEAD} {size}      5000             0.00   {average}    {rate}\n---\n"


def entry(text: str, part: int | None = None) -> dict[str, object]:
    (only,) = [each.value for each in read(text, part=part).given if each.appended]
    assert isinstance(only, dict)
    return only


def test_both_sides_of_a_test_of_a_link_are_one_test() -> None:
    """98.03 Gb/s are 12.25375 GB/s."""
    assert counts(read(link_test(98.03) + link_test(98.03)))["rows"] == 1
    assert entry(link_test(98.03) + link_test(98.03))["busbw"] == "12.2538 GB/s"


def test_two_tests_of_links_are_not_joined() -> None:
    """Two links of a node, and two runs that differ by their message rate alone."""
    for second in (link_test(97.28), link_test(98.03, 0.19), link_test(97.28, size=8388608)):
        with pytest.raises(SeveralParts, match=r"several tests of two ranks, on lines 7 .*, 15 "):
            read(link_test(98.03) + second)
    assert entry(link_test(98.03) + link_test(97.28), part=2)["busbw"] == "12.16 GB/s"


def test_a_loopback_in_addition_to_a_test_of_a_link_does_not_hide_it() -> None:
    own = link_test(150.0).replace("GID: 00:02", "GID: 00:01")
    assert not [each for each in read(own).given if each.appended]
    assert entry(own + link_test(98.03), part=2)["nodes"] == 2


@pytest.mark.parametrize("average", ["368.48 \t\t   0.702829\t\t  0.00", "368.48   0.702829"])
def test_columns_after_the_average_do_not_hide_a_row(average: str) -> None:
    text = f"{HEAD} 65536      5000             368.67             {average}\n"
    assert entry(text)["busbw"] == "46.06 GB/s"


ROW = " 8589934592  2147483648  float  sum  -1  18920  {0}  {1}  0  18916  {0}  {1}  0\n"
COLUMNS = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"


def test_numbers_of_another_program_are_no_row_of_a_benchmark() -> None:
    processors = "23 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60\n"
    reading = read(f"# Collective test starting: all_reduce_perf\n{COLUMNS}{ROW.format(454.02, 681.03)}{processors}")
    assert counts(reading)["rows"] == 1
    assert "0 B in" not in unknown(reading)


@pytest.mark.parametrize(("algbw", "busbw", "ranks"), [("454.0", "851.3", 16), ("454.02", "681.03", 4)])
def test_ranks_follow_from_bandwidths_within_the_decimals_printed(algbw: str, busbw: str, ranks: int) -> None:
    """2 (n - 1) / n is 1.875 of 16 ranks: 851.3 / 454.0 is 1.8751, within one decimal, not within two."""
    assert entry(COLUMNS + ROW.format(algbw, busbw))["ranks"] == ranks


CONVERSION = "python3 -m MaxText.utils.ckpt_conversion.to_maxtext c.yml model_name=gemma3-12b scan_layers=false\n"
TRAINING = "python3 -m MaxText.{program} c.yml model_name={model} per_device_batch_size={batch} run_name={name}\n"


def training(batch: int = 2, model: str = "gemma3-12b", name: str = "a", program: str = "sft_trainer") -> str:
    return TRAINING.format(batch=batch, model=model, name=name, program=program)


@pytest.mark.parametrize("program", ["sft_trainer", "sft.sft_trainer", "train"])
def test_a_launch_of_maxtext_has_its_own_options_alone(program: str) -> None:
    reading = read(CONVERSION.replace("false", "false per_device_batch_size=9") + training(program=program))
    assert given(reading)["layout.micro_batch"] == 2
    assert "scan_layers" not in unknown(reading)


def test_two_launches_of_maxtext_are_not_joined() -> None:
    text = training() + training(4, name="b")
    with pytest.raises(SeveralParts, match="2 launches with different options, on lines 1, 2"):
        read(text)
    assert given(read(text, part=2))["layout.micro_batch"] == 4
    assert given(read(training() + training(name="b")))["layout.micro_batch"] == 2


JOB = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n"
SERVER = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 4\n"
TRAINER = "train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 1 --bf16 True\n"
HOSTS = 'scontrol show hostnames "$SLURM_JOB_NODELIST" > $HOSTS\n'


def test_the_nodes_of_a_job_are_listed_where_a_launch_does_not_say_that_it_uses_them() -> None:
    reading = read(JOB + SERVER)
    assert "layout.nodes" not in given(reading)
    assert "layout.nodes: 2: of the job" in unknown(reading)
    assert "layout.nodes" not in unknown(read(JOB.replace("=2", "=1") + SERVER))


def test_a_launch_on_the_hosts_of_a_job_uses_its_nodes() -> None:
    assert given(read(f"{JOB}{HOSTS}deepspeed --hostfile $HOSTS {TRAINER}"))["layout.nodes"] == 2
    assert "layout.nodes" not in given(read(f"{JOB}deepspeed --hostfile hosts {TRAINER}"))


def test_a_count_that_a_script_does_not_give_is_listed() -> None:
    listed = unknown(read(f"deepspeed --num_gpus 8 {TRAINER}".replace("size 1", "size $MB")))
    assert "per_device_train_batch_size: $MB: not an integer" in listed
    steps = f"deepspeed --num_gpus 8 {TRAINER.strip()} --gradient_accumulation_steps $((GLOBAL / 8))\n"
    assert "gradient_accumulation_steps: $((GLOBAL / 8)): not an integer" in unknown(read(steps))


def test_a_tool_of_dynamo_in_addition_to_an_engine_is_no_engine() -> None:
    tool = "python3 -m dynamo.sglang.utils.clear_namespace --namespace dynamo\n"
    engine = "python3 -m dynamo.sglang --model-path Qwen/Qwen3-0.6B --tp 2\n"
    assert given(read(tool + engine))["layout.tp"] == 2
    with pytest.raises(FormatError):
        read(tool)


def test_a_module_of_netbox_is_no_device() -> None:
    card = "manufacturer: NVIDIA\nmodel: Card X\npart_number: 900-5\ninterfaces:\n- {name: p1, type: infiniband-ndr}\n"
    assert "a type of a module" in unknown(read(card))
    assert "switch or a node" in unknown(read(f"{card}u_height: 1\n"))


def test_pools_of_azure_in_a_file_of_values_are_kept_apart() -> None:
    pool = '{0} = {{\n  node_count = {1}\n  node_size = "Standard_{2}_v5"\n}}\n'
    text = pool.format("one", 2, "NC40ads_H100") + pool.format("two", 3, "ND96isr_H100")
    reading = read(text, name="x.tfvars")
    assert "cluster.nodes" not in given(reading)
    assert "2 × Standard_NC40ads_H100_v5, 3 × Standard_ND96isr_H100_v5" in unknown(reading)


SIZES = "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --ffn-hidden-size 2048 --swiglu"
MEGATRON = f"torchrun pretrain_gpt.py --tensor-model-parallel-size 2 {SIZES} --seq-length 1024"


@pytest.mark.parametrize(("variant", "layers"), [("gated_delta_net", None), ("dsa", 8)])
def test_a_model_without_attention_is_not_taken_for_one_with_it(variant: str, layers: int | None) -> None:
    reading = read(f"{MEGATRON} --experimental-attention-variant {variant}\n")
    assert given(reading).get("workload.model.layers") == layers
    assert variant != "gated_delta_net" or "layers with another mixer" in unknown(reading)


def test_sizes_that_a_checkpoint_replaces_are_named() -> None:
    assert "use_checkpoint_args" in unknown(read(f"{MEGATRON} --use-checkpoint-args\n"))
    assert "use_checkpoint_args" not in unknown(read(f"{MEGATRON}\n"))


PRINTED = {
    "context_parallel_size": 1,
    "cp_comm_type": "['p2p']",
    "ffn_hidden_size": 2048,
    "group_query_attention": True,
    "hidden_size": 512,
    "kv_lora_rank": 32,
    "micro_batch_size": 4,
    "moe_router_topk": 2,
    "num_attention_heads": 8,
    "num_experts": None,
    "num_layers": 8,
    "num_query_groups": 2,
    "seq_length": 1024,
    "swiglu": True,
    "untie_embeddings_and_output_weights": False,
    "use_distributed_optimizer": False,
}
STEP = " iteration {0}/ 9 | consumed samples: 8 | elapsed time per iteration (ms): 250.0 | global batch size: 16 |\n"


def printed(prefix: str = "", **changed: object) -> str:
    lines = [f"{prefix}  {name} {'.' * (48 - len(name))} {value}\n" for name, value in (PRINTED | changed).items()]
    return f"{prefix}{'-' * 24} arguments {'-' * 24}\n{''.join(lines)}{prefix}{'-' * 20} end of arguments {'-' * 20}\n"


@pytest.mark.parametrize("prefix", ["", "0: "])
def test_a_step_log_states_the_arguments_that_megatron_prints(prefix: str) -> None:
    found = given(read(printed(prefix) + "".join(map(STEP.format, range(1, 6)))))
    model = {"layers": 8, "hidden": 512, "heads": 8, "kv_heads": 2, "ffn_hidden": 2048}
    assert {key: found[f"workload.model.{key}"] for key in model} == model
    assert (found["layout.micro_batch"], found["workload.sequence_length"]) == (4, 1024)
    assert (found["layout.sharding"], found["workload.model.tied_embeddings"]) == ("none", True)
    off = ("workload.model.experts_per_token", "workload.model.latent_attention.kv", "layout.cp_method")
    assert not set(off) & found.keys()


def test_arguments_that_others_turn_on_hold() -> None:
    changed = printed(num_experts=16, use_distributed_optimizer=True, group_query_attention=False)
    found = given(read(changed + "".join(map(STEP.format, range(1, 6)))))
    assert (found["workload.model.experts"], found["workload.model.experts_per_token"]) == (16, 2)
    assert found["layout.sharding"] == "zero1"
    assert "workload.model.kv_heads" not in found


def test_arguments_of_megatron_deepspeed_are_read_from_its_log() -> None:
    words = {"num_experts": "[1]", "num_key_value_heads": 2, "zero_stage": 1, "swiglu": True, "num_query_groups": None}
    steps = "".join(STEP.format(n).replace("samples: 8 |", "samples: 8 | consumed tokens: 8192 |") for n in range(1, 6))
    found = given(read(printed("localhost: ", **words) + steps))
    assert (found["layout.framework"], found["layout.sharding"]) == ("megatron-deepspeed", "zero1")
    assert (found["workload.model.layers"], found["workload.model.kv_heads"], found["layout.micro_batch"]) == (8, 2, 4)
    assert "workload.model.experts" not in found


def test_the_stage_that_deepspeed_prints_replaces_the_argument() -> None:
    words = {"num_experts": "[1]", "num_key_value_heads": 2, "zero_stage": 1, "swiglu": True, "num_query_groups": None}
    steps = "".join(STEP.format(n).replace("samples: 8 |", "samples: 8 | consumed tokens: 8192 |") for n in range(1, 6))

    def sharding(*stages: int) -> object:
        lines = "".join(f"[INFO] [config.py:991:print]   zero_optimization_stage ...... {stage}\n" for stage in stages)
        return given(read(printed("localhost: ", **words) + lines + steps)).get("layout.sharding")

    assert (sharding(), sharding(0), sharding(2, 2), sharding(0, 2)) == ("zero1", "none", "zero2", None)


def test_listings_that_differ_are_not_joined() -> None:
    steps = "".join(map(STEP.format, range(1, 6)))
    for other, stated in ((printed(), True), (printed(num_layers=12), False)):
        assert ("workload.model.layers" in given(read(printed() + other + steps))) is stated


def test_the_image_of_an_engine_is_no_launch() -> None:
    step = "srun --container-image=docker.io/lmsysorg/sglang:dev bash collect.sh\n"
    engine = "srun --container-image=lmsysorg/sglang:dev python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"
    assert given(read(f"{step}{engine} --tp 4\n"))["layout.tp"] == 4


def test_training_in_addition_to_a_server_is_named() -> None:
    trainer = "torchrun --nproc_per_node=4 \\\n    -m example.trainer.ppo actor.model=x\n"
    assert "example.trainer.ppo: another program" in unknown(read(SERVER + trainer))
    assert "another program" not in unknown(read(f"torchrun --nproc_per_node=4 vllm_batch.py\n{SERVER}"))


GROUP = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
        - name: server
          env: [{name: LOCAL, value: "8"}]
          command: [bash, -c]
          args:
          - |
            vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 1 --enable-expert-parallel \\
              --data-parallel-size $((LWS_GROUP_SIZE * LOCAL)) --data-parallel-size-local $LOCAL
          resources: {limits: {nvidia.com/gpu: 8}}
"""


def test_the_size_of_a_group_is_a_variable_of_its_pods() -> None:
    """Two pods of eight ranks each."""
    found = given(read(GROUP))
    assert (found["layout.attention_dp"], found["layout.ep"], found["layout.nodes"]) == (16, 16, 2)


def test_an_example_of_values_is_a_file_of_values() -> None:
    pool = 'partitions = [{ machine_type = "a2-highgpu-1g"\n static_node_count = 1\n max_node_count = 20 }]\n'
    reading = read(pool, name="x.tfvars.example")
    assert given(reading)["cluster.platform"] == "gcp-a2-highgpu-1g"
    assert "between 1 and 20, by load" in unknown(reading)


@pytest.mark.parametrize(
    ("kind", "rate"), [("1000base-t", "1"), ("2.5gbase-t", "2.5"), ("100base-tx", "0.1"), ("400gbase-x-osfp", "400")]
)
def test_ports_of_every_rate_are_counted(kind: str, rate: str) -> None:
    device = f"manufacturer: X\nmodel: Y\nslug: x-y\nu_height: 1\ninterfaces:\n- {{name: p1, type: {kind}}}\n"
    assert counts(read(device))[f"ports of {rate} Gb/s"] == 1


def test_accelerators_that_pods_claim_are_listed() -> None:
    worker = """\
        apiVersion: nvidia.com/v1beta1
        kind: DynamoGraphDeployment
        metadata: {name: x}
        spec:
          components:
          - name: Worker
            podTemplate:
              spec:
                containers:
                - name: main
                  command: [python3, -m, dynamo.vllm]
                  args: [--model, Qwen/Qwen3-0.6B]
                  resources: {claims: [{name: gpu}]}
            replicas: 1
        """
    assert "cluster.accelerators_per_node: no pod states its number" in unknown(read(worker))


def test_a_pod_without_accelerators_is_refused_for_that() -> None:
    pod = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: load, resources: {requests: {cpu: 8}}}\n"
    with pytest.raises(FormatError, match="whose pods ask for no accelerators"):
        read(pod, "kubernetes")


NEMO = "python3 run.py --factory 'recipe()' trainer.devices=8 trainer.strategy.tensor_model_parallel_size={} {}\n"


def test_overrides_of_two_commands_are_not_joined() -> None:
    """A script that trains twice states no single layout; a command that repeats another one is no second one."""
    both = NEMO.format(2, "data.global_batch_size=64") + NEMO.format(4, "")
    with pytest.raises(SeveralParts, match="2 launches with different options, on lines 1, 2"):
        read(both)
    assert given(read(both, part=2))["layout.tp"] == 4
    assert "workload.global_batch" not in given(read(both, part=2))
    assert given(read(NEMO.format(2, "") * 2))["layout.tp"] == 2


def test_a_command_that_only_writes_its_configuration_is_no_launch() -> None:
    """NeMo-Run ends after ``--to-yaml``: the degrees of that command are not those of the training below it."""
    written = NEMO.format(1, "data.global_batch_size=2048 --to-yaml out.yaml")
    assert given(read(written + NEMO.format(4, "")))["layout.tp"] == 4
    assert "workload.global_batch" not in given(read(written + NEMO.format(4, "")))
    with pytest.raises(FormatError, match="no launch with size keys"):
        read(written + "torchrun run.py --factory 'recipe()' trainer.devices=8\n", "megatron")


def test_what_a_node_prints_does_not_part_the_launches_of_two_nodes() -> None:
    launch = "vllm serve meta-llama/Llama-3.3-70B-Instruct --tensor-parallel-size 8 --max-num-seqs {} {}\n"
    assert given(read(launch.format(64, "") + launch.format(64, "--log-level debug")))["layout.tp"] == 8
    with pytest.raises(SeveralParts):
        read(launch.format(64, "") + launch.format(65, "--log-level debug"))


def test_the_command_above_a_table_states_its_ranks() -> None:
    """One process with eight accelerators; of two commands, or one of a launcher, none is taken."""
    row = ROW.format(454.02, 454.02)
    own = "./build/sendrecv_perf -b 128M -e 8G -t 2 -g 4\n"
    assert entry(f"{own}{COLUMNS}{row}") == {
        "collective": "send-recv",
        "nodes": 1,
        "ranks": 8,
        "size": "8 GiB",
        "busbw": "454.02 GB/s",
    }
    for other in (
        "mpirun -np 16 \\\n./build/sendrecv_perf -g 1\n",
        own + own.replace("4", "2"),
        "",
        own.replace("4", "$N"),
    ):
        assert "ranks" not in entry(f"{other}# sendrecv_perf\n{COLUMNS}{row}")


BOTH = """
    CUDA_VISIBLE_DEVICES=0 vllm serve Qwen/Qwen3-14B --tensor-parallel-size 1 --port 8100 {options} &
    CUDA_VISIBLE_DEVICES=1 vllm serve Qwen/Qwen3-14B --tensor-parallel-size 1 --port 8200 {options} &
"""
EITHER = """--kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'"""


def test_engines_that_may_each_prefill_or_decode_are_kept_apart() -> None:
    text = BOTH.format(options=EITHER)
    with pytest.raises(SeveralParts, match=r"2 launches that may each prefill or decode \(kv_both\), on lines 2, 3"):
        read(text, name="start.sh")
    second = read(text, name="start.sh", part=2)
    assert given(second)["layout.tp"] == 1 and next(each for each in second.given if each.path[-1] == "tp").at.line == 3


@each("options", ["", f"{EITHER} --node-rank 1", f"{EITHER} --headless"])
def test_copies_of_one_engine_and_its_nodes_are_one_launch(options: str) -> None:
    assert given(read(BOTH.format(options=options), name="start.sh"))["layout.tp"] == 1


def test_steps_of_a_job_that_start_one_engine_are_one_launch() -> None:
    step = "srun --nodes=1 --output=node{0}.out -w $NODE{0} python3 -m sglang.launch_server --tp 4 --node-rank {0}\n"
    found = given(read(step.format(0) + step.format(1)))
    assert (found["layout.framework"], found["layout.tp"]) == ("sglang", 4)
    with pytest.raises(SeveralParts, match="2 launches"):
        read(step.format(0) + step.format(1).replace("--tp 4", "--tp 8"))


@pytest.mark.parametrize(
    "launch",
    [
        "python v3_hf_to_mg.py --expert-model-parallel-size 1 --num-layers 2 --hidden-size 64 --num-attention-heads 4",
        "python a.py --tensor-model-parallel-size 1 --target-tensor-parallel-size 8 --num-layers 2 --hidden-size 64",
    ],
)
def test_a_conversion_is_named_as_no_training(launch: str) -> None:
    assert "converts a checkpoint: it does not state a layout of training" in unknown(read(launch))


def test_overrides_after_the_path_of_llama_factory_are_read_where_a_variable_names_the_configuration() -> None:
    launch = (
        "NAME=vision\nCONFIG=configs/$NAME.yaml\naccelerate launch --config_file configs/fsdp.yaml \\\n"
        '  src/train.py "$CONFIG" \\\n  per_device_train_batch_size=2 \\\n  gradient_accumulation_steps=4\n'
    )
    reading = read(launch)
    assert (reading.kind, given(reading)["layout.micro_batch"]) == ("llama-factory", 2)
    assert "configs/vision.yaml: a separate file: import it as well" in unknown(reading)
