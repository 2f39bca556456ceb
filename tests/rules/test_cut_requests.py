"""Figures of texts that are not of this machine, such as cut requests and runs of others; and limits in other
forms of words.
"""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.rejections import is_cut_request
from clusterspec.rules.readers.statements.stated_keys import wrong_statements
from tests.rules.conftest import Check

RACKS = {"cluster.power.nodes_per_rack": [18.0]}


@pytest.mark.parametrize(
    "text",
    [
        "Two racks with 40 nodes were requested; the board struck the second.",
        "We first asked for racks with 40 nodes each. The ministry cut one of them.",
        "Zwei Schränke mit 40 Knoten hatten wir beantragt; der Rat hat einen gestrichen.",
    ],
)
def test_a_request_of_which_a_part_was_struck_states_no_key(text: str) -> None:
    assert not [*wrong_statements(text, RACKS)]


@pytest.mark.parametrize(
    "text",
    [
        "Two racks with 40 nodes were requested.",
        "Each rack holds 40 nodes. The board cut the travel budget.",
        "Zwei Schränke mit 40 Knoten hatten wir beantragt.",
    ],
)
def test_what_was_granted_or_never_struck_states_the_key(text: str) -> None:
    assert [each.value for each in wrong_statements(text, RACKS)] == [40.0]


@pytest.mark.parametrize(
    ("request_", "behind", "is_cut"),
    [
        ("Deux baies de 40 nœuds avaient été demandées", "la commission en a supprimé une", True),
        ("Se solicitaron dos armarios con 40 nodos", "la junta suprimió uno", True),
        ("Furono richiesti 40 nodi", "il consiglio ne tagliò la metà", True),
        ("申请了40个节点", "评审削减为20个", True),
        ("Deux baies de 40 nœuds sont demandées", "le conseil siège lundi", False),
        ("Hay dos armarios con 40 nodos", "la junta suprimió uno", False),
        ("申请了40个节点", "评审同意", False),
    ],
)
def test_requests_that_were_cut_are_told_from_others(request_: str, behind: str, is_cut: bool) -> None:
    assert is_cut_request(request_, behind) is is_cut


STEPS = (
    ("The run takes 50,000 steps of 4 million tokens each. ", "{} needed 900 billion tokens."),
    ("Der Lauf braucht 50.000 Schritte mit 4 Millionen Token je Schritt. ", "{} brauchte 900 Milliarden Token."),
    ("Le calcul prend 50 000 pas de 4 millions de tokens chacun. ", "{} a utilisé 900 milliards de tokens."),
)
OTHERS = ("A neighbouring department", "Ein benachbartes Labor", "L'institut voisin")
OWN = ("The run", "Der Lauf", "Le calcul")


@pytest.mark.parametrize("language", range(len(STEPS)))
def test_tokens_of_a_neighbor_are_not_those_of_the_steps_of_this_run(language: int, check: Check) -> None:
    ours, other = STEPS[language]
    spec = "clusterspec: 1\ndescription: {}\ncluster: {{platform: dgx-h100, nodes: 4}}\n"
    found = [
        any(each.rule == "total-off-parts" for each in check(spec.format(ours + other.format(who)), "total-off-parts"))
        for who in (OTHERS[language], OWN[language])
    ]
    assert found == [False, True]


def subjects_of(text: str) -> dict[str, float]:
    return {each.subject.name: round(each.value, 3) for each in demands_in(text)}


@pytest.mark.parametrize(
    "text",
    [
        "A failure of the training run must be reported within at most 20 minutes.",
        "After a crash of the training the provider calls back within 20 minutes at most.",
        "Eine Störung des Trainings ist in höchstens 20 Minuten zu melden.",
        "Une panne du calcul doit être signalée en 20 minutes au plus.",
        "Un fallo del entrenamiento se comunica en un máximo de 20 minutos.",
        "训练故障必须在20分钟内上报。",
    ],
)
def test_the_time_of_a_report_is_no_lost_work(text: str) -> None:
    assert "lost work" not in subjects_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "A failure may cost at most 20 minutes of work.",
        "A failure that is reported at night may throw the training back by at most 20 minutes.",
        "Eine Störung darf das Training um höchstens 20 Minuten zurückwerfen.",
        "Une panne coûte au plus 20 minutes de calcul.",
        "Un fallo puede costar como máximo 20 minutos de trabajo.",
        "故障最多损失20分钟的训练。",
    ],
)
def test_the_work_that_a_failure_costs_is_read(text: str) -> None:
    assert subjects_of(text).get("lost work") == 1200.0


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("検収が終わる前の支払は総額の五割以下とする。", "share paid before acceptance", 0.5),
        ("検収に合格する前の支払は総額の七割を超えてはならない。", "share paid before acceptance", 0.7),
        ("在验收完成之前支付的金额不得超过合同总额的四成。", "share paid before acceptance", 0.4),
        ("验收通过前最多支付合同价的百分之七十。", "share paid before acceptance", 0.7),
        ("Vor der Abnahme dürfen höchstens 60 Prozent gezahlt werden.", "share paid before acceptance", 0.6),
        ("For the rent of the nodes over the whole term 900,000 USD are available.", "rent over the term", 9e5),
        ("Für die Miete stehen insgesamt 900.000 EUR zur Verfügung.", "rent over the term", 9e5),
        ("Pour la location, 900 000 euros sont disponibles en tout.", "rent over the term", 9e5),
        ("Para el alquiler disponemos de 900.000 euros en total.", "rent over the term", 9e5),
        ("Der Vertrag sieht eine Jahresmenge von höchstens 3 GWh vor.", "energy of a year", 1.08e13),
        ("Der Jahresverbrauch darf höchstens 3 GWh betragen.", "energy of a year", 1.08e13),
        ("Het jaarverbruik is ten hoogste 3 GWh.", "energy of a year", 1.08e13),
    ],
)
def test_limits_in_other_forms_are_read(text: str, subject: str, value: float) -> None:
    assert subjects_of(text).get(subject) == value


@pytest.mark.parametrize(
    "text",
    [
        "The rented nodes are available for 60,000 EUR a month.",
        "Die gemieteten Knoten sind für 900.000 EUR verfügbar.",
        "Nach der Abnahme werden 60 Prozent gezahlt.",
        "検収が終わった後に総額の六割を支払う。",
        "验收完成之后支付合同总额的六成。",
        "Der Jahresbericht nennt 3 GWh.",
    ],
)
def test_prices_shares_and_energies_that_bind_nothing_are_not(text: str) -> None:
    assert not {"rent over the term", "rent of nodes", "share paid before acceptance", "energy of a year"} & {
        *subjects_of(text)
    }
