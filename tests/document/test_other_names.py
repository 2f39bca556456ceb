"""Laws of the advice on keys under the names that other programs and people use for them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import yaml

from clusterspec.document import other_names, parse, validate
from clusterspec.document.conforms import mappings_with_key
from clusterspec.document.schema import snake_case
from clusterspec.finding import Problem
from clusterspec.source import Source
from clusterspec.spec import schema
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

TABLES = (other_names._KEYS, other_names._LINES, other_names._TOLD)


def path_exists(text: str) -> bool:
    """Whether a dotted path, or a key alone, is one of the schema."""
    path = tuple(text.split("."))
    homes = mappings_with_key(schema(), path[-1])
    return any((*home, path[-1])[-len(path) :] == path for home in homes)


@each("key", [*other_names._KEYS, *other_names._LOCAL_KEYS])
def test_a_name_of_another_program_leads_to_a_key_of_the_schema(key: str) -> None:
    assert path_exists(key)
    assert key not in {**other_names._KEYS, **other_names._LOCAL_KEYS}[key].split()


@each("line", other_names._LINES)
def test_a_line_that_is_advised_is_valid_where_it_is_advised(line: str) -> None:
    path, _, value = line.partition(": ")
    spec: dict[str, Any] = {"clusterspec": 1, "name": "line"}
    *mappings, key = path.split(".")
    node = spec
    for one in mappings:
        node = node.setdefault(one, {})
    node[key] = yaml.safe_load(value)
    problems = study_text(yaml.safe_dump(spec), SETTINGS).findings
    assert [each.message for each in problems if each.rule in UNREAD] == []


UNREAD = {"unknown-key", "unknown-choice", "unknown-catalog-id", "wrong-type", "missing-unit", "missing-direction"}


@each("text", other_names._TOLD)
def test_keys_named_in_advice_are_keys_of_the_schema(text: str) -> None:
    named = [word.partition(":")[0] for word in re.findall(r"`([^`]+)`", text)]
    commands = [word for word in named if word.startswith("clusterspec ") or word == "estimate"]
    assert all(path_exists(word) for word in named if word not in commands)


def test_a_name_has_one_meaning_outside_the_mapping_of_a_key() -> None:
    told = Counter(name for table in TABLES[1:] for names in table.values() for name in names.split())
    assert [name for name, count in told.items() if count > 1] == []
    assert all(name == snake_case(name) for name in told)
    both = {name for table in TABLES[1:] for names in table.values() for name in names.split()} & set(
        " ".join(other_names._KEYS.values()).split()
    )
    assert both <= {"flash_attention"}  # in `workload` a misnamed key, elsewhere a line for `workload`


def problems_of(cluster: str, work: str, layout: str = "{tp: 2}") -> list[Problem]:
    """What the schema finds in a spec of these parts."""
    text = f"clusterspec: 1\ncluster: {cluster}\nworkload: {work}\nlayout: {layout}\n"
    document, _ = parse(Source("spec.yaml", text))
    assert document is not None
    return validate(document, schema())


CLUSTER = "{platform: dgx-h100, nodes: 4, scale_out: {topology: rail-optimized}}"
WORK = "{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}"
SERVE = "{kind: serve, model: llama-3.1-8b, serving: {input_tokens: 900, output_tokens: 100, concurrency: 8}}"


@each(
    ("of", "line", "advice"),
    [
        ("cluster", "price: 30M", "state the price of each part (`prices` in `procurement`), or what was offered"),
        ("cluster", "nvlink: {}", "did you mean `scale_up`?"),
        ("cluster", "cooling: liquid", "it belongs to `cluster.power`"),
        ("scale_out", "bandwidth: 400 Gb/s", "did you mean `nic_bandwidth`?"),
        ("scale_out", "type: infiniband-ndr", "did you mean `technology`?"),
        ("scale_out", "pfc: true", "it belongs to `cluster.scale_out.flow_control`"),
        ("workload", "slo: {ttft: 1 s}", "write `targets` in `workload.serving`"),
        ("workload", "learning_rate: 1e-4", "no figure depends on it: delete it, or keep it in `description`"),
        ("workload", "fp8_recipe: mxfp8", "did you mean `recipe`?"),
        ("workload", "grad_accum: 8", "state the sequences of a step over all replicas (`global_batch` in `workload`)"),
        ("workload", "effective_batch_size: 512", "did you mean `global_batch`?"),
        ("layout", "zero_bubble: true", "write `schedule: zero-bubble`"),
        ("layout", "zero_stage: 3", "write `sharding: fsdp`"),
        ("layout", "fsdp: true", "write `sharding: fsdp`"),
        ("layout", "zero3: true", "write `sharding: fsdp`"),
        ("layout", "parallel_strategy: 3d", "write the degrees (`tp`, `pp`, `cp`, `ep`, `dp`) as keys of `layout`"),
        ("layout", "colour: 3d", "the keys here are "),
        ("cluster", "gpus_per_server: 8", "did you mean `accelerators_per_node`?"),
        ("serving", "target_ttft: 1 s", "write `ttft` in `workload.serving.targets`"),
        ("layout", "use_distributed_optimizer: true", "write `sharding: zero1` in `layout`"),
        ("layout", "tp_comm_overlap: true", "write `overlap: {tp: true}` in `layout`"),
        ("serving", "p99_ttft: 2 s", "write `ttft: {p99: 2 s}` in `workload.serving.targets`"),
        ("serving", "batch: 8", "did you mean `concurrency`?"),
        ("serving", "kv_offload: host", "did you mean `cache_tiers`?"),
        ("serving", "decode_workers: 4", "state the engines of each kind (`prefill` and `decode` in `workload.serving"),
        ("serving", "startup_time: 4 min", "write `cold_start` in `workload.serving.scaling`"),
        ("layout", "moe_tp: 2", "did you mean `expert_tp`?"),
        ("layout", "first_stage_layers: 1", "did you mean `stage_layers`?"),
        ("cluster", "psus: 6", "write `supplies` in `cluster.power`"),
        ("serving", "engine: vllm", "write `framework` in `layout`"),
    ],
)
def test_an_unknown_key_is_advised_by_what_it_means_there(of: str, line: str, advice: str) -> None:
    cluster, work, layout = CLUSTER, SERVE if of == "serving" else WORK, "{tp: 2}"
    if of == "cluster":
        cluster = f"{{{line}, {cluster[1:]}"
    elif of == "scale_out":
        cluster = cluster.replace("{topology", f"{{{line}, topology")
    elif of == "serving":
        work = work.replace("serving: {", f"serving: {{{line}, ")
    elif of == "workload":
        work = f"{{{line}, {work[1:]}"
    else:
        layout = f"{{{line}, {layout[1:]}"
    assert [each.help[: len(advice)] for each in problems_of(cluster, work, layout)] == [advice]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("prompts: 128", "prompts_per_step"),  # no `input_tokens`, for which `prompt_tokens` is another name
        ("samples: 8", "samples_per_prompt"),
        ("prompt_tokens: 512", "input_tokens"),
        ("response_tokens: 4096", "output_tokens"),
        ("staleness: 2", "max_staleness"),
        ("environment: 2 s", "environment_time"),
        ("input: 512", "input_tokens"),
        ("prompts: 128, prompts_per_step: 64", None),  # is there
        ("log: 3", None),  # the longer key is a choice
    ],
)
def test_a_key_that_begins_another_is_written_in_full(line: str, meant: str | None) -> None:
    work = f"{{kind: rl, model: qwen3-8b, rl: {{{line}, algorithm: grpo}}}}"
    (found,) = [each for each in problems_of(CLUSTER, work) if each.rule == "unknown-key"]
    assert (found.fix.replacements[0].text if found.fix else None) == meant
    assert found.fix is None or not found.fix.safe


def test_a_key_that_another_mapping_has_is_no_misspelling_of_one_that_takes_another_value() -> None:
    """`nodes: 4` is two letters from `model`, which takes a name; `modle: x` is two from it as well."""
    told = {
        line: next(each.help for each in problems_of(CLUSTER, f"{{{line}, {WORK[1:]}") if each.rule == "unknown-key")
        for line in ("nodes: 4", "modle: llama-3.1-8b")
    }
    assert told == {"nodes: 4": "it belongs to `cluster` or `layout`", "modle: llama-3.1-8b": "did you mean `model`?"}


@pytest.mark.parametrize("written", ["version", "spec_version", "schemaVersion"])
def test_a_key_for_the_version_of_the_format_leads_to_its_own(written: str) -> None:
    document, _ = parse(Source("spec.yaml", f"{written}: 1\ncluster: {CLUSTER}\n"))
    assert document is not None
    assert next(each.help for each in validate(document, schema())) == "did you mean `clusterspec`?"


def test_a_key_is_not_renamed_where_its_value_has_another_type() -> None:
    """`packing: true` means `document_tokens`, which takes a number of tokens."""
    fixes = [problems_of(CLUSTER, f"{{{line}, {WORK[1:]}")[0].fix for line in ("packing: true", "packing: 900")]
    assert fixes[0] is None
    assert fixes[1] is not None
    assert not fixes[1].safe


@each("line", ["switch: 9", "optics: 9"])
def test_a_price_of_a_part_leads_to_its_key_among_the_prices(line: str) -> None:
    """Not to the counts of `cluster.scale_out`, where `switch` names the model."""
    text = f"clusterspec: 1\ncluster: {CLUSTER}\nprocurement: {{prices: {{{line}}}}}\n"
    document, _ = parse(Source("spec.yaml", text))
    assert document is not None
    wanted = {"switch: 9": "did you mean `leaf_switch`?", "optics: 9": "did you mean `transceiver`?"}
    assert [each.help for each in validate(document, schema())] == [wanted[line]]
