"""Serving plans drawn at random, as specs without a load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.studies import Study, study_text
from tools.accuracy.cases import settings

Spec = dict[str, Any]
PARTS = ("a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb", "b200-sxm-180gb", "mi300x", "l40s", "gb200")
DENSE = ("llama-3.1-8b", "qwen3-14b", "qwen3-32b", "llama-3.3-70b", "gemma-3-27b", "mistral-small-3.2")
EXPERTS = ("qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3", "glm-4.5-air", "mixtral-8x7b", "qwen3-235b-a22b")
SOFTWARE = (
    ("vllm", "vllm 0.11.0"),
    ("vllm", "vllm 0.19.0"),
    ("sglang", "sglang 0.5.6"),
    ("sglang", "sglang 0.5.12"),
    ("trt-llm", "trt-llm 1.0"),
    ("trt-llm", "trt-llm 1.2"),
)
RACK = frozenset({"gb200"})
UNREACHED = 1e6
"""A request rate above the highest of every plan, in requests a second."""
INPUTS, OUTPUTS = (128, 16000), (64, 2000)
"""The ends between which the logarithms of lengths are uniform, in tokens."""


@dataclass(frozen=True)
class DrawnPlan:
    """A spec without a load, the attention replicas of the plan, and its highest rate in requests a second."""

    name: str
    spec: Spec
    replicas: int
    highest: float

    def loaded(self, **load: Any) -> Spec:
        """The spec with a load."""
        return changed(self.spec, "workload.serving", **load)


def changed(spec: Spec, section: str, **values: Any) -> Spec:
    """A copy of a spec with other values in one of its sections, as ``workload.serving``.

    >>> changed({"a": {"b": {"c": 1}}}, "a.b", d=2)
    {'a': {'b': {'c': 1, 'd': 2}}}
    """
    copied = deepcopy(spec)
    found = copied
    for name in section.split("."):
        found = found.setdefault(name, {})
    found |= values
    return copied


def study_of(spec: Spec) -> Study:
    """The study of a spec."""
    return study_text(json.dumps(spec), settings())


def times_of(spec: Spec) -> ServingTimes | None:
    """What the formulas say of a spec; None if it does not run."""
    found = study_of(spec)
    return found.plan.serving if found.plan is not None else None


def drawn_plans(number: int, seed: int) -> Iterator[DrawnPlan]:
    """Plans that hold at least one request, as many as asked for."""
    draw = Random(seed)
    while number:
        spec, replicas = _drawn_spec(draw)
        found = times_of(changed(spec, "workload.serving", load="open", request_rate=UNREACHED))
        if found is None or not _fits(changed(spec, "workload.serving", load="closed", concurrency=replicas)):
            continue
        number -= 1
        yield DrawnPlan(_name_of(spec), spec, replicas, found.state.rate)


def _fits(spec: Spec) -> bool:
    """Whether the weights and one request for each attention replica fit in memory."""
    plan = study_of(spec).plan
    return plan is not None and plan.fits is True


def _drawn_spec(draw: Random) -> tuple[Spec, int]:
    """A spec, and its attention replicas over all engines."""
    experts, part = draw.random() < 0.5, draw.choice(PARTS)
    framework, software = draw.choice(SOFTWARE)
    cluster: Spec = {"accelerator": part, "accelerators_per_node": 4 if part in RACK else 8, "nodes": 1}
    layout: Spec = {"framework": framework, "software": software}
    layout |= _drawn_degrees(draw, cluster["accelerators_per_node"], experts=experts)
    serving: Spec = {"input_tokens": _drawn_length(draw, *INPUTS), "output_tokens": _drawn_length(draw, *OUTPUTS)}
    serving |= draw.choice(({}, {}, {}, {"max_sequences": draw.choice((8, 32, 128))}, {"prefix_hit": 0.4}))
    kept = draw.choice(("fp8", "bf16")) if part not in {"a100-sxm-80gb"} else "bf16"
    work: Spec = {"kind": "serve", "model": draw.choice(EXPERTS if experts else DENSE), "precision": kept}
    work |= {"parameter_precision": kept, "serving": serving}
    spec = {"clusterspec": 1, "cluster": cluster, "workload": work, "layout": layout}
    engines = cluster["accelerators_per_node"] // (layout["tp"] * layout["attention_dp"] * layout["pp"])
    return spec, engines * int(layout["attention_dp"])


def _drawn_degrees(draw: Random, accelerators: int, *, experts: bool) -> Spec:
    """Degrees that together use up to all accelerators of a node."""
    powers = [each for each in (1, 2, 4, 8) if each <= accelerators]
    tp = draw.choice(powers)
    left = [each for each in powers if each * tp <= accelerators]
    replicas = draw.choice(left) if experts and draw.random() < 0.4 else 1
    stages = draw.choice([each for each in left if each * tp * replicas <= accelerators and each <= 4])
    pp = stages if draw.random() < 0.25 else 1
    ranks = tp * replicas
    return {"tp": tp, "attention_dp": replicas, "pp": pp, "ep": ranks if experts and draw.random() < 0.5 else 1}


def _drawn_length(draw: Random, low: int, high: int) -> int:
    """A length in tokens whose logarithm is uniform."""
    length: float = low * (high / low) ** draw.random()
    return round(length)


def _name_of(spec: Spec) -> str:
    """What tells one drawn plan from another."""
    work, layout = spec["workload"], spec["layout"]
    degrees = " ".join(f"{name}={layout[name]}" for name in ("tp", "attention_dp", "pp", "ep") if layout[name] > 1)
    lengths = f"{work['serving']['input_tokens']}+{work['serving']['output_tokens']}"
    others = {key: value for key, value in work["serving"].items() if not key.endswith("_tokens")}
    named = (work["model"], work["precision"], spec["cluster"]["accelerator"], layout["software"], degrees, lengths)
    return ", ".join(each for each in (*named, str(others or "")) if each)
