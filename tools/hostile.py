"""Hostile variants of every import format, with their time and space: ``python -m tools.hostile [KIND…]``.

Each variant is read in a process of its own. It must be read or refused in one line, within `SECONDS` and `MEBIBYTES`
of resident memory. Exit status 1 where one is not.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType

from clusterspec.exchange import import_formats
from clusterspec.exchange.documents import result_with_known_keys
from clusterspec.exchange.import_formats import IMPORT_FORMATS, ImportFormat
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.merge import new_spec

SECONDS = 5.0
"""Processor seconds that a variant may take."""
MEBIBYTES = 300
"""Resident memory that a variant may take."""
READ, REFUSED, SEVERAL_LINES, TRACEBACK, TOO_SLOW = range(5)
OUTCOMES = ("read", "refused", "refused in several lines", "traceback", "too slow")
SAMPLES = {
    "nccl-topo": '<system version="1"><cpu numaid="0"><pci busid="0000:1b:00.0" class="0x030200"/></cpu></system>\n',
    "rocm-smi-topo": "LINK TYPE TABLE:\n 0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 SELF XGMI\n0000:22:00.0 XGMI SELF\n",
    "nvidia-smi-topo": "     GPU0 GPU1 NIC0\nGPU0  X NV18 PIX\nGPU1 NV18 X SYS\nNIC0 PIX SYS X\n\n",
    "nvidia-smi-nvlink": "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n",
    "neuron-ls": '[{"neuron_device": 0, "nc_count": 2, "connected_to": [0], "memory_size": 34359738368}]\n',
    "hl-smi": "| 0  HL-225   N/A | 0000:19:00.0 N/A | 768MiB / 98304MiB |\nHL-SMI Version\n",
    "lspci": "1b:00.0 3D controller: NVIDIA GH100 [H100 SXM5 80GB]\n\t\tLnkCap:\tSpeed 32GT/s, Width x16\n",
    "ibnetdiscover": 'Switch\t65 "S-1"\t\t# "leaf"\n[1]\t"H-1"[1](1)\t\t# "node1 mlx5_0" lid 1 4xNDR\n',
    "ibstat": "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n",
    "netq": '[{"links": [{"id": 1}], "compounded_links": [], "nodes": []}]\n',
    "topograph": "switches:\n  core: {switches: [leaf]}\nblocks:\n  - {switch: leaf, nodes: ['n[1-8]']}\n",
    "slurm-topology": "SwitchName=leaf1 Nodes=n[1-8]\nSwitchName=spine Switches=leaf1\n",
    "slurm-nodes": "PartitionName=gpu Nodes=g[1-2] TotalNodes=2 TRES=cpu=64,gres/gpu=16\n",
    "accelerate": "distributed_type: FSDP\nnum_processes: 16\nfsdp_config: {fsdp_sharding_strategy: FULL_SHARD}\n",
    "kubernetes": (
        "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec: {mpiReplicaSpecs: {Worker: {replicas: 2}}}\n---\n"
    ),
    "netbox": "manufacturer: NVIDIA\nmodel: QM9700\nslug: q\ninterfaces:\n  - {name: p1, type: infiniband-ndr}\n",
    "compose": "services:\n  a:\n    gpus: [{count: 4}]\n    image: own\n",
    "parallelcluster": (
        "Scheduling:\n  SlurmQueues:\n  - Name: q\n    ComputeResources:\n"
        "    - {Name: c, InstanceType: p5.48xlarge, MinCount: 2, MaxCount: 2}\n"
    ),
    "cluster-toolkit": (
        "blueprint_name: b\ndeployment_groups:\n- modules:\n  - id: p\n    source: modules/compute/vm-instance\n"
        "    settings: {machine_type: a3-highgpu-8g, instance_count: 2}\n"
    ),
    "lstopo": (
        '<topology version="2.0">\n<object type="Machine">\n'
        '<object type="PCIDev" pci_busid="0000:04:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1"/>\n'
        "</object>\n</topology>\n"
    ),
    "cloudformation": (
        "Parameters: {N: {Default: 2}}\nResources:\n  A:\n    Type: AWS::SageMaker::Cluster\n    Properties:\n"
        "      InstanceGroups: [{InstanceType: ml.p5.48xlarge, InstanceCount: !Ref N}]\n"
    ),
    "hyperpod": '[{"InstanceGroupName": "w", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}]\n',
    "ray-chart": "head:\n  rayStartParams: {}\nworker:\n  replicas: 2\n  resources: {limits: {nvidia.com/gpu: 8}}\n",
    "astra-sim": "topology: [Ring, Switch]\nnpus_count: [8, 4]\nbandwidth: [50.0, 25.0]\nlatency: [500.0, 500.0]\n",
    "infragraph": "name: pod\ninstances:\n- {name: host, device: node, count: 2}\ndevices: []\nedges: []\n",
    "terraform": '{"format_version": "1.2", "planned_values": {"root_module": {"resources": []}}}\n',
    "nccom-test": (
        "nccom-test -r 2 allr\n size(B) count(elems) type time(us) algbw(GB/s) busbw(GB/s)\n 33554432 1 u 768 43 43\n"
    ),
    "hccl": "[BENCHMARK] hcclAllReduce(src!=dst, dataSize=33554432, count=1)\n[BENCHMARK] NW Bandwidth : 250.1 GB/s\n",
    "perftest": (
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]\n"
        " 65536      5000           392.0              391.0\n"
    ),
    "perftest-latency": " #bytes #iterations  t_min[usec]  t_max[usec]  t_avg[usec]\n 2 1000 1.7 6.1 1.8\n",
    "iperf3": '{"start": {"test_start": {"num_streams": 8}}, "end": {"sum_received": {"bits_per_second": 9.1e10}}}\n',
    "fio": '{"fio version" : "fio-3.35", "jobs" : [{"jobname" : "a", "write" : {"bw_bytes" : 2000000000}}]}\n',
    "p2p": (
        "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
        " D\\D 0 1\n 0 1800.0 370.0\n 1 370.0 1800.0\n\n"
    ),
    "osu": "# OSU MPI Bandwidth Test v7.0\n# Size      Bandwidth (MB/s)\n1048576      24000.1\n",
    "imb": (
        "mpirun -n 8 -ppn 4 IMB-MPI1\n# Benchmarking Allreduce\n# #processes = 8\n"
        " #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n 1048576 40 90.0 100.0 95.0\n"
    ),
    "bandwidth-table": "all_reduce\n| size | busbw |\n|---|---|\n| 1GiB | 300 GB/s |\n\n",
    "nccl-tests": (
        "# size count type redop root time algbw busbw #wrong\n"
        "1073741824 268435456 float sum -1 8000.0 134.22 234.88 0\n"
    ),
    "simai-busbw": "test\nTP:\n  allreduce,: 300\n  allgather,: 280\n",
    "dynamo": (
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nspec:\n  services:\n    w:\n      replicas: 2\n"
        "      extraPodSpec: {mainContainer: {args: [python3, -m, dynamo.vllm, --model, a/b]}}\n---\n"
    ),
    "calculon": '{"num_procs": 8, "tensor_par": 8, "microbatch_size": 1, "activation_recompute": "none"}\n',
    "huggingface": '{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32}\n',
    "step-log": (
        " iteration 5/ 10 | elapsed time per iteration (ms): 15800.1 | global batch size: 64 | lm loss: 1.0 |\n"
    ),
    "hosted-server": "SM_VLLM_TENSOR_PARALLEL_SIZE=8 SM_VLLM_MAX_NUM_SEQS=64 SM_VLLM_MODEL=a/b serve\n",
    "tgi": "text-generation-launcher --model-id a/b --num-shard 8 --max-batch-size 64\n",
    "veomni": "model: {model_path: a/b}\ndata: {max_seq_len: 2048}\ntrain:\n  data_parallel_mode: fsdp2\n"
    "  ulysses_parallel_size: 2\n  micro_batch_size: 1\n  global_batch_size: 8\n",
    "ray-launcher": "cluster_name: a\nprovider: {type: aws}\navailable_node_types:\n  a:\n    min_workers: 2\n"
    "    resources: {GPU: 8}\n    node_config: {InstanceType: p4d.24xlarge}\n",
    "serving": "vllm serve org/model --tensor-parallel-size 8 --max-model-len 8192\n",
    "accelmark": '{"suite_id": "A", "implementation_id": "a", "chip": {"name": "NVIDIA L4", "count": 1}, "model": {},'
    ' "task": {}, "metrics": {"online": {"results_by_qps": [{"target_qps": 5, "ttft_ms_p50": 4.5}]}}}\n',
    "mlperf-config": "export DGXNNODES=2\nexport DGXNGPU=8\nexport TP=4\nexport MINIBS=8\n",
    "torchtune": "model:\n  _component_: torchtune.models.llama3.llama3_8b\nbatch_size: 2\n"
    "optimizer:\n  _component_: torch.optim.AdamW\n",
    "nanotron": "parallelism:\n  dp: 2\n  tp: 2\n  pp: 1\ntokens:\n  micro_batch_size: 2\n"
    "  batch_accumulation_per_replica: 4\n",
    "internevo": "data = dict(seq_len=2048, micro_num=4, micro_bsz=2)\nmodel = dict(num_layers=2, hidden_size=64)\n"
    "parallel = dict(zero1=dict(size=8), tensor=dict(size=2, mode='mtp'))\n",
    "olmo-core": "from olmo_core.config import DType\nTransformerTrainModuleConfig(\n  rank_microbatch_size=2 * 4096,\n"
    "  max_sequence_length=4096,\n)\nbuild_config(global_batch_size=2**20, num_nodes=2)\n",
    "fairseq2": "gang:\n  tensor_parallel_size: 2\ntrainer:\n  grad_accumulation:\n    num_batches: 4\n"
    "dataset:\n  max_seq_len: 4096\n  max_num_tokens: 8192\nregime:\n  num_steps: 1000\n",
    "levanter": "model:\n  type: llama\n  num_layers: 2\n  hidden_dim: 64\ntrainer:\n  mp: p=f32,c=bfloat16\n"
    "  train_batch_size: 8\n  num_train_steps: 10\n  per_device_parallelism: 2\n",
    "paddlenlp": (
        '{"per_device_train_batch_size": 2, "gradient_accumulation_steps": 8, "tensor_parallel_degree": 4,\n'
        '"pipeline_parallel_degree": 2, "sharding": "stage1", "max_seq_length": 4096}\n'
    ),
    "colossalai": "colossalai run --nproc_per_node 8 train.py --plugin 3d --tp 2 --pp 2 --batch_size 16\n",
    "mindformers": (
        "run_mode: train\nrunner_config: {batch_size: 2}\nparallel_config:\n  data_parallel: 8\n  model_parallel: 4\n"
        "  pipeline_stage: 2\n  micro_batch_num: 16\nmodel: {model_config: {type: LlamaConfig, hidden_size: 8192}}\n"
    ),
    "easylm": "python -m EasyLM.models.llama.llama_train --mesh_dim='1,8,1' --train_dataset.a.batch_size=64\n",
    "modalities": "settings:\n  step_profile:\n    local_train_micro_batch_size: 2\n    dp_degree: 4\n"
    "app_state:\n  component_key: app_state\n  config:\n    model:\n      component_key: model\n"
    "      variant_key: gpt2\n      config:\n        n_layer: 2\n        n_embd: 512\n        ffn_hidden: 1024\n",
    "llm-foundry": "model:\n  name: mpt_causal_lm\n  d_model: 512\n  n_layers: 2\nglobal_train_batch_size: 8\n",
    "neuronx": "torchrun --nproc_per_node 32 tp_zero1_llama_hf_pretrain.py --tensor_parallel_size 8 --seq_len 4096\n",
    "slurm-job": "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\nsrun python a.py\n",
    "xpk": "xpk workload create --tpu-type=v6e-256 --num-slices=2 --command='python a.py'\n",
    "batch-job": "#!/bin/bash\n#PBS -l select=2:ngpus=4:host=a+1:ngpus=4\n#BSUB -n 8\n#BSUB -gpu num=4\na\n",
    "launcher": "torchrun --nnodes=2 --nproc_per_node=8 a.py --lr 1 &\n",
    "settings": "python a.py --tensor_parallel_size 2 --micro_batch_size 4 model.pipeline_parallel_size=2\n",
    "litgpt": "checkpoint_dir: a/b\ntrain:\n  global_batch_size: 8\n  micro_batch_size: 2\nlogger_name: csv\n",
    "llama-factory": "model_name_or_path: a/b\nstage: sft\nfinetuning_type: full\nper_device_train_batch_size: 1\n",
    "torchtitan": "[parallelism]\ntensor_parallel_degree = 2\n[training]\nlocal_batch_size = 1\n",
    "megatron": "torchrun pretrain_gpt.py --tensor-model-parallel-size 8 --num-layers 32 --hidden-size 4096\n",
    "gpt-neox": '{"pipe_parallel_size": 1, "model_parallel_size": 2, "num_layers": 24, "hidden_size": 2048}\n',
    "deepspeed": '{"train_batch_size": 64, "zero_optimization": {"stage": 3}}\n',
    "maxtext": "base_emb_dim: 4096\nbase_num_decoder_layers: 32\nper_device_batch_size: 4\n",
    "openrlhf": "python3 -m openrlhf.cli.train_ppo_ray --pretrain a/b --rollout_batch_size 8 --zero_stage 3\n",
    "slime": "python3 train.py --train-backend fsdp --rollout-batch-size 8 --actor-num-gpus-per-node 4\n",
    "verl": "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=8 data.train_batch_size=512\n",
    "hyperpod-recipe": (
        "run: {model_type: llm_finetuning_aws}\ntrainer: {devices: 8, num_nodes: 2}\ntraining_config:\n"
        "  run:\n    model_type: a\n  training_args: {train_batch_size: 8}\n"
    ),
    "swift-serve": "swift deploy --model a/b --infer_backend vllm --vllm_tensor_parallel_size 8\n",
    "skyrl": "python -m skyrl.train.main trainer.policy.model.path=a/b trainer.train_batch_size=512\n",
    "oumi": "model:\n  model_name: a/b\ntraining: \n  trainer_type: TRL_SFT\n  per_device_train_batch_size: 2\n",
    "easyr1": "python3 -m verl.trainer.main worker.rollout.n=8 data.rollout_batch_size=512\n",
    "roll": "actor_train:\n  strategy_args: {strategy_name: megatron_train}\n  device_mapping: list(range(0,8))\n",
    "nemo-rl": "policy:\n  generation:\n    vllm_cfg: {tensor_parallel_size: 2}\ngrpo: {num_prompts_per_step: 8}\n",
    "nemo-automodel": (
        "step_scheduler: {global_batch_size: 8}\nmodel: {_target_: nemo_automodel.A}\ndistributed: {tp_size: 2}\n"
    ),
    "iblinkinfo": (
        "Switch: 0x0000000000000001 Quantum Mellanox Technologies:\n"
        '     1    1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>  10 1[  ] "node1 mlx5_0" ( )\n'
    ),
    "mlperf-system": (
        '{"division": "closed", "number_of_nodes": "8", "accelerators_per_node": 8, '
        '"accelerator_model_name": "NVIDIA H100-SXM5-80GB"}\n'
    ),
    "superbench": '{"node": "n1", "nccl-bw/allreduce_8589934592_busbw:0": 450.0}\n',
    "cvs": (
        '[{"name": "AllReduce", "size": 8589934592, "type": "float", "inPlace": 1, "busBw": 330.1, "algBw": 170.5}]\n'
    ),
    "nvcre": (
        '{"kind": "BandwidthMeasurement", "spec": {"testType": "all_reduce"}, '
        '"status": {"results": [{"sizeBytes": 8589934592, "algBW": "213.33", "busBW": "400.00"}]}}\n'
    ),
    "trtllm-config": "tensor_parallel_size: 8\nkv_cache_config: {dtype: fp8}\n",
    "srt-slurm": (
        "resources: {gpu_type: h100, agg_nodes: 1, agg_workers: 1}\nbackend:\n  type: vllm\n  vllm_config:\n"
        "    aggregated: {tensor-parallel-size: 8}\n"
    ),
    "nim": "apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nspec: {replicas: 1}\n---\n",
    "load-test": (
        '{"backend": "vllm", "num_prompts": 4, "request_rate": "inf", "max_concurrency": 4, "completed": 4, '
        '"total_input_tokens": 16, "total_output_tokens": 8, "duration": 2.0}\n'
    ),
    "trainer": "torchrun train.py --per_device_train_batch_size 4 --bf16 True --fsdp full_shard\n",
    "task": "resources:\n  accelerators: H100:8\nnum_nodes: 2\nrun: |\n  a\n",
    "quote": "part,description,quantity,unit price\nDGX,H100 system,4,300000\n",
}
"""A sound start of a file of each format."""
OTHER_FORMS = {
    "load-test": (
        '{"request_throughput": {"unit": "requests/sec", "avg": 2}, "request_count": {"unit": "requests", "avg": 10}, '
        '"request_latency": {"unit": "ms", "avg": 900.0}, "output_sequence_length": {"unit": "tokens", "avg": 64}}\n',
        "Metric,avg,min,max,p99\nOutput Sequence Length (tokens),64.00,60.00,70.00,70.00\n\n"
        "Metric,Value\nRequest Count,10.00\nRequest Throughput (requests/sec),2.00\n",
        "┃ Statistic ┃ avg ┃ min ┃\n┡━━━╇━━━╇━━━┩\n│ Request Latency (ms) │ 900.00 │ 800.00 │\n"
        "│ Output Sequence Length │ 64.00 │ 60.00 │\n│ Request Throughput (per sec) │ 2.00 │ N/A │\n└───┴───┴───┘\n",
    ),
    "step-log": (
        "Training epoch 0, iteration 1/9 | global_batch_size: 8 | global_step: 1 | train_step_timing in s: 3.1\n",
        "Epoch 0: : 2%| 2/9 [00:10<00:00, reduced_train_loss=0.1, global_step=1.000, train_step_timing in s=3.130]\r",
        "using world size: 16, data-parallel size: 2, context-parallel size: 1, tensor-model-parallel size: 4, "
        "pipeline-model-parallel size: 2\n",
        ':::MLLOG {"key": "global_batch_size", "value": 2048, "metadata": {}}\n'
        ':::MLLOG {"key": "tracked_stats", "value": {"train_step_timing in s": 4.5, "reduced_train_loss": 2.5}, '
        '"metadata": {"lineno": 1, "step": 4096}}\n',
        ':::SYSJSON {"number_of_nodes": "1", "accelerators_per_node": "8", "accelerator_model_name": "NVIDIA B200"}\n'
        ':::MLLOG {"key": "global_batch_size", "value": 8}\n:::MLLOG {"key": "lora_rank", "value": 16}\n',
    ),
}
"""Sound starts of further forms of a format."""


_NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def variants(kind: ImportFormat, text: str = "") -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The hostile variants of a format by name, of the sample or of another ``text``; one is made where it is read."""
    sample, most = (text or SAMPLES[kind.name]).encode(), kind.largest << 20

    def repeated(unit: bytes, size: int) -> bytes:
        return unit * (size // len(unit))

    yield "100 MB", lambda: repeated(sample, 100_000_000)
    yield "repeated to the limit", lambda: repeated(sample, most - 4096)
    yield (
        "numbered lines to the limit",
        lambda: sample + b"".join(b"%d %s" % (n, sample) for n in range((most - 8192) // (len(sample) + 8))),
    )
    yield "one line to the limit", lambda: sample + repeated(sample.replace(b"\n", b" "), most - 8192)
    yield "a long last word", lambda: sample.rstrip() + b"A" * (most - 8192)
    yield "blanks to the limit", lambda: sample + b" " * (most - 8192) + sample
    yield "line feeds to the limit", lambda: sample + b"\n" * (most - 8192) + sample
    yield "digits to the limit", lambda: sample.rstrip() + b"9" * (most - 8192)
    yield "other formats after it", lambda: b"".join([sample, *(text.encode() for text in SAMPLES.values())])
    yield "other formats, repeated", lambda: repeated("".join(SAMPLES.values()).encode(), min(most, 2 << 20) - 8192)
    yield "deep lists", lambda: sample + b"[" * 200_000
    yield "deep mappings", lambda: sample + b'{"a": ' * 100_000
    yield "deep blocks", lambda: sample + b"".join(b" " * n + b"a:\n" for n in range(1_200))
    yield "deep sequence", lambda: sample + b"- " * 200_000
    yield "deep tags", lambda: b"<system>" + b"<pci>" * 200_000
    yield "a chain of aliases", lambda: _aliases() + sample
    yield "entities", lambda: b'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]><system>&c;</system>' + sample
    yield "brackets", lambda: sample + repeated(b"([{<$`", min(most, 2 << 20) - 8192)
    yield "quotes and continuation", lambda: sample + repeated(b"\"'\\\n", min(most, 2 << 20) - 8192)
    yield "NUL", lambda: sample + b"\0" + sample
    yield "binary", lambda: sample + bytes(range(256)) * 4_000
    yield "not UTF-8", lambda: sample + b"\xff\xfe\xfd" * 1_000
    yield "UTF-16", lambda: sample.decode().encode("utf-16")
    yield "wide characters", lambda: sample + "\U0001f4a5".encode() * (min(most, 2 << 20) // 4 - 8192)
    yield "control characters", lambda: sample + b"\x1b[31m\x07\x08" * 10_000
    for word in (b"...", b",", b"1.2.3", b"nan", b"-1", b"1e400"):
        yield f"{word.decode()} for numbers", partial(_NUMBER.sub, word, sample)
    yield "an archive", lambda: b"PK\x03\x04" + sample * 100
    yield "empty", lambda: b""


def _aliases() -> bytes:
    """YAML whose nine levels of aliases stand for a thousand million values."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return ("\n".join(levels) + "\n").encode()


def outcome_of(kind: str, data: bytes) -> int:
    """How a text is read as a format: `READ`, `REFUSED`, `SEVERAL_LINES` or `TRACEBACK`."""
    file = InputFile("given.txt", data)
    try:
        format_ = import_formats.guessed_format(file) if kind == "auto" else import_formats.format_named(kind)
        new_spec(result_with_known_keys(format_.read(file)))
    except FormatError as why:
        return REFUSED if "\n" not in str(why) and len(str(why)) < 400 else SEVERAL_LINES
    except Exception:  # what a user would see as a traceback
        return TRACEBACK
    return READ


def _child(kind: str, make: Callable[[], bytes]) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        os._exit(TOO_SLOW)

    signal.signal(signal.SIGVTALRM, stop)
    data = make()
    resource.setrlimit(resource.RLIMIT_CPU, (int(4 * SECONDS) + 5,) * 2)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        os._exit(outcome_of(kind, data))
    except BaseException:
        os._exit(TRACEBACK)


def variant_outcome(kind: str, make: Callable[[], bytes]) -> tuple[int, float, float]:
    """The outcome in a separate process, its processor seconds, which other programs do not lengthen, and its resident
    memory in MiB, including the file.
    """
    child = os.fork()
    if child == 0:
        _child(kind, make)
    _, status, used = os.wait4(child, 0)
    how = os.waitstatus_to_exitcode(status)
    return how if how in range(len(OUTCOMES)) else TOO_SLOW, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    wanted = sys.argv[1:] or [kind.name for kind in IMPORT_FORMATS]
    worst: tuple[float, float] = (0.0, 0.0)
    count, faults = 0, 0
    for kind in (kind for kind in IMPORT_FORMATS if kind.name in wanted):
        forms = ("", *OTHER_FORMS.get(kind.name, ()))
        for name, make in (each for text in forms for each in variants(kind, text)):
            for asked in (kind.name, "auto"):
                how, seconds, space = variant_outcome(asked, make)
                count += 1
                worst = max(worst[0], seconds), max(worst[1], space)
                if how > REFUSED or space > MEBIBYTES:
                    faults += 1
                    shown = f"{kind.name} as {asked}, {name}: {OUTCOMES[how]}, {seconds:.1f} s, {space:.0f} MiB"
                    print(textwrap.shorten(shown, 200), flush=True)
    print(f"{count} variants, {faults} faults; at most {worst[0]:.1f} s of a processor and {worst[1]:.0f} MiB")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
