"""Launches inside quoted scripts of other programs, and what their programs and models are."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_formats import guessed_format
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.launch_commands import _program_of
from tests.exchange.imports import given, read, unknown

MAXTEXT = "python3 -m MaxText.train base.yml model_name=own-4b per_device_batch_size=4 max_target_length={}"
HOSTS = """\
N=8192
python runner.py --PREFIX=$P --COMMAND={quote}
  export LOG=/tmp/logs
  sudo docker run --network=host -e PYTHONPATH=/own -v /a:/a own/image:latest bash -c \\"
    export PYTHONPATH=/own
    {launch}
  \\"
"
"""


@pytest.mark.parametrize("quote", ['"', '"\n'])
def test_a_script_that_an_option_gives_to_other_hosts_holds_one_launch(quote: str) -> None:
    reading = read(HOSTS.format(quote=quote, launch=MAXTEXT.format("${N}")))
    assert given(reading)["workload.sequence_length"] == 8192
    assert given(reading)["layout.framework"] == "maxtext"


def test_launches_of_one_script_on_other_hosts_are_a_choice() -> None:
    both = f"{MAXTEXT.format(1024)}\n    {MAXTEXT.format(2048)}"
    with pytest.raises(FormatError, match="2 launches"):
        read(HOSTS.format(quote='"', launch=both))


CONFIGURED = """\
base_config: "base.yml"
model_name: "llama3-8b"
{}
per_device_batch_size: 2
max_target_length: 4096
"""


@pytest.mark.parametrize(
    ("keys", "model", "listed"),
    [
        ("base_num_decoder_layers: 5", "llama-3-8b", "base_num_decoder_layers 5: of no effect"),
        ("base_num_decoder_layers: 5\noverride_model_config: true", None, "sizes of its own (base_num_decoder_layers"),
        ("steps: 5", "llama-3-8b", ""),
    ],
)
def test_sizes_in_addition_to_a_model_of_maxtext_need_its_switch(keys: str, model: str | None, listed: str) -> None:
    reading = read(CONFIGURED.format(keys))
    assert given(reading).get("workload.model") == model and listed in unknown(reading)
    assert ("of no effect" in unknown(reading)) is ("effect" in listed)


MEGATRON = "torchrun -m {} --num-layers 4 --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 2\n"


@pytest.mark.parametrize(
    ("program", "generates"),
    [
        ("examples.inference.gpt.gpt_dynamic_inference", True),
        ("examples.run_text_generation_server", True),
        ("own.pretrain_gpt", False),
        ("own.inference_data.pretrain", False),
    ],
)
def test_a_module_that_generates_text_is_told_from_training(program: str, generates: bool) -> None:
    reading = read(MEGATRON.format(program))
    assert given(reading)["layout.tp"] == 2
    assert ("generates text" in unknown(reading)) is generates


QUOTE = "part,quantity,price\nH100,8,30000\n"


def test_a_script_is_no_quote() -> None:
    assert guessed_format(InputFile("a.txt", QUOTE.encode())).name == "quote"
    with pytest.raises(FormatError, match="matches no import format"):
        guessed_format(InputFile("a.sh", f"#!/bin/bash\necho '\n{QUOTE}'\n".encode()))


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("vllm serve", "vllm"),
        ("/usr/bin/kill 5", "kill"),
        ("sudo kill 5", "kill"),
        ("/usr/bin/sudo -E kill 5", "kill"),
        ("sudo -E -H HOME=/a kill 5", "kill"),
        ("sudo -u root -E kill 5", "kill"),
        ("doas -u root /bin/kill 5", "kill"),
        ("sudo --user root A=1 vllm serve", "vllm"),
        ("kill -u root", "kill"),  # of a program other than sudo, the options are its own
        ("sudo -i", "-i"),  # a shell, which the command does not name
    ],
)
def test_the_program_of_a_command_stands_after_sudo_and_its_options(text: str, program: str) -> None:
    assert _program_of(Command(tuple(Word(word, 1) for word in text.split()))) == program
