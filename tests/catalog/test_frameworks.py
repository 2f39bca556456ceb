"""Frameworks as entries: what a release has follows from the entry, and code names none of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import clusterspec
from clusterspec.catalog import Catalog
from clusterspec.catalog.company import checked_files
from clusterspec.catalog.frameworks import Feature, capabilities, framework_of
from clusterspec.cost.estimate import estimate
from clusterspec.document.conforms import node_at
from clusterspec.spec import schema
from tests.catalog.shipped import CATALOG, held
from tests.cluster.resolving import resolve_text

SOURCE = Path(clusterspec.__file__).parent
WORDS = {"fsdp"}
"""The only framework that is named as a sharding, which code does compare."""
ENTRY = """\
kind: framework
id: {id}
name: {id}
status: {{is: shipping, as_of: 2026-01-01}}
facts:
{facts}
"""


def fork(folder: Path, id_: str, facts: str) -> None:
    (folder / "frameworks").mkdir(exist_ok=True)
    (folder / "frameworks" / f"{id_}.yaml").write_text(ENTRY.format(id=id_, facts=facts))


def named_in(path: Path, names: set[str]) -> set[str]:
    """The names that are strings of a module by themselves: neither docstrings nor parts of longer texts."""
    source = path.read_text("utf-8")
    written = {name for name in names if f'"{name}"' in source}
    if not written:
        return written
    nodes = ast.walk(ast.parse(source))
    return written & {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_only_importers_exporters_and_the_template_name_a_framework() -> None:
    names = set(CATALOG.ids("framework")) - WORDS
    template = {"custom", "megatron-core", "maxtext", "neuronx-distributed", "vllm", "sglang"}
    home = {SOURCE / "catalog" / "frameworks.py": {"custom", "unnamed"}, SOURCE / "cli" / "starting.py": template}
    found = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        if "exchange" not in path.parts
        for name in named_in(path, names - home.get(path, set()))
    }
    assert found == set()


def test_the_schema_of_a_spec_names_no_framework() -> None:
    assert "enum" not in node_at(schema(), ("layout", "framework"))


@pytest.mark.parametrize(
    ("feature", "release", "year", "holds"),
    [
        (Feature(True), (), 2020, True),
        (Feature(True), (0, 1), 2020, True),
        (Feature(False), (0, 1), 2020, False),
        (Feature(True, since="0.15", since_year=2025), (0, 14, 9), 2026, False),  # a release precedes a year
        (Feature(True, since="0.15", since_year=2025), (0, 15), 2024, True),
        (Feature(True, since="0.15", since_year=2025), (), 2024, False),
        (Feature(True, since="0.15", since_year=2025), (), 2025, True),
        (Feature(True, since="0.9", until="0.10", since_year=2024, until_year=2025), (0, 9, 3), 2024, True),
        (Feature(True, since="0.9", until="0.10", since_year=2024, until_year=2025), (0, 10), 2024, False),
        (Feature(True, since="0.9", until="0.10", since_year=2024, until_year=2025), (), 2025, False),
        (Feature(False, since="0.10", since_year=2025), (0, 9), 2024, True),  # dropped in 0.10
        (Feature(False, since="0.10", since_year=2025), (0, 10), 2024, False),
    ],
)
def test_a_feature_holds_from_one_release_to_another(
    feature: Feature, release: tuple[int, ...], year: int, holds: bool
) -> None:
    assert feature.holds(release, year) is holds


def test_a_release_decides_where_a_year_would_not() -> None:
    megatron = framework_of("megatron-core", CATALOG)
    for release, has in (("0.14", False), ("0.15.1", True)):
        assert capabilities(megatron, release, 2025).has("pipeline.fsdp") is has
    assert capabilities(megatron, None, 2025).has("pipeline.fsdp")


def test_a_framework_has_the_facts_of_its_base_by_year_where_it_numbers_releases_itself() -> None:
    assert framework_of("nemo", CATALOG).stacks == "megatron-core"
    assert held("nemo", 2025).has("pipeline.fsdp") and held("nemo", 2024).refuses("pipeline.fsdp")
    assert held("deepspeed").has("requires.experts_within_dp") and not held("deepspeed").has("pads.vocabulary")
    assert held("megatron-deepspeed").has("pads.vocabulary")


@pytest.mark.parametrize(
    ("framework", "release", "year", "has"),
    [  # Megatron Core has it from 0.15 on
        ("megatron-bridge", "0.1", 2025, False),  # on 0.14
        ("megatron-bridge", "0.2.1", 2025, True),
        ("nemo", "25.09", 2025, False),  # on 0.14
        ("nemo", "25.09.01", 2025, False),
        ("nemo", "25.11", 2025, True),
        ("nemo", "2.0.0", 2025, True),  # not a container: only its year is known
        ("nemo", "2.0.0", 2024, False),
    ],
)
def test_a_framework_has_what_the_release_of_its_base_has(framework: str, release: str, year: int, has: bool) -> None:
    assert capabilities(framework_of(framework, CATALOG), release, year).has("pipeline.fsdp") is has


def test_a_refusal_names_the_release_in_the_numbers_of_the_framework() -> None:
    lines = framework_of("megatron-bridge", CATALOG).statements
    assert lines["hybrid-dispatcher"].feature.since == "0.2"  # the first on Megatron Core 0.16
    assert lines["optimizer-lion"].feature.since == "0.4"  # on 0.17


SPEC = """\
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {software: acme-megatron 0.12, pp: 4, sharding: fsdp}
"""


def test_a_company_describes_its_fork_by_an_entry(tmp_path: Path) -> None:
    own = "  features:\n    pipeline:\n      fsdp: {is: true, assumed: our patch}\n"
    fork(tmp_path, "acme-megatron", "  base: {is: megatron-core, assumed: our fork}\n" + own)
    assert [finding for one in checked_files([tmp_path]) for finding in one.findings] == []
    catalog = Catalog.open([tmp_path])
    design, problems = resolve_text(SPEC, catalog)
    assert problems == [] and design.layout is not None and design.layout.stack is not None
    assert (design.layout.framework, design.layout.stack.id) == ("acme-megatron", "megatron-core-2025")
    assert design.layout.capabilities.has("pipeline.fsdp")
    assert design.layout.capabilities.refuses("expert_parallel.hsdp")  # of the base, before its 0.15
    assert capabilities(framework_of("megatron-core", catalog), "0.12", 2025).refuses("pipeline.fsdp")


def test_a_fork_of_a_serving_engine_is_timed_as_its_base(tmp_path: Path) -> None:
    fork(tmp_path, "acme-trt", "  base: {is: trt-llm, assumed: our fork}\n")
    text = "cluster: {platform: dgx-h100, nodes: 1}\nworkload: {kind: serve, model: llama-3.1-8b, kv_precision: fp8, "
    text += "serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32}}\nlayout: {software: FORK 1.1}\n"
    catalog = Catalog.open([tmp_path])
    base, own = (resolve_text(text.replace("FORK", name), catalog)[0] for name in ("trt-llm", "acme-trt"))
    seconds = [plan.serving.tpot if (plan := estimate(each)).serving else None for each in (base, own)]
    assert seconds[0] is not None and seconds[0] == seconds[1]


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ("  base: {is: no-such-framework, assumed: a test}", "unknown-catalog-id"),
        ("  features: {paterns: {fsdp: {is: true, assumed: a test}}}", "unknown-key"),
        ("  features: {pipeline: {fsdp: {is: sure, assumed: a test}}}", "wrong-type"),
        ('  features: {pipeline: {fsdp: {is: true, since: "9", assumed: a test}}}', "unknown-choice"),
        ("  features: {pipeline: {fsdp: true}}", "catalog-figure-unsourced"),
    ],
)
def test_an_invalid_fork_is_reported(facts: str, rule: str, tmp_path: Path) -> None:
    fork(tmp_path, "acme", facts)
    assert [finding.rule for one in checked_files([tmp_path]) for finding in one.findings] == [rule]


def test_frameworks_that_are_based_on_each_other_end(tmp_path: Path) -> None:
    fork(tmp_path, "ping", "  base: {is: pong, assumed: a test}")
    fork(tmp_path, "pong", "  base: {is: ping, assumed: a test}")
    assert framework_of("ping", Catalog.open([tmp_path])).id == "ping"


@pytest.mark.parametrize(
    ("written", "meant"), [("megatron", "megatron-core"), ("NxD", "neuronx-distributed"), ("torchtitn", "torchtitan")]
)
def test_another_name_of_a_framework_is_corrected(written: str, meant: str) -> None:
    _, problems = resolve_text(SPEC.replace("software: acme-megatron 0.12", f"framework: {written}"))
    assert [(one.rule, one.path) for one in problems] == [("unknown-choice", ("layout", "framework"))]
    assert problems[0].fix is not None and problems[0].fix.replacements[0].text == meant


@pytest.mark.parametrize(
    ("written", "beneath", "fix"),
    [
        ("verl", "`fsdp` or `megatron-core`", None),
        ("OpenRLHF", "`deepspeed`", "deepspeed"),
        ("slime", "`megatron-core`", "megatron-core"),
    ],
)
def test_a_program_that_runs_on_frameworks_is_named_by_them(written: str, beneath: str, fix: str | None) -> None:
    _, [problem] = resolve_text(SPEC.replace("software: acme-megatron 0.12", f"framework: {written}"))
    assert problem.help == f"name what `{written}` runs underneath: {beneath}"
    assert (problem.fix.replacements[0].text if problem.fix else None) == fix
