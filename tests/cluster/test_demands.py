"""What a model demands of a framework: the uses that its published architecture has."""

from __future__ import annotations

from clusterspec.cluster.demands import model_uses
from tests.effort import each
from tests.settings import SETTINGS

USES = (
    ("llama-2-7b", ""),
    ("llama-3.1-70b", "grouped-query-attention"),
    ("gemma-2-9b", "grouped-query-attention sliding-window tied-embeddings"),
    ("mixtral-8x7b", "experts grouped-query-attention"),
    ("deepseek-r1", "experts latent-attention token-prediction"),
    ("deepseek-v3.2", "experts latent-attention sparse-attention token-prediction"),
    ("deepseek-v4-pro", "compressed-attention experts sparse-attention token-prediction"),
    ("nemotron-h-56b", "grouped-query-attention mamba-2"),
    ("qwen3-next-80b-a3b", "experts grouped-query-attention linear-attention token-prediction"),
)


@each(("name", "uses"), USES)
def test_a_model_uses_what_its_architecture_has_and_its_names(name: str, uses: str) -> None:
    found = {use for use in model_uses(SETTINGS.catalog.model(name)) if use}
    parts = name.split("-")
    names = {"model-" + "-".join(parts[:count]) for count in range(1, len(parts) + 1)}
    assert found == names | {*uses.split()}
