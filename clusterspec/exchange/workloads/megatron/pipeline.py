"""Pipeline stages of Megatron: virtual stages, a layout of layers, and other numbers of layers at the ends."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value
from clusterspec.exchange.workloads.megatron.forks import list_unlike_devices

MOST_LAYERS = 10_000


def set_pipeline(keys: Keys, builder: ImportBuilder) -> None:
    """Set the virtual stages, the layers of stages and the overlap of their sends."""
    list_unlike_devices(keys, builder)
    _list_encoder_stages(keys, builder)
    names = ("num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size")
    stages = keys.integer(*names)
    each, layers, pp = (
        keys.integer("num_layers_per_virtual_pipeline_stage"),
        keys.integer("num_layers"),
        keys.integer("pipeline_model_parallel_size"),
    )
    line = keys.line(*names, "num_layers_per_virtual_pipeline_stage")
    if layout := keys.get("pipeline_model_parallel_layout"):
        _set_stages(str(layout), pp or 1, keys.line("pipeline_model_parallel_layout"), builder)
    if stages is None and each and layers and pp and layers % (each * pp) == 0:
        stages = layers // (each * pp)
    if layers and pp and (stages or 1) == 1:
        _set_end_stages(keys, layers, pp, builder)
    if stages:
        builder.set("layout.virtual_stages", stages, line)
        if stages > 1:
            builder.set("layout.schedule", "interleaved", line)
    if (pp or 1) > 1:
        _set_overlap(keys, builder)


def _set_overlap(keys: Keys, builder: ImportBuilder) -> None:
    """Set whether sends between stages overlap with computation, where it is stated.

    Source: Megatron-LM d98e8a64, megatron/training/arguments.py, line 3118.
    """
    stated, off = boolean_value(keys.get("overlap_p2p_comm")), "no_overlap_p2p_communication"
    builder.set("layout.overlap.pp", False if keys.is_on(off) else stated, keys.line(off, "overlap_p2p_comm"))


_OF_ENCODER = ("encoder_pipeline_model_parallel_size", "pipeline_model_parallel_split_rank")


def _list_encoder_stages(keys: Keys, builder: ImportBuilder) -> None:
    """List stages of an encoder: they have ranks in addition to those of the decoder, or precede it in the pipeline.

    Source: Megatron-LM 81d44dbe, megatron/training/arguments.py, lines 208 to 256.
    """
    for name in _OF_ENCODER:
        if keys.integer(name):
            why = "stages of an encoder, on ranks of its own or of those of layout.pp: no key describes them"
            builder.unknown(f"{name}: {keys.integer(name)}", why, keys.line(name))


_FIRST = ("decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage")
_LAST = ("decoder_last_pipeline_num_layers", "num_layers_in_last_pipeline_stage")


def _set_end_stages(keys: Keys, layers: int, pp: int, builder: ImportBuilder) -> None:
    """Set the layers of all stages if the first or the last stage has its own number: the other stages share the rest.

    Source: Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py, lines 2293 to 2340.
    """
    first, last = keys.integer(*_FIRST), keys.integer(*_LAST)
    between = pp - sum(1 for count in (first, last) if count)
    rest = layers - (first or 0) - (last or 0)
    if not (first or last):
        return
    if between > 0 and rest > 0 and rest % between == 0 and pp <= MOST_LAYERS:
        inner = [rest // between] * between
        stages = [*([first] if first else []), *inner, *([last] if last else [])]
        builder.set("layout.stage_layers", stages, keys.line(*_FIRST, *_LAST))
    elif not (between == 0 and rest == 0):
        why = f"{rest} layers are not divisible by the other {between} stages"
        builder.unknown("layout.stage_layers", why, keys.line(*_FIRST, *_LAST))


def _set_stages(text: str, pp: int, line: int, builder: ImportBuilder) -> None:
    """Set the layers of all stages from the notation of ``pipeline-model-parallel-layout``: "Et*3|(tt|)*5tL".

    Grammar: Megatron-LM 0.20, megatron/core/transformer/pipeline_parallel_layer_layout.py, line 283.
    """
    plain = text.replace(",", "").replace("\\", "")  # signs that YAML keeps escaped for a shell
    for pattern in (r"\(([^()]{1,200})\)\*([0-9]{1,4})", r"(.)\*([0-9]{1,4})"):
        if sum(len(match[1]) * int(match[2]) for match in re.finditer(pattern, plain)) > MOST_LAYERS:
            builder.unknown(
                f"pipeline_model_parallel_layout: {excerpt(text)}", f"more than {MOST_LAYERS:,} layers", line
            )
            return
        plain = re.sub(pattern, lambda match: match[1] * int(match[2]), plain)
    stages = plain.split("|")
    if set(plain) - set("EtmL|") or len(stages) % pp:
        builder.unknown(f"pipeline_model_parallel_layout: {excerpt(text)}", f"no layout of {pp} stages", line)
        return
    builder.set("layout.stage_layers", [stage.count("t") for stage in stages], line)
    if len(stages) > pp:
        builder.set("layout.virtual_stages", len(stages) // pp, line)
        builder.set("layout.schedule", "interleaved", line)
