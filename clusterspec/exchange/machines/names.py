"""Part names as tools print them, and their catalog entries; other names stay unknown.

Sources: PCI IDs from the PCI ID repository (https://pci-ids.ucw.cz); product names as NVML prints them
(https://docs.nvidia.com/deploy/nvml-api); Gaudi names from the hl-smi guide (https://docs.habana.ai).
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder

PCI_ACCELERATORS = {
    "10de:20b0": "a100-sxm-40gb",
    "10de:20b2": "a100-sxm-80gb",
    "10de:20b3": "a100-sxm-80gb",
    "10de:20bd": "a800-sxm-80gb",
    "10de:20f3": "a800-sxm-80gb",
    "10de:2330": "h100-sxm-80gb",
    "10de:2331": "h100-pcie-80gb",
    "10de:2321": "h100-nvl-94gb",
    "10de:2324": "h800-sxm-80gb",
    "10de:2329": "h20-96gb",
    "10de:2335": "h200-sxm-141gb",
    "10de:233b": "h200-nvl-141gb",
    "10de:2901": "b200-sxm-180gb",
    "10de:3182": "b300-sxm-288gb",
    "10de:2941": "gb200",
    "10de:31c2": "gb300",
    "10de:1db5": "v100-sxm-32gb",
    "10de:1db8": "v100-sxm-32gb",
    "10de:15f9": "p100-sxm-16gb",
    "10de:26b9": "l40s",
    "10de:2684": "rtx-4090",
    "10de:26b1": "rtx-6000-ada",
    "1002:7408": "mi250x",
    "1002:74a1": "mi300x",
    "1002:74b5": "mi300x",
    "1002:74a5": "mi325x",
    "1002:74b9": "mi325x",
    "1002:75a0": "mi350x",
    "1002:75a3": "mi355x",
    "1da3:1020": "gaudi2",
    "1da3:1060": "gaudi3",
    "1da3:1000": "gaudi1",
}
"""Vendor and device in hexadecimal."""
PCI_NAMES = {
    "10de:20b5": "A100 PCIe 80 GB",
    "10de:20f1": "A100 PCIe 40 GB",
    "10de:2237": "A10G",
    "10de:1db1": "V100 SXM2 16 GB",
    "10de:1eb8": "T4",
    "10de:27b8": "L4",
    "10de:2342": "GH200 480 GB",
    "1002:740c": "MI250 or MI250X",
    "1002:740f": "MI210",
    "1002:738c": "MI100",
    "1002:74a0": "MI300A",
    "1002:74a2": "MI308X",
}
"""Parts that are known by name and have no catalog entry, or whose id fits several."""
PCI_NICS = {
    "15b3:1017": "connectx-5",
    "15b3:1019": "connectx-5",
    "15b3:101b": "connectx-6",
    "15b3:1021": "connectx-7",
    "15b3:1023": "connectx-8",
    "15b3:a2dc": "bluefield-3",
    "14e4:1760": "thor-2",
    "17db:0501": "slingshot-cassini",
}
_PRODUCTS = (
    (r"H100 80GB HBM3", "h100-sxm-80gb"),
    (r"H100 SXM5?", "h100-sxm-80gb"),
    (r"H100 NVL", "h100-nvl-94gb"),
    (r"H100 PCIe", "h100-pcie-80gb"),
    (r"H800", "h800-sxm-80gb"),
    (r"H200 NVL", "h200-nvl-141gb"),
    (r"H200", "h200-sxm-141gb"),
    (r"H20\b", "h20-96gb"),
    (r"A100-SXM4-80GB|A100 SXM4 80GB", "a100-sxm-80gb"),
    (r"A100-SXM4-40GB|A100 SXM4 40GB", "a100-sxm-40gb"),
    (r"A800-SXM4-80GB", "a800-sxm-80gb"),
    (r"GB200", "gb200"),
    (r"GB300", "gb300"),
    (r"B200", "b200-sxm-180gb"),
    (r"B300", "b300-sxm-288gb"),
    (r"V100-SXM[23]-32GB", "v100-sxm-32gb"),
    (r"P100-SXM2-16GB", "p100-sxm-16gb"),
    (r"L40S", "l40s"),
    (r"RTX 4090\b(?! D)", "rtx-4090"),
    (r"RTX 6000 Ada", "rtx-6000-ada"),
    (r"MI250X", "mi250x"),
    (r"MI300X", "mi300x"),
    (r"MI325X", "mi325x"),
    (r"MI350X", "mi350x"),
    (r"MI355X", "mi355x"),
    (r"HL-205|\bGaudi ?1?$", "gaudi1"),
    (r"HL-2\d5|Gaudi ?2", "gaudi2"),
    (r"HL-3\d5|HL-328|Gaudi ?3", "gaudi3"),
)


def accelerator_of_product(product: str) -> str | None:
    """The catalog id of an accelerator by the product name of its driver; None if there is none.

    >>> accelerator_of_product("NVIDIA H100 80GB HBM3"), accelerator_of_product("HL-225"), accelerator_of_product("T4")
    ('h100-sxm-80gb', 'gaudi2', None)
    """
    return next((entry for pattern, entry in _PRODUCTS if re.search(pattern, product)), None)


def set_accelerator(pci: str, builder: ImportBuilder, line: int) -> None:
    """Set the accelerator of a PCI id, or record the id as unknown."""
    if entry := PCI_ACCELERATORS.get(pci):
        builder.set("cluster.accelerator", entry, line)
        return
    named = PCI_NAMES.get(pci)
    builder.unknown(f"accelerator {pci}" + (f" ({named})" if named else ""), "no catalog entry of this PCI id", line)


def set_product(product: str, builder: ImportBuilder, line: int) -> None:
    """Set the accelerator of a product name, or record the name as unknown."""
    if entry := accelerator_of_product(product):
        builder.set("cluster.accelerator", entry, line)
    else:
        builder.unknown(f"accelerator {product}", "no catalog entry of this name", line)


def platform_of_instance(instance: str, cloud: str, builder: ImportBuilder, line: int) -> None:
    """Set the platform of an instance type, or record the type as unknown."""
    from clusterspec.catalog import Catalog

    ids = Catalog.open().ids("platform")
    found = match_instance(instance, cloud, ids)
    if found:
        builder.set("cluster.platform", found, line)
    else:
        builder.unknown(f"instance type {instance}", "no catalog entry of this instance type", line)


def match_instance(instance: str, cloud: str, ids: tuple[str, ...]) -> str | None:
    """The platform id formed from a cloud's prefix and an instance type; None if there is none.

    >>> match_instance("p5.48xlarge", "aws", ("aws-p5-48xlarge",))
    'aws-p5-48xlarge'
    >>> match_instance("Standard_ND96isr_H100_v5", "azure", ("azure-nd-h100-v5",))
    'azure-nd-h100-v5'
    >>> match_instance("BM.GPU.H100.8", "oci", ("oci-bm-gpu-h100-8",))
    'oci-bm-gpu-h100-8'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")
    candidates = [f"{cloud}-{plain}"]
    if cloud == "azure":
        short = re.sub(r"^standard-", "", plain)
        candidates += [f"azure-{short}", f"azure-{re.sub(r'^nd[0-9]*[a-z]*-', 'nd-', short)}"]
        candidates += [f"azure-{re.sub(r'^nd[0-9]*[a-z]*-', 'nd-', short).replace('mi300x-v5', 'mi300x-v5')}"]
    return next((each for each in candidates if each in ids), None)
