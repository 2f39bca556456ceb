"""Kernels of Axolotl: attention, compilation and the loss.

Keys: axolotl 0.19.0, axolotl/utils/schemas/config.py and the arguments of its integrations, read 2026-12-01.
"""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.keys import Keys, set_switch

_ATTENTION = {
    **dict.fromkeys(("flash_attention_2", "flash_attention"), "flash-2"),
    **dict.fromkeys(("flash_attention_3", "flash_attention_4"), "flash"),
    "eager": "plain",
}
"""Attention by its name; which kernel ``sdpa`` and ``flex_attention`` take, PyTorch decides."""
_SWITCHES = {"flash_attention": "flash-2", "eager_attention": "plain"}
"""Switches of earlier releases."""
_CHUNKED = ("liger_fused_linear_cross_entropy", "cut_cross_entropy", "chunked_cross_entropy")
"""Losses that never hold all logits."""
_LIGER = ("liger_rope", "liger_rms_norm", "liger_glu_activation", "liger_layer_norm")


def set_axolotl_kernels(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kernel of attention, whether kernels are fused, and the loss, where a configuration states them."""
    named = str(keys.get("attn_implementation") or "")
    builder.set("workload.attention", _ATTENTION.get(named), keys.line("attn_implementation"))
    for name, kind in _SWITCHES.items():
        if not named and keys.is_on(name):
            builder.set("workload.attention", kind, keys.line(name))
    if fused := next((name for name in _LIGER if keys.is_on(name)), None):
        builder.set("layout.fused_kernels", True, keys.line(fused))
    elif keys.find("torch_compile") and keys.get("torch_compile") != "auto":
        set_switch(keys, "layout.fused_kernels", ("torch_compile",), builder)
    if chunked := next((name for name in _CHUNKED if keys.is_on(name)), None):
        builder.set("layout.loss", "chunked", keys.line(chunked))
    elif keys.is_on("liger_cross_entropy"):
        builder.set("layout.loss", "fused", keys.line("liger_cross_entropy"))
