"""Published power of nodes as specs, and what the program predicts for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec import studies
from clusterspec.cost.power import MachinePower, accelerator_draws, drawn_power
from tools.accuracy.cases import Case, settings, table

LORA = "{{model: llama-2-70b, sequence_length: 4096, global_batch: {}, precision: fp8, trainable: {{method: lora}}}}"
WORK = {
    "gpt3": (
        "{model: gpt3-175b, sequence_length: 2048, global_batch: 2048, precision: fp8}",
        "{tp: 4, pp: 8, virtual_stages: 6, micro_batch: 2, framework: nemo}",
    ),
    "lora-64": (LORA.format(64), "{tp: 4, cp: 2, micro_batch: 1, framework: nemo}"),
    "lora-8": (LORA.format(8), "{tp: 4, cp: 2, micro_batch: 1, framework: nemo}"),
    "lora-1": (LORA.format(8), "{tp: 4, micro_batch: 1, framework: nemo}"),
    "lora-1-b200": (LORA.format(8), "{micro_batch: 1, framework: nemo}"),
    "serve-llama2": (
        "{kind: serve, model: llama-2-70b, precision: fp8, parameter_precision: fp8, kv_precision: fp8, "
        "serving: {input_tokens: 294, output_tokens: 291, load: offline, requests: 24576}}",
        "{framework: trt-llm, dp: 8}",
    ),
    "serve-mixtral": (
        "{kind: serve, model: mixtral-8x7b, precision: fp8, parameter_precision: fp8, kv_precision: fp8, "
        "serving: {input_tokens: 400, output_tokens: 146, load: offline, requests: 15000}}",
        "{framework: trt-llm, dp: 8}",
    ),
    "serve-llama2-fp4": (
        "{kind: serve, model: llama-2-70b, precision: fp4, parameter_precision: nvfp4, "
        "kv_precision: fp8, serving: {input_tokens: 294, output_tokens: 273, load: offline, requests: 24576}}",
        "{framework: trt-llm, dp: 8}",
    ),
    "serve-405b": (
        "{kind: serve, model: llama-3.1-405b, precision: fp4, parameter_precision: nvfp4, "
        "kv_precision: fp8, serving: {input_tokens: 9428, output_tokens: 654, load: offline, requests: 8313}}",
        "{framework: trt-llm, tp: 8}",
    ),
    "serve-8b": (
        "{kind: serve, model: llama-3.1-8b, precision: fp4, parameter_precision: nvfp4, "
        "kv_precision: fp8, serving: {input_tokens: 778, output_tokens: 128, load: offline, requests: 13368}}",
        "{framework: trt-llm, dp: 8}",
    ),
    "serve-gptj": (
        "{kind: serve, model: {layers: 28, hidden: 4096, heads: 16, ffn_hidden: 16384, vocab: 50400, "
        "gated_ffn: false}, precision: fp8, parameter_precision: fp8, kv_precision: fp8, "
        "serving: {input_tokens: 870, output_tokens: 70, load: offline, requests: 165000}}",
        "{framework: trt-llm, dp: 8}",
    ),
    "dense": (
        "{model: llama-2-13b, sequence_length: 4096, global_batch: 64, precision: bf16}",
        "{tp: 8, micro_batch: 1, framework: nemo}",
    ),
}


def spec(platform: str, nodes: int, power: str, work: str) -> str:
    """A plan of published work on a number of nodes, as text."""
    planned, layout = WORK[work]
    fabric = "{technology: infiniband-ndr, topology: fat-tree, nics_per_node: 8, nic_bandwidth: 400 Gb/s}"
    return (
        f"clusterspec: 1\ncluster:\n  platform: {platform}\n  nodes: {nodes}\n  scale_out: {fabric}\n"
        f"  power: {power}\nworkload: {planned}\nlayout: {layout}\n"
    )


def spec_of(row: dict[str, str]) -> str:
    """A published reading as a plan; ``rate`` are the requests a second of the Server scenario."""
    cap = f", accelerator_cap: {row['cap']}" if row["cap"] else ""
    text = spec(row["platform"], int(row["nodes"]), f"{{cooling: {row['cooling']}{cap}}}", row["work"])
    return re.sub("load: offline, requests: [0-9]+", f"request_rate: {row['rate']}", text) if row["rate"] else text


def drawn_of(row: dict[str, str]) -> MachinePower | None:
    """The predicted power of a reading."""
    return drawn_power(studies.study_text(spec_of(row), settings()).plan, None)


def serving_spec(row: dict[str, str]) -> str:
    """The plan of a serving engine whose accelerators were measured; inputs of the chat and the exam are assumed."""
    stored = "" if row["weights"] == "bf16" else f"parameter_precision: {row['weights']}, "
    work = "precision: fp8, " if row["weights"] == "fp8" else ""
    requests = ", ".join(f"{key}: {row[key]}" for key in ("input_tokens", "output_tokens", "concurrency"))
    machine = f"{{accelerator: {row['accelerator']}, nodes: 1, accelerators_per_node: {row['count']}}}"
    return (
        f"clusterspec: 1\ncluster: {machine}\n"
        f"workload: {{kind: serve, model: {row['model']}, {work}{stored}serving: {{{requests}}}}}\n"
        f"layout: {{framework: {row['framework']}, tp: {row['tp']}, ep: {row['ep']}}}\n"
    )


def accelerator_draw_of(row: dict[str, str]) -> tuple[float, float, float] | None:
    """The predicted watts of one accelerator of a serving engine: low, middle and high."""
    plan = studies.study_text(serving_spec(row), settings()).plan
    draws = accelerator_draws(plan)
    return None if draws is None else (draws[0].value, draws[1].value, draws[2].value)


def cases() -> Iterator[Case]:
    """Watts of a node at work, and of an idle one."""
    for row in table("power.csv"):
        found, nodes = drawn_of(row), int(row["nodes"])
        busy = found.busy.value / nodes if found and found.busy else None
        yield Case(
            f"{row['case']} {row['platform']} busy", "at work", float(row["watts_of_node"]), busy, source=row["source"]
        )
        if row["idle_of_node"]:
            idle = found.idle.value / nodes if found else None
            yield Case(
                f"{row['case']} {row['platform']} idle", "idle", float(row["idle_of_node"]), idle, source=row["source"]
            )
