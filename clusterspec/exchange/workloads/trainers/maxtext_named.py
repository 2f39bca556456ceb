"""The model that a configuration of MaxText names, and the keys that change its sizes."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.exchange.workloads.model_files.models import set_model

SIZES = {
    "workload.model.layers": ("base_num_decoder_layers",),
    "workload.model.hidden": ("base_emb_dim",),
    "workload.model.heads": ("base_num_query_heads", "base_num_heads"),
    "workload.model.kv_heads": ("base_num_kv_heads", "base_num_heads"),
    "workload.model.head_dim": ("head_dim",),
    "workload.model.ffn_hidden": ("base_mlp_dim",),
    "workload.model.vocab": ("vocab_size",),
    "workload.model.experts_per_token": ("num_experts_per_tok",),
    "workload.model.expert_ffn_hidden": ("base_moe_mlp_dim",),
    "workload.model.shared_experts": ("shared_experts",),
}
"""Keys of the sizes of a model, by the paths of the spec."""
STUDENT = "student_overrides."
"""Keys of the model that a distillation trains (configs/post_train/distillation.yml)."""


def set_named_model(model: str, keys: Keys, builder: ImportBuilder) -> None:
    """Set a model of the catalog; with sizes of its own (``override_model_config``) it is another, and is listed.

    Without that key, the sizes of the model replace those of a configuration, and a launch with its own stops
    (HyperBlaze456/maxtext-indextts2, MaxText/pyconfig.py, lines 510 and 682 to 703; read 2026-11-28).
    """
    of = STUDENT if f"{STUDENT}model_name" in keys.values else ""
    changed = keys.values.get(f"{of}override_model_config", (None, 0))[0] is True
    own = [each for names in SIZES.values() for name in names if (each := f"{of}{name}") in keys.values]
    shown = ", ".join(f"{name.removeprefix(of)} {excerpt(keys.get(name))}" for name in own)
    if own and changed:
        why = f"with sizes of its own ({shown}): state the model"
        builder.unknown(f"model {excerpt(model)}", why, keys.line("model_name"))
    else:
        set_model(model, builder, keys.line("model_name"))
    if own and not changed:
        why = f"of no effect without override_model_config: the sizes of {excerpt(model)} hold, or MaxText stops"
        builder.unknown(shown, why, keys.line(own[0]))
    if teacher := keys.get("teacher_overrides.model_name"):
        why = "teaches the model that is trained: a plan has no passes of another model"
        builder.unknown(f"teacher {excerpt(teacher)}", why, keys.line("teacher_overrides.model_name"))


def lists_scale(keys: Keys, builder: ImportBuilder) -> bool:
    """Whether a factor scales the sizes of the model or of base.yml (``global_parameter_scale``), which it lists."""
    scale = keys.integer("global_parameter_scale")
    if not scale or scale == 1:
        return False
    why = "scales the sizes of the model or of base.yml: state the model"
    builder.unknown(f"global_parameter_scale: {scale}", why, keys.line("global_parameter_scale"))
    return True
