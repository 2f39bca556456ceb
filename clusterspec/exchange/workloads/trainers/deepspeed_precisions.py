"""Precisions of GEMMs and optimizer states in configurations of DeepSpeed."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.keys import Keys, set_choice


def set_number_types(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision, and that of the optimizer states where they are no fp32 numbers.

    Source: deepspeedai/DeepSpeed edaa7221, deepspeed/runtime/precision_config.py (``bfloat16`` is the former name of
    ``bf16``) and constants.py (``torch_autocast``).
    """
    for name, word in (("bf16", "bf16"), ("bfloat16", "bf16"), ("fp16", "fp16")):
        if name in {each.partition(".")[0] for each in keys.values} and keys.is_on(f"{name}.enabled"):
            builder.set("workload.precision", word, keys.line(f"{name}.enabled"))
    if keys.is_on("torch_autocast.enabled"):
        types = {"bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16"}
        set_choice(keys, "workload.precision", ("torch_autocast.dtype",), types, builder)
    for name in ("bf16", "fp16"):
        master = f"{name}.{name}_master_weights_and_grads"
        builder.set("layout.optimizer_states.master", name if keys.is_on(master) else None, keys.line(master))
    moments = "bf16.bf16_optimizer_states"
    builder.set("layout.optimizer_states.moments", "bf16" if keys.is_on(moments) else None, keys.line(moments))
