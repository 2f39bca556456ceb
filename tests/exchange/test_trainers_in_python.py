"""Trainers that take their configuration as Python, and fairseq2: what their files state of model, batch and layout."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.python_strings import without_own_quotes
from tests.exchange.imports import counts, given, read, unknown

INTERNEVO = """\
    SEQ_LEN = 2048
    HIDDEN_SIZE = 4096
    data = dict(seq_len=SEQ_LEN, micro_num=4, micro_bsz=2)
    model = dict(
        num_layers=32,
        hidden_size=HIDDEN_SIZE,
        num_attention_heads=32,
        num_kv_attention_heads=8,
        {model}
        dtype="torch.bfloat16",
    )
    parallel = dict({parallel})
    """


@pytest.mark.parametrize(
    ("parallel", "expected"),
    [
        ("zero1=dict(size=-1), tensor=dict(size=4, mode='mtp')", (4, 1, "zero1", None)),
        ("zero1=dict(size=-1, fsdp=True), tensor=dict(size=2, mode='msp')", (2, 1, "fsdp", True)),
        ("zero1=dict(size=1), pipeline=dict(size=8)", (1, 8, "none", None)),
        ("zero1=dict(size=8), tensor=dict(size=1, mode='isp')", (1, 1, None, None)),  # shards in groups of 8
        ("tensor=dict(size=2, mode='isp'), pipeline=4", (None, 4, "zero1", None)),
        ("tensor=dict(size=TP)", (None, 1, "zero1", None)),
        ("tensor=dict(size=1), pipeline=dict(size=4 if LONG else 1), zero1=SIZE", (1, None, None, None)),
    ],
)
def test_internevo_divides_by_the_degrees_of_parallel(parallel: str, expected: tuple[object, ...]) -> None:
    reading = read(INTERNEVO.format(parallel=parallel, model="checkpoint=False,"), name="7B.py")
    keys = ("layout.tp", "layout.pp", "layout.sharding", "layout.sequence_parallel")
    assert tuple(given(reading).get(key) for key in keys) == expected
    assert (given(reading)["layout.framework"], given(reading)["layout.micro_batch"]) == ("internevo", 2)
    assert given(reading)["workload.sequence_length"] == 2048
    assert counts(reading)["gradient_accumulation_steps"] == 4
    assert ("tensor:" in unknown(reading)) is (expected[0] is None)


@pytest.mark.parametrize(
    ("model", "key", "value"),
    [
        ("checkpoint=True,", "layout.recompute", "full"),
        ("checkpoint=0.5,", "layout.recompute", None),
        ("num_experts=8, top_k=2,", "workload.model.experts_per_token", 2),
        ("num_experts=1, top_k=2,", "workload.model.experts", None),
    ],
)
def test_internevo_states_recomputation_and_experts_of_its_model(model: str, key: str, value: object) -> None:
    assert given(read(INTERNEVO.format(parallel="pipeline=1", model=model), name="7B.py")).get(key) == value


OLMO_CORE = """\
    from olmo_core.config import DType
    LENGTH = {length}
    BATCH = 4 * 1024 * 1024
    def build(common):
        config = TransformerConfig.olmo3_7B()
        return TransformerTrainModuleConfig(
            rank_microbatch_size={micro},
            max_sequence_length=common.max_sequence_length,
            dp_config=DP(name=DataParallelType.{kind}, param_dtype=DType.bfloat16),
            tp_config=TransformerTensorParallelConfig(degree={degree}),
        )
    main(partial(build_config, max_sequence_length=LENGTH, global_batch_size=BATCH, num_nodes={nodes}))
    """


@pytest.mark.parametrize(
    ("length", "micro", "kind", "degree", "nodes", "expected"),
    [
        ("2**13", "2 * LENGTH", "hsdp", "4", "16", (8192, 512, 2, "hsdp", 4, 16)),  # 2^22 tokens / 2^13
        ("4096", "common.max_sequence_length", "ddp", "1", "nodes", (4096, 1024, 1, "none", 1, None)),
        ("given.length or 4096", "3 * 1024", "fsdp", "size()", "2", (4096, 1024, None, "fsdp", None, 2)),
        ("8192", "None", "fsdp", "2", "1", (8192, 512, None, "fsdp", 2, 1)),
    ],
)
def test_olmo_core_counts_batches_in_tokens(
    length: str, micro: str, kind: str, degree: str, nodes: str, expected: tuple[object, ...]
) -> None:
    reading = read(OLMO_CORE.format(length=length, micro=micro, kind=kind, degree=degree, nodes=nodes), name="7B.py")
    keys = ("workload.sequence_length", "workload.global_batch", "layout.micro_batch", "layout.sharding", "layout.tp")
    assert tuple(given(reading).get(key) for key in (*keys, "layout.nodes")) == expected
    assert given(reading)["workload.precision"] == "bf16"
    assert "the model: a function" in unknown(reading)


def test_olmo_core_leaves_what_a_script_assigns_twice_undecided() -> None:
    script = OLMO_CORE.format(length="4096", micro="rows", kind="fsdp", degree="1", nodes="1")
    twice = script.replace("    def build", "    rows = 4096\n    if large:\n        rows *= 2\n    def build")
    once = script.replace("    def build", "    rows = 8192\n    def build")
    assert given(read(once, name="a.py"))["layout.micro_batch"] == 2
    assert "layout.micro_batch" not in given(read(twice, name="a.py"))
    assert "rank_microbatch_size" in unknown(read(twice, name="a.py"))
    with pytest.raises(FormatError, match="one length"):
        read(script.replace("LENGTH = 4096", "LENGTH = length_of(data)"), name="a.py")


FAIRSEQ2 = """\
    model:
      name: llama3_2_1b{changed}
      dtype: float32
    dataset:
      max_seq_len: 4096
      max_num_tokens: 8192
    gang:
      tensor_parallel_size: 2
    trainer:
      data_parallelism: {kind}
      mixed_precision:
        mode: {mode}
        dtype: bfloat16
      grad_accumulation:
        num_batches: 4
      activation_checkpointing:
        mode: {checkpointing}
    regime:
      num_steps: 1000
    """


@pytest.mark.parametrize(
    ("kind", "mode", "checkpointing", "expected"),
    [
        ("fsdp", "static", "layerwise", ("fsdp", "bf16", "full")),
        ("ddp", "off", "off", ("none", "fp32", "none")),
        ("fsdp", '"off"', "layerwise\n        every_nth_layer: 2", ("fsdp", "fp32", None)),
    ],
)
def test_fairseq2_trains_in_the_type_and_shards_that_it_states(
    kind: str, mode: str, checkpointing: str, expected: tuple[object, ...]
) -> None:
    text = FAIRSEQ2.format(kind=kind, mode=mode, checkpointing=checkpointing, changed="")
    reading = read(text, name="train.yaml")
    assert tuple(
        given(reading).get(key) for key in ("layout.sharding", "workload.precision", "layout.recompute")
    ) == expected  # fmt: skip
    assert (given(reading)["layout.tp"], counts(reading)["gradient_accumulation_steps"]) == (2, 4)
    assert counts(reading)["tokens_per_pass"] == 8192
    assert "layout.micro_batch" not in given(reading)


def test_a_model_of_fairseq2_whose_sizes_change_is_no_model_of_its_name() -> None:
    changed = "\n      config_overrides:\n        num_layers: 4"
    text = FAIRSEQ2.format(kind="fsdp", mode="static", checkpointing="off", changed=changed)
    reading = read(text, name="train.yaml")
    assert "workload.model" not in given(reading)
    assert "with num_layers" in unknown(reading)


@pytest.mark.parametrize(
    ("before", "degree"),
    [
        ("TP = 2", 2),
        ("TP = 2\n    if LONG:\n        TP = 8", None),
        ("TP = 2\n    TP *= 4", None),
        ("TP = 2\n    TP = 4", 4),
    ],
)
def test_a_name_that_a_branch_changes_has_no_value(before: str, degree: int | None) -> None:
    text = INTERNEVO.format(parallel="tensor=dict(size=TP)", model="").replace(
        "    data =", f"    {before}\n    data ="
    )
    assert given(read(text, name="7B.py")).get("layout.tp") == degree


TORCHTITAN = """\
    from torchtitan.trainer import Trainer
    CP = 2 * 2
    def design() -> Trainer.Config:
        return Trainer.Config(
            training=TrainingConfig(local_batch_size=4, seq_len=2048),
            {more}
        )
    """


def test_torchtitan_has_no_default_where_a_file_has_a_value_that_it_does_not_decide() -> None:
    degrees = "parallelism=ParallelismConfig(tensor_parallel_degree=size(), context_parallel_degree=CP),"
    reading = read(TORCHTITAN.format(more=degrees), name="design.py")
    assert given(reading)["layout.cp"] == 4
    assert "layout.tp" not in given(reading)
    assert "parallelism.tensor_parallel_degree" in unknown(reading)
    assert given(reading)["layout.recompute"] == "selective"  # torchtitan's, as the file says nothing of it
    argument = TORCHTITAN.format(more=degrees).replace("design()", "design(CP)")
    assert "layout.cp" not in given(read(argument, name="design.py"))
    chosen = TORCHTITAN.format(more="activation_checkpoint=FullAC.Config() if LONG else None,")
    assert "layout.recompute" not in given(read(chosen, name="design.py"))
    assert "activation_checkpoint" in unknown(read(chosen, name="design.py"))


def test_olmo_core_leaves_a_keyword_undecided_that_a_script_assigns_after_the_call() -> None:
    script = OLMO_CORE.format(length="4096", micro="8192", kind="fsdp", degree="1", nodes="1")
    reading = read(f"{script}def change(made):\n        made.rank_microbatch_size //= 2\n", name="a.py")
    assert "layout.micro_batch" not in given(reading)
    assert given(reading)["workload.sequence_length"] == 4096
    assert "made.rank_microbatch_size: assigned again" in unknown(reading)


def test_a_script_of_olmo_core_may_hold_f_strings_with_their_own_quotes() -> None:
    script = OLMO_CORE.format(length="4096", micro="8192", kind="fsdp", degree="1", nodes="1")
    reading = read(f'{script}folder = f"{{names["a"]}}/{{run["b"]}}"\n', name="a.py")
    assert given(reading)["layout.micro_batch"] == 2


_DEEP = 'f"' + '{f"' * 20 + "1" + '"}' * 20 + '"'


@pytest.mark.parametrize("text", ['f"{a["b]}"', "f'{" * 9, 'f"{x', 'f"""{x', 'f"{a[\n"b"]}"', _DEEP, "'"])
def test_strings_that_do_not_end_are_returned_as_they_are(text: str) -> None:
    assert without_own_quotes(text) == text
