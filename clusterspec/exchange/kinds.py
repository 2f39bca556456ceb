"""The registry of formats that can be imported: name, what it is, and the module that reads it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast

from clusterspec.document import nearest
from clusterspec.exchange.files import LARGEST, InputFile
from clusterspec.exchange.reading import Reading, Refusal
from clusterspec.logs.readers import READERS, Reader
from clusterspec.records import dataclass


class Module(Protocol):
    """What a reader's module has."""

    suits: Callable[[InputFile], bool]
    read: Callable[[InputFile], Reading]


@dataclass(frozen=True, slots=True)
class Kind:
    """One format. ``module`` is imported when it is needed; ``other`` are further names that it answers to."""

    name: str
    group: str
    title: str
    module: str
    other: tuple[str, ...] = ()
    largest: int = 2
    """MiB of the largest file read."""

    def suits(self, file: InputFile) -> bool:
        """Whether a file looks like this format, and is not larger than is read of it."""
        if len(file.data) > self.largest << 20:
            return False
        if self.module == "measurements":
            from clusterspec.exchange import measurements

            return measurements.suits(_reader(self.name), file)
        return self._module().suits(file)

    def read(self, file: InputFile) -> Reading:
        """What a file states. Raises `Refusal` where it is not of this format, or too large."""
        if len(file.data) > self.largest << 20:
            raise Refusal(f"has more than {self.largest} MiB, the most that is read of {self.name}")
        if self.module == "measurements":
            from clusterspec.exchange import measurements

            return measurements.read(_reader(self.name), file)
        return self._module().read(file)

    def _module(self) -> Module:
        return cast("Module", importlib.import_module(f"clusterspec.exchange.{self.module}"))


def _reader(name: str) -> Reader:
    return next(reader for reader in READERS if reader.name == name)


WORK = (
    Kind(
        "huggingface",
        "work",
        "Hugging Face config.json, and the index of weights",
        "work.huggingface",
        ("hf", "config.json", "hf-config", "huggingface-config"),
        largest=8,
    ),
    Kind(
        "serving",
        "work",
        "launch lines of vLLM, SGLang and TensorRT-LLM",
        "work.serving",
        ("vllm", "sglang", "trt-llm", "tensorrt-llm", "trtllm"),
    ),
    Kind("torchtitan", "work", "torchtitan configurations (TOML)", "work.torchtitan"),
    Kind(
        "megatron",
        "work",
        "Megatron-LM and NeMo arguments, Megatron-Bridge recipes",
        "work.megatron",
        ("megatron-lm", "megatron-core", "nemo", "megatron-bridge"),
    ),
    Kind("gpt-neox", "work", "GPT-NeoX configurations", "work.neox", ("gpt-neox-config", "neox")),
    Kind("deepspeed", "work", "DeepSpeed and Axolotl configurations", "work.deepspeed", ("axolotl",)),
    Kind("maxtext", "work", "MaxText configurations and launch lines", "work.maxtext"),
)
MACHINES = (
    Kind(
        "nccl-topo",
        "machines",
        "NCCL and RCCL topology files, plans and dumps",
        "machines.nccl_topology",
        ("nccl-topo-xml", "rccl-topo", "rccl-topo-xml", "nccl-topo-xml-dump", "rccl-topo-xml-dump", "nccl-graph-xml"),
    ),
    Kind(
        "rocm-smi-topo",
        "machines",
        "rocm-smi --showtopo and --showtoponuma",
        "machines.rocm_topology",
        ("rocm-smi", "rocm-smi-showtopo", "rocm-smi-showtoponuma"),
    ),
    Kind(
        "nvidia-smi-topo",
        "machines",
        "nvidia-smi topo -m, as printed or in Markdown",
        "machines.nvidia_topology",
        ("nvidia-smi", "topo-markdown"),
    ),
    Kind("nvidia-smi-nvlink", "machines", "nvidia-smi nvlink -s", "machines.nvlink_status"),
    Kind("neuron-ls", "machines", "neuron-ls, as a table or with -j", "machines.neuron"),
    Kind("hl-smi", "machines", "hl-smi of Gaudi", "machines.gaudi"),
    Kind("lspci", "machines", "lspci -vv", "machines.lspci", largest=8),
    Kind("ibnetdiscover", "machines", "ibnetdiscover", "fabrics.ibnetdiscover", largest=32),
    Kind("ibstat", "machines", "ibstat, of one node or of many hosts", "fabrics.ibstat", largest=4),
    Kind("netq", "machines", "NetQ topology graph (JSON)", "fabrics.netq", ("netq-json",), largest=8),
    Kind("topograph", "machines", "models of NVIDIA topograph", "fabrics.topograph", ("topograph-model",)),
    Kind("slurm-topology", "machines", "Slurm topology.yaml and topology.conf", "fabrics.slurm", ("slurm",), largest=8),
    Kind(
        "kubernetes",
        "machines",
        "Kueue Topology, MPIJob, PyTorchJob",
        "fabrics.kubernetes",
        ("kueue", "kueue-topology", "k8s-mpijob", "mpijob"),
    ),
    Kind("infragraph", "machines", "InfraGraph infrastructures", "fabrics.infragraph"),
)
MEASUREMENTS = (
    *(
        Kind(
            reader.name, "measurements", reader.title, "measurements", other, largest=4 if reader.name == "hccl" else 32
        )
        for reader, other in zip(
            READERS,
            (
                ("nccom",),
                ("hccl-demo",),
                ("ib-write-bw",),
                ("p2pbandwidthlatencytest", "nvbandwidth"),
                (),
                ("rccl-tests",),
            ),
            strict=True,
        )
    ),
    Kind("simai-busbw", "measurements", "bus bandwidths that SimAI takes (listed, not imported)", "simai"),
)
MONEY = (
    Kind(
        "terraform",
        "clouds",
        "Terraform plans (terraform show -json)",
        "money.terraform",
        ("terraform-plan", "tfplan"),
        largest=8,
    ),
    Kind(
        "quote",
        "money",
        "quotes as CSV or XLSX",
        "money.quotes",
        ("quotes", "csv", "xlsx", "bom", "bom-csv", "bom-xlsx"),
        largest=8,
    ),
)
KINDS = (*MACHINES, *MONEY[:1], *MEASUREMENTS, *WORK, *MONEY[1:])


def kind_of(name: str) -> Kind:
    """The format of a name. Raises `Refusal` for a name that is none, with the ones most like it."""
    plain = name.lower().replace("_", "-")
    for kind in KINDS:
        if plain == kind.name or plain in kind.other:
            return kind
    like = nearest(plain, [kind.name for kind in KINDS])
    offer = f"; did you mean {', '.join(like)}?" if like else ""
    raise Refusal(f"no kind of import is called {name!r}{offer} (`clusterspec import --list` lists all)")


def guess(file: InputFile) -> Kind:
    """The format that a file looks like. Raises `Refusal` where it looks like none, or cannot be read."""
    if file.zipped:
        return kind_of("quote")
    if len(file.data) > LARGEST:
        raise Refusal(f"has more than {LARGEST >> 20} MiB, the most that is read")
    for kind in KINDS:
        if kind.suits(file):
            return kind
    if len(file.data) > 2 << 20:
        raise Refusal(
            f"has {len(file.data) >> 20} MiB, and looks like no format that is read at that size; name the KIND"
        )
    raise Refusal("looks like none of the formats that can be imported (`clusterspec import --list` lists them)")
