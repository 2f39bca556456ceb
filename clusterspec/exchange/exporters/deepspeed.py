"""Training designs as a DeepSpeed configuration.

Keys: DeepSpeed 0.19.8, deepspeed/runtime/config.py and deepspeed/runtime/zero/config.py; tensor and pipeline degrees
are set in the training program.
"""

from __future__ import annotations

import json

from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    NotExportable,
    document_omissions,
    training_design,
    training_omissions,
)

_OPTIMIZERS = {
    "adam": "Adam",
    "adamw": "AdamW",
    "lion": "Lion",
    "muon": "Muon",
    "sgd": "SGD",
    "momentum": "SGD",
    "adafactor": "Adafactor",
}
"""Optimizer names in DeepSpeed, or torch.optim classes where DeepSpeed has none."""
_UNTESTED = {"sgd", "momentum", "adafactor"}
"""Optimizers with which ZeRO stops unless the configuration allows them (0.19.8: runtime/engine.py, line 1987)."""
_MOMENTUM = 0.9
"""A usual momentum, since the default of torch.optim.SGD is 0."""


def write(source: ExportInput) -> ExportedFile:
    """The configuration, in JSON.

    Raises `NotExportable` for four things that DeepSpeed refuses: sharding in groups, ZeRO 2 and 3 with pipeline stages
    (deepspeed/runtime/pipe/engine.py), optimizer offload without ZeRO (line 2415 of runtime/engine.py passes the
    setting only to ZeRO optimizers), and partial optimizer offload with ZeRO 1 or 2.
    """
    layout, work = training_design(source, "deepspeed")
    if layout.pp > 1 and layout.sharding in {"zero2", "fsdp"}:
        raise NotExportable(f"the pipeline engine of DeepSpeed runs with ZeRO 0 and 1, not with {layout.sharding}")
    if layout.sharding == "hsdp":
        raise NotExportable("DeepSpeed shards in no groups: MiCS was removed (its issue 8489)")
    stage = {"none": 0, "zero1": 1, "zero2": 2, "fsdp": 3}[layout.sharding]
    zero: dict[str, object] = {"stage": stage, "overlap_comm": layout.overlap.dp}
    if 0 < layout.offload_optimizer < 1 and stage != 3:
        raise NotExportable(f"DeepSpeed offloads a part of the optimizer with ZeRO 3 only, not with ZeRO {stage}")
    if layout.offload_optimizer and not stage:
        raise NotExportable("DeepSpeed offloads the optimizer with ZeRO 1 to 3 only: state a sharding, such as zero1")
    if layout.offload_optimizer:
        zero["offload_optimizer"] = {"device": "cpu", "ratio": layout.offload_optimizer}
    sixteen = {"fp32": None, "tf32": None, "fp16": "fp16"}.get(work.precision, "bf16")
    config: dict[str, object] = {
        "train_batch_size": work.global_batch,
        "train_micro_batch_size_per_gpu": layout.micro_batch,
        "zero_optimization": zero,
        "optimizer": {
            "type": _OPTIMIZERS[work.optimizer],
            **({"params": {"momentum": _MOMENTUM}} if work.optimizer == "momentum" else {}),
        },
        **({"zero_allow_untested_optimizer": True} if stage and work.optimizer in _UNTESTED else {}),
        **({sixteen: {"enabled": True}} if sixteen else {}),
    }
    if layout.micro_batches:
        config["gradient_accumulation_steps"] = layout.micro_batches
    degrees = {"tp": layout.tp, "pp": layout.pp, "cp": layout.cp, "ep": layout.ep}
    omitted = ["model, sequence length, data, learning rate and steps: set in the training program"]
    omitted += training_omissions(work)
    omitted += document_omissions(work)
    omitted += [f"{name} {degree}: set where the model is built" for name, degree in degrees.items() if degree > 1]
    if layout.virtual_stages > 1:
        omitted.append(f"{layout.virtual_stages} stages on each rank: the pipeline engine runs one (1F1B)")
    if len(set(layout.stage_layers)) > 1:
        omitted.append("the layers of each stage: see partition_method of PipelineModule")
    if work.optimizer == "momentum":
        omitted.append(f"the momentum of SGD, which the spec does not state: {_MOMENTUM} is written")
    if work.precision not in {"bf16", "fp16", "fp32"}:
        omitted.append(f"GEMMs in {work.precision}: set where the model is built")
    if layout.recompute != "none":
        omitted.append("activation recomputation: set where the model is built")
    return ExportedFile(json.dumps(config, indent=2) + "\n", tuple(omitted))
