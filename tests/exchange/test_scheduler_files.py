"""The tree of switches that Slurm is given, by hand, and the line of a fault in one of several YAML documents."""

from __future__ import annotations

import pytest

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.import_result import FormatError, InputFile, SeveralParts
from tests.exchange.imports import counts, given, read, unknown
from tests.exchange.test_exporters import exported, pod


def switches(nodes: int) -> list[str]:
    """The switches of the tree and what each has below it."""
    words = [line.strip().removeprefix("- ") for line in exported("slurm", pod(nodes)).splitlines()]
    return [word for word in words if word.startswith(("switch:", "children:", "nodes:"))]


def test_the_leaves_of_a_pod_have_a_switch_above_them_if_there_are_several() -> None:
    """A rail of quantum-2-qm9700 has 32 ports down, one for each node: 32 nodes are one block, 64 are two."""
    assert switches(32) == ["switch: block0001", "nodes: node[0001-0032]"]
    assert switches(64)[:2] == ["switch: fabric", "children: block[0001-0002]"]
    assert switches(64)[2:] == [
        *("switch: block0001", "nodes: node[0001-0032]"),
        *("switch: block0002", "nodes: node[0033-0064]"),
    ]


def test_a_fault_in_a_later_document_is_on_its_line_of_the_file() -> None:
    file = InputFile("jobs.yaml", b"a: 1\n---\nb: c: d\n")
    with pytest.raises(FormatError, match="line 3: not YAML"):
        read_documents(file)


SCONTROL = """\
NodeName=n{0} Arch=x86_64 CoresPerSocket=48
   Gres=gpu:nvidia_h100_80gb_hbm3:8(S:0-1)
   OS=Linux 5.15.0 #64-Ubuntu SMP
   CfgTRES=cpu=96,gres/gpu=8

"""


def test_nodes_of_slurm_have_the_accelerators_of_their_resources() -> None:
    conf = "NodeName=DEFAULT CPUs=96 Gres=gpu:mi300x:8\nNodeName=n[1-16]\nNodeName=login[1-2] Gres=(null)\n"
    parts = "NodeName=n[1-16] Name=gpu Type=mi300x File=/dev/dri/renderD[{0}]\n"
    expected = {"cluster.nodes": 16, "cluster.accelerators_per_node": 8, "cluster.accelerator": "mi300x"}
    reading = read(conf)
    assert given(reading) == expected
    assert "2 nodes: without accelerators" in unknown(reading)
    assert given(read(parts.format("128-131") + parts.format("132-135"))) == expected
    shown = read("".join(SCONTROL.format(n) for n in range(3)))
    assert given(shown) == expected | {"cluster.nodes": 3, "cluster.accelerator": "h100-sxm-80gb"}
    for name in ("h100", "h200", "site-80gb"):  # H200 has two forms; a size alone names no product
        assert f"accelerator {name}" in unknown(read(f"NodeName=n[1-2] Gres=gpu:{name}:8"))


@pytest.mark.parametrize(
    ("resources", "number"),
    [
        ("gpu:h200:8", 8),
        ("gpu:h200", 1),
        ("nvme:1,gpu:h200:8", 8),
        ("gpu:h200:6,gpu:h200:2", 8),
        ("gpu:h200:8,my_gpu:h200:2", 8),  # another resource, whose name ends alike
    ],
)
def test_only_a_resource_of_this_name_counts_accelerators(resources: str, number: int) -> None:
    assert given(read(f"NodeName=n[1-2] Gres={resources}"))["cluster.accelerators_per_node"] == number


def test_nodes_of_several_kinds_are_chosen_from_and_parts_of_accelerators_refused() -> None:
    conf = "NodeName=a[1-4] Gres=gpu:a100:8\nNodeName=b[1-2] Gres=gpu:h100:8,nvme:1 # new\n"
    with pytest.raises(SeveralParts, match="4 with 8 of a100, 2 with 8 of h100"):
        read(conf)
    assert given(read(conf, "slurm-nodes", part=2))["cluster.nodes"] == 2
    for part in ("a100_1g.10gb:7", "1g.10gb:7"):
        with pytest.raises(FormatError, match=r"parts of accelerators, such as \S*1g.10gb"):
            read(f"NodeName=n1 Gres=gpu:{part}")


def test_a_partition_states_its_nodes_and_not_that_they_are_alike() -> None:
    cpu = "PartitionName=cpu AllowGroups=ALL TotalNodes=9 TRES=cpu=9,node=9\n"
    gpu = "PartitionName={0}\n   Nodes=g[1-2]\n   TotalNodes=2\n   TRES=cpu=64,gres/gpu={1},gres/gpu:h100={1}\n"
    reading = read(cpu + gpu.format("gpu", 16))
    assert (given(reading), counts(reading)) == ({"cluster.nodes": 2}, {"accelerators": 16})
    assert "8 if all 2 nodes are alike" in unknown(reading) and "accelerator h100" in unknown(reading)
    assert "the nodes differ" in unknown(read(gpu.format("gpu", 15)))
    with pytest.raises(SeveralParts, match="2 partitions"):
        read(gpu.format("a", 16) + "\n" + gpu.format("b", 8))
    with pytest.raises(FormatError):
        read(cpu)
    with pytest.raises(FormatError, match="no node with accelerators"):
        read(cpu, "slurm-nodes")
    mixed = read(gpu.format("gpu", 16) + "NodeName=g[1-3] Gres=gpu:mi300x:4\n")
    assert given(mixed)["cluster.nodes"] == 3 and given(mixed)["cluster.accelerators_per_node"] == 4, "nodes tell more"


@pytest.mark.parametrize("kind", ["nvidia_h100_80gb_hbm3_3g.40gb", "a100_1g.5gb", "1g.10gb"])
def test_slices_of_an_accelerator_are_not_accelerators(kind: str) -> None:
    job = f"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:{kind}:2\n"
    trained = f"{job}python train.py --per_device_train_batch_size 4 --output_dir a --learning_rate 1e-5\n"
    for text in (f"{job}python other.py\n", trained):
        reading = read(text)
        assert "cluster.accelerators_per_node" not in given(reading)
        assert given(reading)["layout.nodes"] == 1
        assert f"accelerator {kind}: a slice of an accelerator (MIG)" in unknown(reading)
    whole = read(f"{job.replace(kind, 'h100')}python other.py\n")
    assert given(whole)["cluster.accelerators_per_node"] == 2


def test_dies_that_slurm_counts_as_devices_are_not_accelerators() -> None:
    job = "#SBATCH --nodes=16\n#SBATCH --gpus-per-node=mi250:8\n#SBATCH --ntasks-per-node=8\nsrun python a.py\n"
    reading = read(job)
    assert "cluster.accelerators_per_node" not in given(reading)
    assert (given(reading)["layout.nodes"], counts(reading)["ranks_per_node"]) == (16, 8)
    assert "accelerator mi250: a device is one of the two dies" in unknown(reading)
    assert given(read(job.replace("mi250:", "mi210:")))["cluster.accelerators_per_node"] == 8
