"""dlcalc: `3dtrn` on its own nodes p4de.24xlarge, p5.48xlarge, b300 and gb300, with sharded optimizer states.

It requires sequence parallelism and ZeRO-1, and has no term for the precision of products: bf16 alone. One bucket of
parameters for each layer of a stage is assumed, as in its example. Of runs without recomputation it says itself that
`selective` is a good approximation under flash attention, and refuses `none`.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.peers.adapters.rows import Inexpressible, Row, answer, require

NODES = {
    "a100-sxm-80gb": "p4de.24xlarge",
    "a100-sxm-40gb": "p4d.24xlarge",
    "h100-sxm-80gb": "p5.48xlarge",
    "b300-sxm-288gb": "b300",
    "gb300": "gb300",
}


def predict(row: Row) -> dict[str, float]:
    """Seconds of a step, and bytes of states and activations."""
    require(row["accelerator"] in NODES, "accelerator")
    require(row["precision"] in {"bf16", "fp16"}, "precision")
    require(row["sharding"] == "zero1", "sharding other than ZeRO-1")
    require(row["tp"] == 1 or row["sequence_parallel"], "tensor without sequence parallelism")
    require(row["recompute"] != "none" or row["attention"] == "flash", "no recomputation with plain attention")
    require(not row["latent_attention"], "latent attention")
    require(not row["shared_experts"], "shared experts")
    text = _run(_configuration(row))
    time, memory = (re.search(pattern, text) for pattern in (r"Iteration Time\W+([\d.]+)", r"Required: ([\d.]+) GiB"))
    if not time or not memory:
        raise Inexpressible("no iteration time printed")
    return {"step_time": float(time[1]), "memory": float(memory[1]) * 2**30}


def _configuration(row: Row) -> dict[str, Any]:
    model: dict[str, Any] = {
        "hidden_sz": row["hidden"],
        "n_layers": row["layers"],
        "n_q_heads": row["heads"],
        "n_kv_heads": row["kv_heads"],
        "head_dim": row["head_dim"],
        "inter_sz": row["ffn_hidden"],
        "glu": row["gated_ffn"],
        "rotary_embeds": True,
        "dropout": False,
        "vocab_sz": row["vocab"],
        "tie_embeddings": False,
    }
    if row["experts"]:
        model["moe"] = {
            "n_experts": row["experts"],
            "expert_inter_sz": row["expert_ffn_hidden"],
            "experts_per_token": row["experts_per_token"],
            "capacity_factor": 1.0,
            "moe_frequency": 1.0,
            "expert_tp_degree": row["expert_tp"],
        }
    return {
        "model": model,
        "parallelism": {
            "tp": row["tp"],
            "cp": row["cp"],
            "pp": row["pp"],
            "dp": row["dp"],
            "ep": row["ep"],
            "vpp": row["virtual_stages"],
            "sp": True,
            "zero_level": 1,
            "n_param_buckets": max(1, row["layers"] // row["pp"]),
        },
        "performance": {
            "activation_checkpointing_type": "selective" if row["recompute"] == "none" else row["recompute"]
        },
        "data": {"gbs": row["global_batch"], "seqlen": row["sequence_length"], "microbatch_sz": row["micro_batch"]},
        "hardware": {"node_type": NODES[row["accelerator"]]},
    }


def _run(configuration: dict[str, Any]) -> str:
    import_module("yaml")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.yaml"
        file.write_text(str(import_module("yaml").safe_dump(configuration)), "utf-8")
        arguments, sys.argv = sys.argv, ["3dtrn", str(file)]
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                import_module("dlcalc.training_3d").main()
        finally:
            sys.argv = arguments
    return re.sub(r"\x1b\[[\d;]*m", "", printed.getvalue())


if __name__ == "__main__":
    answer(predict)
