"""The labels by which an object of Kubernetes selects nodes: products and tori, with what it already states."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import ImportBuilder, InputFile
from clusterspec.exchange.machines.node_labels import set_labelled_accelerator

TORUS = "nodeSelector: {cloud.google.com/gke-tpu-topology: 2x4x4}\n"
PRODUCT = "nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n"
SLICE = "nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5p-slice}\n"


def labelled(text: str, **stated: int | str) -> dict[str, object]:
    """The keys of the machine after its labels were read."""
    builder = ImportBuilder("kubernetes", "job.yaml")
    for name, value in stated.items():
        builder.set(f"cluster.{name}", value)
    set_labelled_accelerator(InputFile("job.yaml", text.encode()), builder)
    return {".".join(map(str, each.path)): each.value for each in builder.reading().given}


@pytest.mark.parametrize(
    ("text", "accelerators", "shape"),
    [
        (TORUS + SLICE, None, [2, 4, 4]),
        (TORUS + SLICE, 4, [2, 4, 4]),
        (TORUS, 4, [2, 4, 4]),
        (TORUS, None, None),  # nothing says that the pods take accelerators
        (TORUS + TORUS.replace("2x4x4", "4x4x4") + SLICE, 4, None),
        (SLICE, 4, None),
    ],
)
def test_one_torus_is_the_shape_of_a_machine_with_accelerators(
    text: str, accelerators: int | None, shape: list[int] | None
) -> None:
    stated = {} if accelerators is None else {"accelerators_per_node": accelerators}
    assert labelled(text, **stated).get("cluster.scale_up.shape") == shape


@pytest.mark.parametrize(
    ("text", "stated", "accelerator"),
    [
        (PRODUCT, {}, "h100-sxm-80gb"),
        (PRODUCT, {"accelerator": "a100-sxm-80gb"}, "a100-sxm-80gb"),
        (PRODUCT + PRODUCT.replace("H100-80GB-HBM3", "A100-SXM4-80GB"), {}, None),
        (PRODUCT.replace("NVIDIA-H100-80GB-HBM3", "NVIDIA-Z900"), {}, None),
    ],
)
def test_a_product_that_all_labels_name_is_the_accelerator(
    text: str, stated: dict[str, int | str], accelerator: str | None
) -> None:
    assert labelled(text, **stated).get("cluster.accelerator") == accelerator
