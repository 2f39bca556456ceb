"""Starting specs for a platform and a model: the first of some common layouts without findings."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.entries import Model, Platform
from clusterspec.cli import UsageFault
from clusterspec.pipeline import Settings, estimate, study_text
from clusterspec.records import dataclass

DEGREES = (1, 2, 4, 8, 16, 32, 64)
NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
COMMENTS = 32
"""The column of comments."""
MOST_TRIED = 120
"""Layouts that are tried; a check takes some ten milliseconds."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate layout: number of nodes and degrees of parallelism."""

    nodes: int
    tp: int
    pp: int
    recompute: str

    def text(self, platform: Platform, model: Model, kind: str) -> str:
        """The commented spec."""
        length = min(model.max_sequence_length or 8192, 8192)
        training = f"""\
  sequence_length: {length}  # tokens
  global_batch: {max(256, self.nodes * 8)}  # sequences per optimizer step
  precision: bf16
"""
        serving = """\
  kind: serve
  precision: bf16
  serving:
    input_tokens: 2048  # of a usual request
    output_tokens: 256
    concurrency: 16  # requests in flight
"""
        software = "  framework: megatron-core\n" if kind == "train" else "  framework: vllm\n"
        layout = software + f"  tp: {self.tp}  # tensor parallelism, inside the scale-up domain\n"
        if kind == "train":
            layout += f"  pp: {self.pp}  # pipeline stages\n"
            layout += "  micro_batch: 1  # sequences\n"
            layout += f"  recompute: {self.recompute}  # none, selective or full\n"
        return aligned(f"""\
# yaml-language-server: $schema=https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json
# {platform.name}, for {"training" if kind == "train" else "serving"} {model.name}. `clusterspec check FILE` checks it,
# `clusterspec estimate FILE` predicts memory and time.
clusterspec: 1
name: {platform.id}-{model.id}

cluster:
  platform: {platform.id}  # fills every key of the cluster that is not given here
  nodes: {self.nodes}  # nodes that do work; `spare_nodes` come on top

workload:
  model: {model.id}  # a catalog entry, or a mapping that describes the model
{training if kind == "train" else serving}
layout:
{layout}""")


def aligned(text: str) -> str:
    """A spec with its comments in one column.

    >>> print(aligned("nodes: 4  # that work\\nplatform: dgx-h100  # an entry"))
    nodes: 4                        # that work
    platform: dgx-h100              # an entry
    """
    split = (line.partition("  # ") for line in text.split("\n"))
    return "\n".join(f"{left.ljust(COMMENTS - 2)}{mark}{right}" if mark else left for left, mark, right in split)


def starting_spec(settings: Settings, platform: str, model: str, kind: str) -> str:
    """The text of a spec without errors. Raises `UsageFault` for unknown names."""
    machine = _entry(settings.catalog, "platform", platform)
    network = _entry(settings.catalog, "model", model)
    if not isinstance(machine, Platform) or not isinstance(network, Model):
        raise UsageFault("the catalog entry is of another kind")
    best: tuple[int, str] | None = None
    for number, attempt in enumerate(attempts(machine, kind)):
        text = attempt.text(machine, network, kind)
        one = study_text(text, settings)
        weight = sum({"error": 100, "warning": 1}.get(str(found.severity), 0) for found in one.checked.findings)
        fits = estimate(one).to_json()["fits"] is not False
        weight += 0 if fits else 50
        if best is None or weight < best[0]:
            best = weight, text
        if weight < 50 or number >= MOST_TRIED:
            break
    return best[1] if best else ""


def attempts(platform: Platform, kind: str) -> Iterator[Attempt]:
    """Candidate layouts by increasing number of nodes, with the lowest degrees first."""
    node = platform.accelerators_per_node or 1
    reach = platform.domain or node
    for nodes in NODES:
        for recompute in ("none", "selective", "full") if kind == "train" else ("none",):
            for pp in DEGREES if kind == "train" else (1,):
                for tp in DEGREES:
                    ranks = nodes * node
                    if tp <= reach and tp * pp <= ranks and ranks % (tp * pp) == 0 and (pp == 1 or tp >= min(node, 4)):
                        yield Attempt(nodes, tp, pp, recompute)


def _entry(catalog: Catalog, kind: str, name: str) -> object:
    try:
        found = catalog.find(kind, name)
    except BrokenEntry as fault:
        raise UsageFault(str(fault)) from None
    if found is None:
        near = ", ".join(catalog.nearest(kind, name))
        raise UsageFault(f"the catalog has no {kind} {name!r}; nearest: {near or 'none'}")
    return found
