"""What a file keeps apart stays apart, and what it leaves open is listed: tests of links, launches, jobs and rows."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
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


def test_a_loopback_beside_a_test_of_a_link_does_not_hide_it() -> None:
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


def test_a_tool_of_dynamo_beside_an_engine_is_no_engine() -> None:
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
