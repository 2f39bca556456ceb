"""Accelerators that Kubernetes objects select by node labels.

Values of GKE: https://cloud.google.com/kubernetes-engine/docs/how-to/gpus and .../docs/concepts/tpus; ``gpu.product``
is the driver's name with dashes (NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery), and an instance type is the
name that the cloud uses. ``instance-gpu-name`` of Karpenter: aws/karpenter-provider-aws 1d927085,
website/content/en/preview/reference/instance-types.md, read 2026-11-25.
"""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.catalog.product_names import torus_shape
from clusterspec.exchange.import_result import LIST, ImportBuilder, InputFile, excerpt
from clusterspec.exchange.machines.links import accelerator_of_product, match_instance
from clusterspec.logs.text_lines import line_at

_GKE = {
    "nvidia-tesla-t4": "t4",
    "nvidia-l4": "l4",
    "nvidia-tesla-v100": "v100-sxm-16gb",
    "nvidia-tesla-a100": "a100-sxm-40gb",
    "nvidia-a100-80gb": "a100-sxm-80gb",
    "nvidia-h100-80gb": "h100-sxm-80gb",
    "nvidia-h100-mega-80gb": "h100-sxm-80gb",
    "nvidia-h200-141gb": "h200-sxm-141gb",
    "nvidia-b200": "b200-sxm-180gb",
    "nvidia-gb200": "gb200",
    "tpu-v4-podslice": "tpu-v4",
    "tpu-v5-lite-podslice": "tpu-v5e",
    "tpu-v5-lite-device": "tpu-v5e",
    "tpu-v5p-slice": "tpu-v5p",
    "tpu-v6e-slice": "tpu-v6e",
    "tpu-v6e-device": "tpu-v6e",
    "tpu7x": "tpu-v7x",
}
_KARPENTER = {
    "t4": "t4",
    "a10g": "a10g",
    "l40s": "l40s",
    "h100": "h100-sxm-80gb",
    "h200": "h200-sxm-141gb",
    "b200": "b200-sxm-180gb",
    "b300": "b300-sxm-288gb",
}
"""Products of AWS that are the same in all instances with this name. A100 stands for two products, and L4 also for
parts of one.
"""
_CRUSOE = {
    "nvidia-a100-80gb-sxm-ib": "a100-sxm-80gb",
    "nvidia-h100-80gb-sxm-ib": "h100-sxm-80gb",
    "amd-mi300x-192gb-ib": "mi300x",
    "amd-mi355x-288gb-roce": "mi355x",
}
"""Products of Crusoe (crusoecloud/solutions-library 8becda63)."""
_INSTANCE = "kubernetes.io/instance-type"
_LABEL = re.compile(
    r"\b(?P<name>gke-accelerator|gke-tpu-accelerator|nvidia\.com/gpu\.product|kubernetes\.io/instance-type"
    r"|karpenter\.k8s\.aws/instance-gpu-name|crusoe\.ai/accelerator)[\"']?"
    r"(?:[ \t]*:[ \t]*"
    r"|[ \t]*\n\s{0,2000}operator:[ \t]*[\"']?In[\"']?[ \t]*\n\s{0,2000}values:[ \t]*"
    r"(?:\n\s{0,4000}-[ \t]*|\[[ \t]*))"
    r"[\"']?(?P<value>[A-Za-z][\w.-]{1,60})[\"']?[ \t]*"
    r"(?P<more>,|\n\s{0,4000}-[ \t]+[\"']?[\w.-]+[\"']?[ \t]*(?:\n|\Z))?"
)
"""A label in a selector, or in an expression with one value; ``more`` is set if it has several values."""


_TOPOLOGY = re.compile(r"\bgke-tpu-topology[\"']?[ \t]*:[ \t]*[\"']?(?P<shape>\d{1,4}(?:x\d{1,4}){1,2})\b")
"""The torus of a slice, from the label with which GKE selects it."""


def set_labelled_accelerator(file: InputFile, builder: ImportBuilder) -> None:
    """Set the accelerator if all labels of the file name the same one and it is not yet set; differing labels are
    recorded.
    """
    text = file.uncommented
    found = list(_LABEL.finditer(text))
    named = {_accelerator_id(match["name"], match["value"]) for match in found} - {None}
    toruses = {match["shape"]: match.start() for match in _TOPOLOGY.finditer(text)}
    if len(toruses) == 1 and (found or builder.reading().value(("cluster", "accelerators_per_node")) is not None):
        (shape, at), *_ = toruses.items()
        line = line_at(text, found[0].start() if found else at)
        builder.set("cluster.scale_up.shape", list(torus_shape(shape)), line)
    if not found or builder.reading().value(("cluster", "accelerator")) is not None:
        return
    line = line_at(text, found[0].start())
    if len(named) == 1 and not any(_is_list(match) for match in found):
        builder.set("cluster.accelerator", named.pop(), line)
        _set_whole_machine({match["value"] for match in found if match["name"] == _INSTANCE}, builder, line)
    else:
        shown = ", ".join(dict.fromkeys(match["value"] for match in found))
        why = "several products" if named else "no catalog entry of this label"
        builder.unknown(f"nodes of {excerpt(shown, LIST)}", why, line)


def _set_whole_machine(types: set[str], builder: ImportBuilder, line: int) -> None:
    """Set the machine by its type if there is one type, and a pod requests all accelerators of such a machine."""
    requested = builder.reading().value(("cluster", "accelerators_per_node"))
    if len(types) == 1 and (platform := _platform_of_instance(types.pop())):
        entry = Catalog.open().platform(platform)
        if entry.accelerators_per_node is not None and entry.accelerators_per_node == requested:
            builder.set("cluster.platform", platform, line)


_VALUE = re.compile(r"values:\s*+-\s*(\S+)")
_KEY = re.compile(r"\bkey:[ \t]*[\"']?(\S{1,100})")
_OF_MACHINE = re.compile(r"instance-type|accelerator|product|nodepool|machine|gpu", re.IGNORECASE)
"""Node labels that name the kind of machine."""


def count_node_type(text: str, offset: int, builder: ImportBuilder) -> None:
    """Count the kind of machine that a pod affinity names; the text begins after ``offset`` lines of the file."""
    for affinity in _VALUE.finditer(text):
        keys = _KEY.findall(text, max(0, affinity.start() - 200), affinity.start())
        if "{{" not in affinity[1] and (not keys or _OF_MACHINE.search(keys[-1])):
            builder.count("node_type", affinity[1], offset + line_at(text, affinity.start()))
            return


def accelerator_of_label(label: str) -> str | None:
    """The catalog id of an accelerator by its Google name (``nvidia-l4``)."""
    return _GKE.get(label)


def _is_list(match: re.Match[str]) -> bool:
    return "operator" in match[0] and match["more"] is not None


def _accelerator_id(name: str, value: str) -> str | None:
    """The catalog id of an accelerator by a label.

    >>> _accelerator_id("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")
    'h100-sxm-80gb'
    >>> _accelerator_id("gke-accelerator", "nvidia-l4")
    'l4'
    >>> _accelerator_id("karpenter.k8s.aws/instance-gpu-name", "h200")
    'h200-sxm-141gb'
    >>> _accelerator_id("kubernetes.io/instance-type", "p5.48xlarge")
    'h100-sxm-80gb'
    """
    if name.startswith("gke"):
        return _GKE.get(value)
    if name.startswith("karpenter"):
        return _KARPENTER.get(value)
    if name.startswith("crusoe"):
        return _CRUSOE.get(value)
    if name.endswith("product"):
        return None if "MIG" in value else accelerator_of_product(value.replace("-", " "))
    return _accelerator_of_instance(value)


def _accelerator_of_instance(value: str) -> str | None:
    found = _platform_of_instance(value)
    return Catalog.open().platform(found).accelerator if found else None


def _platform_of_instance(value: str) -> str | None:
    """The platform of the name that a cloud gives a type of machine (``ml.`` before it is SageMaker's)."""
    ids = Catalog.open().ids("platform")
    found = (match_instance(value.removeprefix("ml."), cloud, ids) for cloud in ("aws", "azure", "oci", "gcp"))
    return next((each for each in found if each), None)
