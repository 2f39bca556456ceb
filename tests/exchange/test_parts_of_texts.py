"""What a text contains in addition to its first part: a configuration that a script writes, and the launch of a chosen
object.
"""

from __future__ import annotations

from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

CONFIG = """\
{{
  "train_batch_size": 32,
  {0}
  "train_micro_batch_size_per_gpu": 4,
  "fp16": {{"enabled": true}},
}}
"""


@each("line", ["# sizes of one host", "// sizes of one host", '"steps_per_print": 10,'])
def test_remarks_in_a_configuration_of_deepspeed_are_no_fault(line: str) -> None:
    keys = given(read(CONFIG.format(line), name="ds.json"))
    assert (keys["workload.global_batch"], keys["layout.micro_batch"], keys["workload.precision"]) == (32, 4, "fp16")


SCRIPT = """\
#!/bin/bash
DAY=`date +%m%d`
OUT="/runs/$DAY-test"
SIZE=32
cat <<EOF > ds.json
{{
  "train_batch_size": $SIZE,
  "train_micro_batch_size_per_gpu": 4,
  "gradient_accumulation_steps": 2,
  "tensorboard": {{"enabled": true, "output_path": $OUT}}
}}
EOF
{launch}
"""


@each(
    "launch, nodes, ranks",
    [
        ("deepspeed --include 'localhost:0,1,2,3' own.py --depth 3 --deepspeed_config=ds.json", 1, 4),
        ("deepspeed --num_nodes 2 --num_gpus 2 own.py --deepspeed_config=ds.json", 2, 2),
        ("python own.py --deepspeed_config=ds.json", None, None),
    ],
)
def test_a_written_configuration_comes_with_the_ranks_of_its_launcher(
    launch: str, nodes: int | None, ranks: int | None
) -> None:
    reading = read(SCRIPT.format(launch=launch), name="run.sh")
    keys = given(reading)
    assert (keys["workload.global_batch"], keys["layout.dp"], keys["layout.sharding"]) == (32, 4, "none")
    assert (keys.get("layout.nodes"), counts(reading).get("ranks_per_node")) == (nodes, ranks)
    assert ("own.py: no reader knows this program" in unknown(reading)) is (nodes is not None)


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  template:
    spec:
      containers:
      - name: main
        image: site/train
        command: [bash, -c]
        args:
        - |
          {command}
        resources: {{limits: {{nvidia.com/gpu: 8}}}}
"""
TRAIN = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.rollout.n=4 trainer.nnodes=2"


def test_the_launch_of_a_chosen_job_is_read_and_that_of_another_is_not() -> None:
    jobs = (JOB.format(name="head", command=TRAIN), JOB.format(name="worker", command="ray start --block --port 1"))
    text = "---\n".join(jobs)
    head, worker = (read(text, name="jobs.yaml", part=part) for part in (1, 2))
    assert given(head)["workload.rl.prompts_per_step"] == 64
    assert given(head)["layout.nodes"] == 2, "the launch counts the pods of the other job, too"
    assert given(worker) == {"cluster.accelerators_per_node": 8, "layout.nodes": 1}
    assert "of commands that no reader knows: not read: block, port" in unknown(worker)
    assert "train_batch_size" not in unknown(worker)
