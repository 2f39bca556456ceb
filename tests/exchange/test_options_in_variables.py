"""Options that a script keeps for another one, files that it writes where a test holds, and logs that only begin."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

KEPT = """\
#!/bin/bash
TP=${TP:-4}
BATCH="--micro-batch-size 2 \\
  --global-batch-size 96 "
SIZES="
--num-layers 24 \\
--hidden-size 2048 --num-attention-heads 16 \\
--seq-length 512 --seq-length 4096 \\
--tensor-model-parallel-size $TP --expert-model-parallel-size $EP
"
NOTE="sizes as published: --num-layers 12"
"""


def test_options_in_the_variables_of_a_script_without_commands_are_of_one_launch() -> None:
    """The last of two options holds; a text that does not begin with an option is none."""
    found = read(KEPT, name="sizes.sh")
    values = given(found)
    assert (values["layout.tp"], values["layout.micro_batch"], values["workload.global_batch"]) == (4, 2, 96)
    assert (values["workload.model.layers"], values["workload.sequence_length"]) == (24, 4096)
    assert "layout.ep" not in values
    assert "$EP" in unknown(found)


def test_options_in_variables_of_a_script_that_starts_something_else_are_none() -> None:
    with pytest.raises(FormatError, match="no launch with size keys"):
        read(f"{KEPT}python3 prepare.py --data a\n", "megatron", name="sizes.sh")


def test_megatron_that_generates_states_prompts_and_samples() -> None:
    found = read(f'{KEPT}RL="--grpo-prompts-per-step 32 --grpo-group-size 8"\n', name="sizes.sh")
    assert given(found)["workload.kind"] == "rl"
    assert (given(found)["workload.rl.prompts_per_step"], given(found)["workload.rl.samples_per_prompt"]) == (32, 8)
    assert "engine of generation" in unknown(found)


FUNCTION = """\
write_config() {{
cat > "$1" <<'EOF'
{{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "zero_optimization": {{"stage": 2}}}}
EOF
}}
{call}
deepspeed own.py --deepspeed_config ds.json
"""


@pytest.mark.parametrize(
    ("call", "stated"),
    [
        ("write_config ds.json", "zero2"),
        ("[ -f ds.json ] || write_config ds.json", None),
        ("if [ ! -f ds.json ]; then\n  write_config ds.json\nfi", None),
        ("if [ ! -f ds.json ]; then\n  write_config a.json\nfi\nwrite_config ds.json", "zero2"),
    ],
)
def test_a_configuration_that_is_written_where_a_file_lacks_is_not_stated(call: str, stated: str | None) -> None:
    text = FUNCTION.format(call=call)
    if stated:
        assert given(read(text, "deepspeed", name="run.sh"))["layout.sharding"] == stated
    else:
        with pytest.raises(FormatError, match=r"line 2: .* written only where a test holds"):
            read(text, "deepspeed", name="run.sh")


def test_a_launch_names_the_configuration_that_may_not_be_its_own() -> None:
    text = FUNCTION.format(call="[ -f ds.json ] || write_config ds.json")
    launch = "torchrun train.py --per_device_train_batch_size 4 --deepspeed ds.json"
    found = read(text.replace("deepspeed own.py --deepspeed_config ds.json", launch), "trainer", name="run.sh")
    assert "layout.sharding" not in given(found)
    assert "written only where a test holds" in unknown(found)


BEGUN = """\
using world size: 16, data-parallel-size: 2, tensor-model-parallel size: 2, pipeline-model-parallel size: 4
------------------------ arguments ------------------------
  bf16 ............................................ True
  global_batch_size ............................... 48
  hidden_size ..................................... 1280
  micro_batch_size ................................ 6
  num_attention_heads ............................. 20
  num_layers ...................................... 40
  seq_length ...................................... 512
  pipeline_model_parallel_size .................... 4
  tensor_model_parallel_size ...................... 2
-------------------- end of arguments ---------------------
"""


def test_a_log_that_ends_before_its_first_step_states_its_arguments() -> None:
    found = read(BEGUN, name="run.out")
    values = given(found)
    assert (values["layout.tp"], values["layout.pp"], values["layout.micro_batch"]) == (2, 4, 6)
    assert (values["workload.model.layers"], values["workload.precision"]) == (40, "bf16")
    assert counts(found)["ranks"] == 16
    assert "no line `iteration" in unknown(found)
