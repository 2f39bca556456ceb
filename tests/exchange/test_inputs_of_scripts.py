"""Words that a script takes from another command or file are no options of its launch, and are not passed over."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown

TRAIN = "torchrun {} pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 2\n"
SERVE = 'vllm serve a/b --max-num-seqs 16 "${X[@]}"\n'
PASSED_ON = "passes on arguments"


@pytest.mark.parametrize(
    ("assigned", "option"),
    [
        ("P=$(free_port --tensor-model-parallel-size 8 --bf16)", "--master_port $P"),
        ("P=`free_port --tensor-model-parallel-size 8`", "--master_port $P"),
        ("P=${GIVEN:-$(free_port --tensor-model-parallel-size 8)}", "--master_port $P"),
        ("P=$(free_port --tensor-model-parallel-size 8)\nA=(--master_port $P)", "${A[@]}"),
        ('P=$(free_port --tensor-model-parallel-size 8)\nA="--master_port $P"', "$A"),
        ("N=$(nodes --tensor-model-parallel-size 8)\nP=$((N - 1))", "--nnodes $P"),
    ],
)
def test_options_of_a_command_whose_output_is_used_are_not_those_of_the_launch(assigned: str, option: str) -> None:
    found = given(read(f"{assigned}\n{TRAIN.format(option)}"))
    assert found["layout.micro_batch"] == 2
    assert "layout.tp" not in found and "workload.precision" not in found, found


def test_options_that_a_variable_of_the_script_holds_are_those_of_the_launch() -> None:
    found = given(read("P='--master_port 1 --tensor-model-parallel-size 8'\n" + TRAIN.format("$P")))
    assert found["layout.tp"] == 8


@pytest.mark.parametrize(
    "filled",
    [
        "mapfile -t X < options.txt",
        "readarray X < <(options)",
        "read -ra X < options.txt",
        'X=()\nwhile IFS= read -r line; do X+=("$line"); done < options.txt',
        'X=()\nwhile read -r line; do read -ra W <<< "$line"; X+=("${W[@]}"); done < options.txt',
    ],
)
def test_an_array_from_a_file_leaves_options_of_the_launch_unknown(filled: str) -> None:
    reading = read(f"#!/bin/bash\n{filled}\n{SERVE}")
    assert given(reading)["workload.serving.max_sequences"] == 16
    assert "layout.tp" not in given(reading) and PASSED_ON in unknown(reading)


@pytest.mark.parametrize(
    ("filled", "degrees"),
    [
        ('E="--tensor-parallel-size 4"\nread -ra X <<< "$E"', 4),
        ("mapfile -t X <<EOF\n--tensor-parallel-size\n8\nEOF", 8),
        ('IFS=, read -r T S <<< "2,16"\nX=(--tensor-parallel-size $T)', 2),
    ],
)
def test_an_array_from_a_text_of_the_script_has_its_words(filled: str, degrees: int) -> None:
    reading = read(f"#!/bin/bash\n{filled}\n{SERVE}")
    assert given(reading)["layout.tp"] == degrees and PASSED_ON not in unknown(reading)


def test_a_value_that_the_user_is_asked_for_replaces_the_one_before_it() -> None:
    reading = read('#!/bin/bash\nT=4\nread -p "degree? " T\nvllm serve a/b --tensor-parallel-size $T\n')
    assert "layout.tp" not in given(reading)
    assert "tensor_parallel_size: ${T}" in unknown(reading)


def test_a_value_of_an_option_that_is_read_is_no_further_argument() -> None:
    text = '#!/bin/bash\nX=(--port 1)\nread -r T\nX+=(--tensor-parallel-size "$T")\n' + SERVE
    assert "tensor_parallel_size: $T" in unknown(read(text)) and PASSED_ON not in unknown(read(text))


CHOICE = """\
{assigned}
case {value} in
  help) echo "usage" ;;
  serve) vllm serve a/b --tensor-parallel-size 2 ;;
  train) {other} ;;
esac
"""


@pytest.mark.parametrize(
    ("assigned", "value"), [("", '"${1:-help}"'), ('M="${1:-help}"', '"$M"'), ("M=${1:-help}", "${M}")]
)
def test_a_default_argument_that_shows_the_usage_leaves_the_launches_of_others(assigned: str, value: str) -> None:
    assert given(read(CHOICE.format(assigned=assigned, value=value, other="true")))["layout.tp"] == 2
    with pytest.raises(FormatError, match="2 launches"):
        read(CHOICE.format(assigned=assigned, value=value, other="vllm serve a/b --tensor-parallel-size 8"))


def test_a_choice_that_the_script_makes_itself_leaves_out_the_others() -> None:
    with pytest.raises(FormatError, match="has no command"):
        read(CHOICE.format(assigned="M=help", value="$M", other="true"))
