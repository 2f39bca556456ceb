"""What a file leaves to another file, to who fills it in, or to a factor is listed, and never taken from defaults."""

from __future__ import annotations

import pytest

from tests.exchange.imports import given, read, unknown

COMPLETED = """\
defaults:
{}
data: {{train_batch_size: 64}}
actor_rollout_ref:
  actor: {{ppo_mini_batch_size: 32}}
  rollout: {{tensor_model_parallel_size: 2}}
critic: {{model: {{path: a/b}}}}
"""


@pytest.mark.parametrize(
    ("defaults", "algorithm", "listed"),
    [
        ("  - own_method\n  - _self_", None, "defaults: own_method: another configuration, not read"),
        ("  - ppo_trainer\n  - _self_", "ppo", ""),
        ("  - ppo_trainer\n  - /sites/own\n  - _self_", None, "defaults: /sites/own"),
        ("  - actor@actor_rollout_ref.actor: dp_actor\n  - _self_", "ppo", ""),
    ],
)
def test_a_configuration_of_verl_over_another_one_leaves_its_method_open(
    defaults: str, algorithm: str | None, listed: str
) -> None:
    reading = read(COMPLETED.format(defaults))
    assert given(reading)["workload.rl.minibatches"] == 2
    assert given(reading).get("workload.rl.algorithm") == algorithm
    assert listed in unknown(reading) and ("another configuration" in unknown(reading)) is bool(listed)


JOB = "#!/bin/bash\n#SBATCH --nodes={}\n#SBATCH --gres=gpu:{}\npython train.py\n"


@pytest.mark.parametrize(
    ("nodes", "devices", "stated", "listed"),
    [
        ("2", "4", {"layout.nodes": 2, "cluster.accelerators_per_node": 4}, ""),
        ("{nodes}", "4", {"cluster.accelerators_per_node": 4}, "nodes: {nodes}: a placeholder"),
        ("<N>", "4", {"cluster.accelerators_per_node": 4}, "nodes: <N>: a placeholder"),
    ],
)
def test_a_count_of_a_job_that_a_template_leaves_open_is_listed(
    nodes: str, devices: str, stated: dict[str, int], listed: str
) -> None:
    reading = read(JOB.format(nodes, devices))
    assert given(reading) == stated
    assert listed in unknown(reading) and ("placeholder" in unknown(reading)) is bool(listed)


TITAN = """\
[model]
name = "{}"
flavor = "8B"
[training]
local_batch_size = 2
seq_len = 2048
{}
[parallelism]
tensor_parallel_degree = 2
"""


@pytest.mark.parametrize(
    ("name", "more", "images"),
    [
        ("llama3", "", False),
        ("flux", "", True),
        ("llama3-siglip2", "", True),
        ("llama3_vlm", "", True),
        ("own", "img_size = 256", True),
        ("", 'backbone = "dinov3_vitl16"\ncrop_size = [480, 480]', True),
        ("evlm3", "", False),
    ],
)
def test_a_model_of_images_is_told_from_a_decoder_of_text(name: str, more: str, images: bool) -> None:
    reading = read(TITAN.format(name, more))
    assert given(reading)["layout.tp"] == 2
    assert ("a model of images" in unknown(reading)) is images
    assert ("workload.model" in given(reading)) is (name == "llama3")


SCALED = "python3 -m MaxText.train base.yml per_device_batch_size=2 max_target_length=2048 {}\n"


@pytest.mark.parametrize(
    ("words", "model", "listed"),
    [
        ("global_parameter_scale=16", None, "global_parameter_scale: 16: scales the sizes"),
        ("global_parameter_scale=16 model_name=llama3-8b", None, "global_parameter_scale: 16"),
        ("global_parameter_scale=1 model_name=llama3-8b", "llama-3-8b", ""),
        ("model_name=llama3-8b", "llama-3-8b", ""),
    ],
)
def test_a_factor_of_the_sizes_makes_another_model(words: str, model: str | None, listed: str) -> None:
    reading = read(SCALED.format(words))
    assert given(reading).get("workload.model") == model
    assert listed in unknown(reading) and ("scales the sizes" in unknown(reading)) is bool(listed)
