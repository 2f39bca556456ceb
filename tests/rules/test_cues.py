"""A pattern that is looked for only next to a cue finds what it finds alone: every text that it matches holds a cue."""

from __future__ import annotations

import re

import pytest

from clusterspec.report import _OF_RISK, _RISKY
from clusterspec.rules.document import launch_settings_off_keys
from clusterspec.rules.measured import measurement_without_metric
from clusterspec.rules.operations import failure_rates_disagree, timeout_below_pause
from clusterspec.rules.physical import coolant_below_its_source
from clusterspec.rules.placement import text_keeps_group_inside
from clusterspec.rules.readers.plans.job_limits import CUES, job_limits_in
from clusterspec.rules.readers.services import unit_prices
from clusterspec.rules.readers.written_numbers import has_word, unambiguous_setting
from tests.effort import each

SETTINGS = {
    "counted": (failure_rates_disagree._COUNTED, failure_rates_disagree._CUES),
    "timeout": (timeout_below_pause._TIMEOUT, timeout_below_pause._CUES),
    "timeout in code": (timeout_below_pause._SETTING, timeout_below_pause._CUES),
}
MATCHED = [
    ("counted", "23 failures in 90,000 Node-hours"),
    ("counted", "7 crashes over 120000 node hours"),
    *(("timeout", f"a {word} after 30 min") for word in ("timeout", "Time-outs", "timed out", "time out")),
    ("timeout in code", "--distributed-timeout-minutes 30"),
    ("timeout in code", "--ddp_timeout=1800"),
]


LIMITED = [
    *(f"the {word} is 4 hours" for word in ("wall time", "walltime", "wall-clock", "Wall clock limit", "Time limit")),
    *(f"jobs are {word} 12 h" for word in ("killed after", "preempted after", "stopped after")),
    *(f"A job {word} 12 hours" for word in ("may run at most", "can run up to", "ends after", "is cut off after")),
    *("Die Warteschlange erlaubt höchstens 24 Stunden", "La limite de la file est de 72 h", "sbatch ends after 3 h"),
]


@each("text", LIMITED)
def test_a_text_with_a_limit_of_jobs_has_a_cue(text: str) -> None:
    assert len(list(job_limits_in(text))) == 1
    assert any(cue in text.casefold() for cue in CUES)


@each("name, text", MATCHED)
def test_a_setting_is_found_with_its_cues_as_without(name: str, text: str) -> None:
    setting, cues = SETTINGS[name]
    found = unambiguous_setting(setting, text, cues)
    assert found is not None and found[0] == setting.search(text)[0]  # type: ignore[index]
    assert all(cue == cue.casefold() for cue in cues)


def test_a_text_without_a_cue_holds_no_setting() -> None:
    assert unambiguous_setting(re.compile("[a-z]+"), "words", ("other",)) is None
    assert unambiguous_setting(re.compile("[a-z]+"), "WORDS words", ("words",)) is not None


@each(
    "text",
    [
        *(
            "--tp 8",
            "on-policy",
            "R570",
            "driver 570",
            "NCCL_IB_TC=1",
            "FI_PROVIDER=tcp",
            "pytorch:24.05",
            "nemo:24.05",
        ),
        *(f"x/y-{kind}" for kind in ("FP8", "FP4", "AWQ", "GPTQ", "INT4", "NVFP4", "W4A16", "W8A8")),
    ],
)
def test_what_the_rule_on_launch_settings_reads_holds_a_sign(text: str) -> None:
    assert launch_settings_off_keys._CUES.search(text) is not None
    assert any(sign in text for sign in launch_settings_off_keys._SIGNS)


@pytest.mark.parametrize("text", ["45 °c", "45°c", "45 ºc", "45 deg c", "45 degrees c", "45c", "45 c", "17,5 c"])
def test_a_temperature_holds_a_cue(text: str) -> None:
    assert coolant_below_its_source._DEGREES.search(text) is not None
    assert any(cue in text for cue in coolant_below_its_source._CUES)


@pytest.mark.parametrize("text", ["4 GB/s", "4 gbps", "40GB/sec"])
def test_a_rate_holds_its_unit(text: str) -> None:
    assert measurement_without_metric._RATE.search(text) is not None and "gb" in text.casefold()


@each(
    "sentence",
    [
        *(f"The tp group {word} leaves the node" for word in ("never", "no longer", "jamais", "nunca")),
        *(f"Die TP-Gruppe verlässt {word} leaves the node" for word in ("nie", "niemals", "nicht")),
        *(f"The tp group stays fast {word} crossing the network" for word in ("without", "ohne", "sans")),
        *(
            "Le groupe tp n'emprunte pas le réseau",
            "Le groupe tp ne touche jamais le réseau",
            "TP 8 does not use the NIC",
        ),
        *("TP 8: das Netz nie geht, Knoten nicht verlässt", "Die TP-Gruppe: Netzwerk gar nicht berührt"),
        *(f"{word} tp traffic leaves the node" for word in ("no", "keine", "keiner", "aucun", "aucune", "ningún")),
        *("None of the tp traffic leaves the node", "Nothing of the tp traffic crosses the network"),
    ],
)
def test_a_claim_that_nothing_leaves_a_node_has_a_negation(sentence: str) -> None:
    own = text_keeps_group_inside
    assert own._NEVER.search(sentence) is not None
    assert has_word(sentence, own._NEGATIONS, own._NEGATION_STARTS)


@pytest.mark.parametrize("text", ["44 USD a million", "0,44€", "12 cents a page", "0.2 ct a request", "20ct", "CHF 3"])
def test_a_price_holds_a_word_for_its_currency(text: str) -> None:
    assert unit_prices._AMOUNT.search(text) is not None and unit_prices._names_currency(text)


@pytest.mark.parametrize("text", ["x ::error", "x ##[y", "x a:1: b", "x error[y]", "x warning[y]", "x note[y]"])
def test_a_word_at_risk_holds_a_sign(text: str) -> None:
    assert _RISKY.search(text) is not None and any(sign in text for sign in _OF_RISK)
