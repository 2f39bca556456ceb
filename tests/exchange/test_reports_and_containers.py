"""Launches that containers list as words, output that people quote in reports, and texts that state less than they
seem to.
"""

from __future__ import annotations

from tests.exchange.imports import given, read, unknown

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


def test_a_container_that_lists_the_words_of_maxtext_starts_it() -> None:
    found = given(read(job(("a", 4))))
    assert (found["workload.model"], found["workload.sequence_length"]) == ("llama-2-7b", 2048)
    assert (found["layout.tp"], found["layout.dp"], found["layout.shard_group"]) == (4, 4, 2)
    assert found["workload.global_batch"] == 3 * 16  # three sequences on each of 2 x 8 chips
    assert found["layout.nodes"] == 2


def test_launches_of_containers_that_differ_are_listed_and_none_is_read() -> None:
    reading = read(job(("a", 4), ("b", 2)))
    assert "layout.tp" not in given(reading)
    assert "launches of maxtext: it holds 2 launches with different options" in unknown(reading)
