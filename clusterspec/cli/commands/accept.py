"""``clusterspec accept SPEC LOG…``."""

from __future__ import annotations

import argparse

from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.inputs import study_of
from clusterspec.cli.logs import benchmarks
from clusterspec.cli.terminal import ink, say, say_error, say_json
from clusterspec.exchange.acceptance import judge, plan
from clusterspec.report import diagnosis_text
from clusterspec.results.diagnosis import AcceptanceReport


def run(asked: argparse.Namespace) -> int:
    """Prints every test with its status; 1 where one fails or was not run."""
    one = study_of(asked, asked.spec)
    tests, stated, unclear = plan(one.design)
    for each in unclear:
        say_error(f"clusterspec: {each}; it is left out")
    if not tests:
        why = "the cluster cannot be settled" if one.design.cluster is None else "it has no test that can be run"
        raise UsageFault(f"{asked.spec}: {why}; `clusterspec check` says more")
    outcomes, unused = judge(tests, benchmarks(asked.logs))
    report = AcceptanceReport(one.settings.tool, one.input, outcomes, unused, stated)
    if asked.format == "json":
        say_json(report.to_json())
    else:
        say(diagnosis_text.acceptance(report, ink(asked)))
    return OK if report.passed and not unclear else FOUND
