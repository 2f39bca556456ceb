"""Exports loaded by the code of their targets: ``python -m tools.loads DIR [--python PYTHON] [--only KIND]``.

``DIR`` is as for `tools.export_targets`: clones, and wheels of vLLM and SGLang. ``--draw N --seed S`` takes random
designs (`tools.export_draws`) instead of the fixed ones. ``PYTHON`` is an interpreter with the
packages ``pydantic pyyaml omegaconf regex msgspec numpy pandas psutil cloudpickle packaging typing_extensions
jsonschema``; PyTorch, JAX and others are stubs. Nothing of a target runs but its parsers, validation and data classes,
of SuperBench the diagnosis of results, and of the library of NetBox's device types its schema and its rules for names.
Exit status 1 where an export is refused, or a target could not be loaded. TensorRT-LLM is not among the targets: no
registry has its source.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import date
from functools import partial
from itertools import product
from pathlib import Path

from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.exchange.exporters.registry import ExportInput, NotExportable, exporter_of
from clusterspec.studies import Settings, study_text
from tools.export_draws import drawn_outputs
from tools.export_targets import TARGETS, exported_outputs
from tools.target_sources import Source

FOLDERS = {"maxtext": "src", "aiconfigurator": "aic-core/src"}
"""The folder of a repository from which its package is imported."""
LIMITS = {"superbench": "microsoft/superbenchmark"}
"""Exports of acceptance limits, and the repositories whose code judges results by them. The Cluster Readiness Engine
and AICR are programs in Go that run in a cluster: tests of the exporters read their limits as the sources say."""
SYSTEMS = {"aiconfigurator": "ai-dynamo/aiconfigurator"}
"""Exports of machines, and the repositories whose code reads them."""
LIBRARIES = ("netbox-community/devicetype-library", "nrkno/netbox-devicetype-library")
"""NetBox's library of device types, and a public fork of 2026 that is smaller: both hold the schema."""
_CRDS = "config/components/crd/bases"
SCHEMAS = {
    "dynamo-graph": (
        "dynamo",
        ("ai-dynamo/dynamo", "wxsms/dynamo"),
        "deploy/operator/config/crd/bases/nvidia.com_dynamographdeployments.yaml",
    ),
    "llm-d-chart": (
        "llm-d",
        ("llm-d-incubation/llm-d-modelservice",),
        "charts/llm-d-modelservice/values.schema.json",
    ),
    "mpijob": ("mpijob", ("kubeflow/mpi-operator",), "manifests/base/kubeflow.org_mpijobs.yaml"),
    "jobset": ("jobset", ("kubernetes-sigs/jobset",), f"{_CRDS}/jobset.x-k8s.io_jobsets.yaml"),
    "kueue-topology": ("kueue-topology", ("kubernetes-sigs/kueue",), f"{_CRDS}/kueue.x-k8s.io_topologies.yaml"),
}
"""Exports that a schema describes as a whole: their kind, the repositories that have the schema, of which the first
in the folder is taken, and its file."""
OF_MACHINES = ("mpijob", "jobset", "kueue-topology")
"""Exports of a machine alone, without a workload."""
KINDS = (
    *("megatron", "maxtext", "torchtitan", "deepspeed", "vllm", "llm-d", "sglang", "dynamo", "netbox"),
    *LIMITS,
    *SYSTEMS,
    *SCHEMAS,
)
BASE_TARGETS = {"dynamo": "vllm 0.31.0"}
"""The target whose package another one imports."""
LOADED = {"dynamo": "dynamo.vllm"}
"""Content of an export that is loaded; workers of Dynamo for SGLang take the options of SGLang's server."""
PYTHON_FILES = (".py", ".json", ".yml")


def written_limits(kind: str) -> Iterator[str]:
    """Acceptance limits of machines of several makers, as predicted and as a spec states them."""
    settings = Settings(Catalog.open(), Config(), date(2026, 11, 20))
    stated = (
        "acceptance:\n"
        "  - {collective: all-reduce, nodes: 1, size: 16 GiB, busbw: 440 GB/s}\n"
        "  - {collective: all-gather, nodes: 2, size: 8 GiB, busbw: 320 GB/s, pass: 3 of 3}\n"
    )
    for platform in ("dgx-a100", "dgx-h100", "dgx-b200", "dgx-h200", "azure-nd-mi300x-v5"):
        for rest in ("", stated):
            text = f"clusterspec: 1\nname: pod\ncluster: {{platform: {platform}, nodes: 16}}\n{rest}"
            yield str(exporter_of(kind).write(ExportInput(study_text(text, settings).design)).content)


def written_systems(kind: str) -> Iterator[str]:
    """Machines of all platforms of the catalog that the exporter accepts, of 1 and 64 nodes."""
    settings = Settings(Catalog.open(), Config(), date(2026, 11, 20))
    for platform, nodes in product(Catalog.open().ids("platform"), (1, 64)):
        text = f"clusterspec: 1\nname: pod\ncluster: {{platform: {platform}, nodes: {nodes}}}\n"
        with contextlib.suppress(NotExportable):
            yield str(exporter_of(kind).write(ExportInput(study_text(text, settings).design)).content)


def written_device_types() -> Iterator[str]:
    """Device types of every platform that is bought, each with its own switches and with every other switch."""
    catalog = Catalog.open()
    settings = Settings(catalog, Config(), date(2026, 11, 20))
    for platform in catalog.ids("platform"):
        for switch in ("", *(f", scale_out: {{switch: {each}}}" for each in catalog.ids("switch"))):
            text = f"clusterspec: 1\nname: pod\ncluster: {{platform: {platform}, nodes: 4{switch}}}\n"
            study = study_text(text, settings)
            try:
                content = str(exporter_of("netbox").write(ExportInput(study.design)).content)
            except (NotExportable, ValueError):
                continue
            yield from (f"---{each}" for each in content.split("---")[1:])


def sources_of(kind: str, clones: Path) -> list[Source]:
    """The sources of a target, and of the target that it imports. Raises `FileNotFoundError` for a missing one."""
    if kind in SCHEMAS:
        names = SCHEMAS[kind][1]
        held = [name for name in names for each in (name, name.replace("/", "+")) if (clones / each).is_dir()]
        return [Source(clones, (held or [*names])[0], "clone")]
    if repository := (LIMITS | SYSTEMS).get(kind):
        return [Source(clones, repository, "")]
    if kind == "netbox":
        held = [name for name in LIBRARIES for each in (name, name.replace("/", "+")) if (clones / each).is_dir()]
        return [Source(clones, (held or [*LIBRARIES])[0], "")]
    targets = [TARGETS[each] for each in (kind, BASE_TARGETS.get(kind)) if each]
    return [Source(clones, each.repository, each.release) for each in targets]


def unpacked(source: Source, folder: Path) -> None:
    """Write the Python files of a clone or a wheel to a folder."""
    if source.folder is None:
        assert source.wheel is not None
        with zipfile.ZipFile(source.wheel) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.endswith(PYTHON_FILES)])
        return
    git = ["git", "-C", str(source.folder)]
    listed = subprocess.run([*git, "ls-tree", "-r", "HEAD"], capture_output=True, check=True, text=True).stdout
    rows = [line.partition("\t") for line in listed.splitlines()]
    files = [(row[0].split()[2], row[2]) for row in rows if row[2].endswith(PYTHON_FILES)]
    asked = "\n".join(blob for blob, _ in files).encode()
    data = subprocess.run([*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
    at = 0
    for _, path in files:
        end = data.index(b"\n", at)
        size = data[at:end].split()[-1]
        at = end + 1
        if size.isdigit():  # a clone may lack some blobs
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data[at : at + int(size)])
            at += int(size) + 1


def faults(kind: str, exports: list[str], sources: list[Source], python: str) -> list[str]:
    """The errors of a target's code about each export, empty where it loads; empty if the target itself fails."""
    with tempfile.TemporaryDirectory() as held:
        for source in sources:
            if kind in SCHEMAS:
                Path(held, "schema.yaml").write_text(source.text(SCHEMAS[kind][2]), "utf-8")
            else:
                unpacked(source, Path(held))
        root = Path(held) / FOLDERS.get(kind, "")
        words = [python, str(Path(__file__).with_name("load.py")), kind, str(root)]
        given = "".join(json.dumps(text) + "\n" for text in exports)
        done = subprocess.run(words, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().split("\n")[-1], file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", type=Path, help="a folder of clones and wheels")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that loads")
    parser.add_argument("--only", choices=KINDS, help="one kind of export")
    parser.add_argument("--draw", type=int, default=0, help="a number of random designs, instead of the fixed ones")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the draw")
    given = parser.parse_args()
    failed = False
    for kind in [given.only] if given.only else KINDS:
        try:
            sources = sources_of(kind, given.clones)
        except FileNotFoundError as fault:
            print(f"{kind}: not checked: {fault}")
            failed = True
            continue
        own = {"netbox": written_device_types}
        own |= {name: partial(written_limits, name) for name in LIMITS}
        own |= {name: partial(written_systems, name) for name in (*SYSTEMS, *OF_MACHINES)}
        name = SCHEMAS[kind][0] if kind in SCHEMAS else kind
        designs = (
            drawn_outputs(name, given.draw, given.seed) if given.draw and name in TARGETS else exported_outputs(name)
        )
        texts = own[kind]() if kind in own else designs
        exports = [text for text in dict.fromkeys(texts) if LOADED.get(kind, "") in text]
        said = faults(kind, exports, sources, given.python)
        refused = [text for text in said if text]
        failed |= bool(refused) or len(said) < len(exports)
        loaded = f"{len(said) - len(refused)} of {len(exports)} load"
        print(f"{kind}: {loaded} at {sources[0].repository} {sources[0].commit[:12]}")
        for text, count in {text: refused.count(text) for text in refused}.items():
            print(f"  {count} times: {text[:300]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
