"""Pipelines that do not run: stages that the layers cannot fill, virtual stages without a pipeline, and too few
micro-batches.
"""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Design, Layout

STAGE_ENDS = 2
"""Embedding and head, which frameworks may place as separate layers or stages."""


def pipeline_refusals(design: Design, layout: Layout) -> frozenset[str]:
    """The names of the rules that find an error in the pipeline of a design."""
    written = design.spec.layout
    forbidden = written is not None and written.forbids_overlap("pp")
    found = {
        "layers-indivisible-by-pp": stages_refused(design, layout),
        "virtual-stages-without-pipeline": lacks_stages_to_interleave(layout, forbids_overlap=forbidden),
        "fewer-microbatches-than-stages": refuses_few_micro_batches(layout),
    }
    return frozenset(name for name, refused in found.items() if refused)


def stages_refused(design: Design, layout: Layout) -> bool:
    """Whether the layers cannot be distributed over the stages: there are more stages than layers, or the framework
    interleaves only stages of one length. Stages that the spec states may have no layer.
    """
    model = design.workload.model if design.workload else None
    if design.spec.layout is not None and design.spec.layout.stage_layers is not None:
        return False
    if model is None or layout.pp == 1:
        return False
    return stages_exceed_layers(model, layout) or refuses_uneven_interleaving(model, layout)


def stages_exceed_layers(model: Model, layout: Layout) -> bool:
    """Whether the pipeline has more stages than the model has layers. Embedding and head may be stages without layers
    (Llama 3 405B: 126 layers on 16 × 8 stages, arXiv:2407.21783, section 3.3.2).
    """
    stages = layout.pp * layout.virtual_stages
    return model.layers < stages and not divides_with_ends(model, stages)


def divides_with_ends(model: Model, stages: int) -> bool:
    """Whether the layers divide over the stages with embedding, loss and layers of multi-token prediction counted as
    layers, as published runs place them (Llama 3 405B: 126 + 2; DeepSeek-V3: 61 + 1 + 2).
    """
    more = model.prediction.layers if model.prediction else 0 if _has_one_layer_kind(model) else 1
    return any((model.layers + STAGE_ENDS + also) % stages == 0 for also in (0, more))


def _has_one_layer_kind(model: Model) -> bool:
    """Whether all layers are of one kind.

    Runs of other models give the framework an explicit stage layout, which publications often omit.
    """
    return model.prediction is None and model.dense_layers in {0, model.layers}


def refuses_uneven_interleaving(model: Model, layout: Layout) -> bool:
    """Whether pp does not divide the layers, and the framework rejects virtual stages of different lengths."""
    held, stages = layout.capabilities, layout.pp * layout.virtual_stages
    uneven = layout.virtual_stages > 1 and model.layers % layout.pp != 0 and _has_one_layer_kind(model)
    refused = uneven and held.has("requires.even_virtual_stages") and not held.has("stages.by_itself")
    return refused and not divides_with_ends(model, stages)


def lacks_stages_to_interleave(layout: Layout, *, forbids_overlap: bool) -> bool:
    """Whether the layout has virtual stages but too few pipeline stages: a single stage, or two stages where the
    framework requires overlapped transfers and the spec turns the overlap off.
    """
    if layout.virtual_stages == 1 or layout.pp > 2:
        return False
    return layout.pp == 1 or (forbids_overlap and layout.capabilities.has("requires.pp_overlap_with_two_stages"))


def refuses_few_micro_batches(layout: Layout) -> bool:
    """Whether the schedule or the framework does not run so few micro-batches: dualpipe needs an even number,
    at least two for each stage; some frameworks need one for each stage.
    """
    many = layout.micro_batches
    if layout.pp == 1 or many is None:
        return False
    if layout.schedule == "dualpipe":
        return many < 2 * layout.pp or many % 2 != 0
    return many < layout.pp and layout.capabilities.has("requires.micro_batch_per_stage")
