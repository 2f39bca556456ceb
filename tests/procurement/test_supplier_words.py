"""Words of suppliers mean the same in every language: one line in many languages is read as its English original."""

from __future__ import annotations

import pytest

from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import (
    kind_of_part,
    names_only_machines,
    names_period,
    plain_part,
    unit_of_hours,
)
from clusterspec.procurement.supplier_words import english_text
from clusterspec.spec.model import QuoteLine

LINES = [
    (
        "H200 GPU hours",
        ["H200 GPU-Stunden", "H200 GPU-timmar", "H200 GPU-uren", "H200 GPU-timer", "H200 GPU 시간", "H200 GPU時間"],
    ),
    ("rack months", ["rackmåneder", "Rackmonate", "rackmånader", "rackmaanden"]),
    ("system years", ["system-Jahre", "system-jaren", "system-lata", "system-años", "system-anni", "system-år"]),
    (
        "spare transceiver",
        ["Ersatz transceiver", "ricambio transceiver", "reservdel transceiver", "예비 광모듈", "予備 トランシーバー"],
    ),
    (
        "maintenance 24x7",
        [
            "Wartung 24x7",
            "onderhoud 24x7",
            "mantenimiento 24x7",
            "huolto 24x7",
            "保守 24時間365日",
            "유지보수 24시간 365일",
        ],
    ),
    (
        "cable 20 m",
        [
            "Kabel 20 m",
            "Câble 20 m",
            "Cavo 20 m",
            "Cabo 20 m",
            "kaapeli 20 m",
            "ケーブル 20 m",
            "线缆 20 m",
            "케이블 20 m",
        ],
    ),
    ("server", ["serveur", "servidor", "serwer", "palvelin", "サーバー", "服务器", "서버"]),
    ("switch", ["commutateur", "przełącznik", "przelacznik", "kytkin", "スイッチ", "交换机", "스위치"]),
]


@pytest.mark.parametrize(("english", "others"), LINES, ids=[english for english, _ in LINES])
def test_a_line_is_read_alike_in_every_language(english: str, others: list[str]) -> None:
    wanted = (kind_of_part(english.lower()), names_period(english.lower()), unit_of_hours(english.lower()))
    for other in others:
        text = plain_part(QuoteLine(part=other))
        assert (kind_of_part(text), names_period(text), unit_of_hours(text)) == wanted, f"{other} is read as {text}"


@pytest.mark.parametrize(
    "text", ["dell powerswitch z9864f-on", "prosupport nbd, 3 years", "nvidia rtx pro 6000", "file server", "60 months"]
)
def test_english_words_stay(text: str) -> None:
    assert english_text(text) == text


@pytest.mark.parametrize(
    ("part", "spare"),
    [
        ("예비 H100 SXM 80GB GPU", True),
        ("ricambio transceiver 400G", True),
        ("H100 SXM 80GB GPU", False),
        ("serwer 8 x H100 (15 + 1 zapasowy)", False),
    ],
)
def test_spares_of_every_language_are_in_addition_to_the_bill(part: str, spare: bool) -> None:
    line = QuoteLine(part=part, quantity=4)
    assert Offered(0, kind_of_part(plain_part(line)), line).is_spare == spare


def test_a_hostile_line_is_read_in_bounded_steps() -> None:
    text = "é" * 250 + "x 1" * 80
    assert len(english_text(text)) <= 4 * len(text)


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("server", True),
        ("h200 gpu", True),
        ("server with h200 gpu", True),
        ("server with cable", False),
        ("license", False),
        ("", False),
    ],
)
def test_a_text_names_machines_alone_where_all_its_nouns_are_nodes_or_accelerators(text: str, only: bool) -> None:
    assert names_only_machines(text) is only
