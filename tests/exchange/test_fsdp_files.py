"""Files for ``--fsdp`` of ms-swift, by themselves and written by the script of a launch, and the nodes of its runs."""

from __future__ import annotations

import pytest

from tests.exchange.imports import given, read, unknown

FILE = """\
{{
    "fsdp": "{words}",
    "fsdp_config": {{
        "fsdp_version": 2,
        "reshard_after_forward": {again},
        "activation_checkpointing": {checkpointing}
    }}
}}
"""


@pytest.mark.parametrize(
    ("again", "checkpointing", "sharding", "recompute"),
    [("true", "true", "fsdp", "full"), ("false", "true", "zero2", "full"), ("true", "false", "fsdp", None)],
)
def test_a_file_of_fsdp_states_what_is_sharded_and_computed_again(
    again: str, checkpointing: str, sharding: str, recompute: str | None
) -> None:
    text = FILE.format(words="full_shard auto_wrap", again=again, checkpointing=checkpointing)
    found = given(read(text, name="fsdp.json"))
    assert (found["layout.framework"], found["layout.sharding"]) == ("fsdp", sharding)
    assert found.get("layout.recompute") == recompute


def test_parameters_on_the_host_are_listed() -> None:
    text = FILE.format(words="full_shard auto_wrap offload", again="true", checkpointing="true")
    assert "parameters" in unknown(read(text, name="fsdp.json"))


LAUNCH = """\
RUN=/data/run_$(date +%s)
FSDP="$RUN/fsdp.json"
cat > {opened} <<'EOF'
{body}EOF
NPROC_PER_NODE={ranks} swift sft --model Qwen/Qwen3-32B --tuner_type full --per_device_train_batch_size 1 \\
  --gradient_accumulation_steps 16 --sequence_parallel_size 2 --fsdp $FSDP
"""


@pytest.mark.parametrize(
    ("opened", "read_it"), [('"$FSDP"', True), ("${FSDP}", True), ("/data/fsdp.json", True), ('"$OTHER"', False)]
)
def test_a_launch_has_the_values_of_the_file_that_its_script_writes(opened: str, read_it: bool) -> None:
    """Also where a variable names the file on the line that opens the here-document."""
    body = FILE.format(words="full_shard auto_wrap", again="true", checkpointing="true")
    found = given(read(LAUNCH.format(opened=opened, body=body, ranks=8), name="run.sh"))
    assert (found.get("layout.sharding"), found.get("layout.recompute")) == (
        ("fsdp", "full") if read_it else (None,) * 2
    )
    assert found["workload.global_batch"] == 64  # 1 x 16 x 8 / 2


@pytest.mark.parametrize(("ranks", "nodes"), [("8", 1), ("${NPROC_PER_NODE}", None)])
def test_where_another_file_sets_the_ranks_of_a_node_it_may_set_the_nodes(ranks: str, nodes: int | None) -> None:
    text = LAUNCH.format(opened="/dev/null", body="", ranks=ranks)
    assert given(read(text, name="run.sh")).get("layout.nodes") == nodes
