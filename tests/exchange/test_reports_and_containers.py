"""Launches that containers list as words, output that people quote in reports, and texts that state less than they
seem to.
"""

from __future__ import annotations

from tests.effort import each
from tests.exchange.imports import counts, given, read

JOB = """\
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata:
      name: train
    spec:
      replicatedJobs:
    """
SLICE = """\
    - name: {name}
      replicas: 2
      template:
        spec:
          parallelism: 1
          completions: 1
          template:
            spec:
              containers:
                - name: train
                  image: local/maxtext
                  resources:
                    limits:
                      google.com/tpu: 8
                  command: ["python3", "/deps/maxtext/MaxText/train.py", "/deps/maxtext/MaxText/configs/base.yml"]
                  args:
                    - model_name=llama2-7b
                    - ici_fsdp_parallelism=2
                    - ici_tensor_parallelism={tp}
                    - dcn_data_parallelism=2
                    - max_target_length=2048
                    - per_device_batch_size=3
              nodeSelector:
                cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice
                cloud.google.com/gke-tpu-topology: 2x4
    """


def job(*slices: tuple[str, int]) -> str:
    lines = JOB.replace("\n    ", "\n").strip()
    parts = (SLICE.format(name=name, tp=tp).replace("\n    ", "\n  ") for name, tp in slices)
    return lines + "\n" + "".join("  " + part.strip() + "\n" for part in parts)


ENGINE = (
    "INFO 01-20 18:50:18 [utils.py:253] non-default args: {{'model': 'Qwen/Qwen3-8B'{more}}}\n"
    "INFO 01-20 18:50:20 [scheduler.py:231] Chunked prefill is enabled with max_num_batched_tokens={tokens}.\n"
)


MATRIX = (
    "GPU 0: NVIDIA RTX A6000\n{on}GPU0\tNIC0\tCPU Affinity\tNUMA Affinity{off}\nGPU0\t X \tNODE\t0-31\t1\n"
    "NIC0\tNODE\t X \n\nLegend:\n  NIC0: mlx5_2\n"
)


@each(
    ("directives", "nodes"),
    [
        ("--nodelist=a05,a09", 2),
        ("-w gpu[01-04,7]", 5),
        ("--nodelist=a05,a05", 1),
        ("--nodelist=a05 --nodes=3", 3),  # others as well
        ("--nodelist=a05,a09 --ntasks=16", None),  # as many as the tasks need
        ("--nodelist=/shared/hosts", None),  # a file of names
        ("--nodelist=a[05", None),
    ],
)
def test_a_job_that_states_no_number_has_the_hosts_that_it_lists(directives: str, nodes: int | None) -> None:
    text = f"#!/bin/bash\n#SBATCH {directives}\n#SBATCH --gres=gpu:8\nsrun own\n"
    assert given(read(text)).get("layout.nodes") == nodes


def test_the_nodes_of_a_list_are_those_of_a_variable_of_the_job() -> None:
    text = (
        "#!/bin/bash\n#SBATCH --nodelist=a05,a09\n#SBATCH --gres=gpu:8\nWORLD=$((SLURM_NNODES * 8))\n"
        'accelerate launch --num_machines "$SLURM_NNODES" --num_processes "$WORLD" own.py\n'
    )
    assert (given(read(text))["layout.nodes"], counts(read(text))["ranks"]) == (2, 16)
