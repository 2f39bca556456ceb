"""Files of other languages that start commands: the same launch states the same, whatever language starts it."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown

SERVE = "vllm serve Qwen/Qwen2.5-7B-Instruct --tensor-parallel-size"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", f"TP=4\n{SERVE} $TP --max-num-seqs 64\n"),
        ("run.sh", f"declare -A C=([tp]=4 [n]=64)\n{SERVE} ${{C[tp]}} --max-num-seqs ${{C[n]}}\n"),
        ("run.sh", f"K=n\nC[tp]=4\nC[n]=64\n{SERVE} ${{C[tp]}} --max-num-seqs ${{C[$K]}}\n"),
        ("run.sh", f"S=(2 4)\n{SERVE} ${{S[1]}} --max-num-seqs 64\n"),
        ("Makefile", f"TP ?= 4  # ranks\nN := 64\n\nserve: deps\n\t@{SERVE} $(TP) \\\n\t\t--max-num-seqs $(N)\n"),
        ("Makefile", f"A = --max-num-seqs \\\n  64\nserve:\n\t{SERVE} 4 $(A)\n"),
        ("justfile", f'tp := "4"\nserve n="64":\n    @{SERVE} {{{{tp}}}} --max-num-seqs {{{{ n }}}}\n'),
        ("vllm.service", f"[Service]\nEnvironment=TP=4\nExecStart=/opt/bin/{SERVE} ${{TP}} --max-num-seqs 64\n"),
        (
            "Dockerfile",
            'FROM a/b\nENV TP=4\nENTRYPOINT ["vllm", "serve"]\n'
            'CMD ["Qwen/Qwen2.5-7B-Instruct", "--tensor-parallel-size", "4", \\\n  "--max-num-seqs", "64"]\n',
        ),
        ("Dockerfile", f"FROM a/b\nENV TP=4 N=64\nCMD {SERVE} $TP --max-num-seqs $N\n"),
        ("Dockerfile", f"FROM a/b\nARG TP=4\nENV N 64\nCMD {SERVE} $TP --max-num-seqs $N\n"),
        ("Dockerfile", f'FROM a/b\nENV TP="4"\nENV N=64 A-B=2\nCMD ["sh", "-c", "{SERVE} $TP --max-num-seqs $N"]\n'),
        ("run.csh", f"#!/bin/csh\nset TP = 4\nsetenv N 64\n{SERVE} $TP --max-num-seqs $N\n"),
        ("run", f"#!/usr/bin/env fish\nset -gx TP 4\n{SERVE} $TP --max-num-seqs 64\n"),
        ("run.ps1", f'$TP = "4"\n{SERVE} $TP `\n  --max-num-seqs 64\n'),
        (
            "run.sh.j2",
            f"#!/bin/bash\n{{% set n = 64 %}}\n{SERVE} {{{{ tp | default(4) }}}} --max-num-seqs {{{{ n }}}}\n",
        ),
        (
            "serve.py",
            'import subprocess\nTP = 4\ncmd = ["vllm", "serve", "Qwen/Qwen2.5-7B-Instruct", "--tensor-parallel-size", '
            'str(TP)]\ncmd += ["--max-num-seqs", "64"]\nsubprocess.run(cmd)\n',
        ),
        (
            "serve.py",
            'import subprocess\nT = 4\n\ndef serve():\n    subprocess.Popen(\n        ["vllm", "serve", '
            'f"Qwen/Qwen2.5-7B-Instruct", "--tensor-parallel-size", f"{T}", "--max-num-seqs", "64"])\n',
        ),
    ],
)
def test_a_launch_states_the_same_in_every_language(name: str, text: str) -> None:
    stated = given(read(text, name=name))
    assert stated["layout.framework"] == "vllm"
    assert (stated["workload.model"], stated["layout.tp"]) == ("qwen2.5-7b", 4)
    assert stated["workload.serving.max_sequences"] == 64


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", f"ifdef LARGE\nTP = 8\nelse\nTP = 4\nendif\nserve:\n\t{SERVE} $(TP)\n"),
        ("run.csh", f"#!/bin/csh\nif ($1 == large) then\n  set TP = 8\nelse\n  set TP = 4\nendif\n{SERVE} $TP\n"),
        ("run.sh", f"#!/bin/bash\n{{% if large %}}\nTP=8\n{{% else %}}\nTP=4\n{{% endif %}}\n{SERVE} $TP\n"),
        ("run.sh", f"#!/bin/bash\n{SERVE} {{{{ tp }}}}\n"),
        (
            "serve.py",
            'import subprocess\ncmd = ["vllm", "serve", "Qwen/Qwen2.5-7B-Instruct", "--port", "1"]\nif large:\n'
            '    cmd += ["--tensor-parallel-size", "8"]\nsubprocess.run(cmd)\n',
        ),
        (
            "serve.py",
            'import subprocess\nT = 4\nT = 8\nsubprocess.run(["vllm", "serve", "Qwen/Qwen2.5-7B-Instruct", '
            '"--tensor-parallel-size", str(T)])\n',
        ),
        ("run.sh", f'declare -A C=([tp]=4)\nif [ "$1" = b ]; then\n  C[tp]=8\nfi\n{SERVE} ${{C[tp]}}\n'),
    ],
)
def test_what_a_test_decides_stays_open_in_every_language(name: str, text: str) -> None:
    reading = read(text, name=name)
    assert "layout.tp" not in given(reading)
    assert "tensor" in unknown(reading)


def test_a_makefile_without_a_launch_starts_nothing() -> None:
    with pytest.raises(FormatError):
        read("TP ?= 4\ntest:\n\tpytest -q\n", name="Makefile")


def test_a_script_that_writes_a_configuration_is_a_script() -> None:
    job = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:8\n"
    written = (
        "cat << EOT > a.yaml\ndistributed_type: MULTI_GPU\ncompute_environment: LOCAL_MACHINE\nnum_machines: $N\nEOT\n"
    )
    reading = read(f"{job}a: b: c\n{written}accelerate launch --config_file a.yaml own.py --lr 1\n", name="a.slurm")
    assert reading.kind == "slurm-job"
    assert given(reading) == {"cluster.accelerators_per_node": 8, "layout.nodes": 1}


def test_an_evaluation_is_not_stated_as_training() -> None:
    launch = "torchrun --nproc_per_node 8 own.py --model_name_or_path a/b --per_device_train_batch_size 2"
    assert given(read(f"{launch}\n", name="a.sh"))["workload.kind"] == "train"
    reading = read(f"{launch} --do_eval\n", name="a.sh")
    assert "workload.kind" not in given(reading)
    assert "do_eval: without do_train" in unknown(reading)
    assert given(read(f"{launch} --do_eval --do_train\n", name="a.sh"))["workload.kind"] == "train"


def test_a_launcher_behind_mpiexec_states_its_nodes_and_ranks() -> None:
    text = "A=1 mpiexec -n 2 --ppn 1 torchrun --nnodes=2 --nproc-per-node=4 own.py\n"
    assert given(read(text, name="a.sh"))["layout.nodes"] == 2
