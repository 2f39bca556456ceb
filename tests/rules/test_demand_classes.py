"""Classes of sentences that several languages share: each with a text that the design breaks, and one that it keeps."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.demands.reading import demands_in
from tests.rules.conftest import Check
from tests.rules.test_demand_quantities import findings_of_demands

TRAIN = """clusterspec: 1
description: "{text}"
cluster:
  platform: dgx-h100
  nodes: 24
  power: {{nodes_per_rack: 2, rack_limit: 25 kW, budget: 300 kW}}
  networks:
    storage: {{nics_per_node: 2, nic_bandwidth: 200 Gb/s, bandwidth: 40 GB/s, read: 60 GB/s, capacity: 300 TB}}
workload: {{kind: train, model: llama-3.1-8b, sequence_length: 8192, global_batch: 384, tokens: 1T}}
layout: {{framework: torchtitan, dp: 192, sharding: fsdp, micro_batch: 1}}
operations:
  checkpoint: {{interval: 2 h, pause: 10 s, write_time: 60 s, mode: asynchronous, keep: 20}}
  targets: {{run_time: 40 days}}
procurement:
  currency: EUR
  as_of: "2026-11-02"
  term: 12 months
  commitment: 12 months
  prices: {{node_hour: 55.04}}
  payment: {{order: 0.3, delivery: 0.6, acceptance: 0.1}}
"""
SERVE = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h200, nodes: 2}}
workload:
  kind: serve
  model: {{base: llama-3.1-70b, max_sequence_length: 131072}}
  serving:
    input_tokens: {{mean: 24000, p99: 100000, max: 126976}}
    output_tokens: {{mean: 600, p99: 3000, max: 4096}}
    request_rate: 0.4
    targets: {{ttft: {{p95: 2 s}}, tpot: {{p95: 60 ms}}}}
layout: {{framework: vllm, tp: 4}}
"""
TEXT_RULES = {"bound-off-keys", "description-off-settings", "description-off-keys"}
KEEP, RACKS = "operations.checkpoint.keep", "cluster.power.nodes_per_rack"
ACCEPTANCE, PROMPT, TERM = (
    "procurement.payment.acceptance",
    "workload.serving.input_tokens.max",
    "procurement.term",
)
BROKEN = [
    # 20 checkpoints of 2 h reach back 40 h
    (
        TRAIN,
        KEEP,
        "{0}",
        [
            ("Le régulateur prescrit que toutes les sauvegardes des {} dernières heures restent lisibles.", "72", "36"),
            ("L'accord avec l'assureur impose de garder les points de contrôle des dernières {} heures.", "60", "40"),
            ("Il regolatore impone di conservare i salvataggi delle ultime {} ore.", "72", "36"),
            ("O contrato determina que os pontos de controle das últimas {} horas sejam guardados.", "72", "36"),
            ("Umowa nakazuje przechowywać punkty kontrolne z ostatnich {} godzin.", "72", "36"),
            (
                "De toezichthouder schrijft voor dat de controlepunten van de laatste {} uur bewaard blijven.",
                "72",
                "36",
            ),
            ("El convenio impone conservar los puntos de control de las últimas {} horas.", "72", "36"),
            ("監督官庁は直近{}時間のチェックポイントをすべて保存することを求めている。", "72", "36"),
            ("Het ministerie eist dat alle checkpoints van de afgelopen {} uur leesbaar blijven.", "72", "36"),
            ("合同要求保留最近{}小时的全部检查点。", "72", "36"),
            ("계약은 최근 {}시간의 모든 체크포인트를 보관하도록 요구한다.", "72", "36"),
            ("The auditors demand that the training can go back to any state of the last {} days.", "7", "1"),
            (
                "Die Revision verlangt, dass jeder Stand der letzten {} Stunden wieder da ist, auf 3 Stunden genau.",
                "72",
                "36",
            ),
            ("L'audit exige de pouvoir revenir à tout état des {} dernières heures.", "72", "36"),
            ("監査部門の要求：直近{}日間のどの時点の状態にも、最大3時間の誤差で戻せること。", "7", "1"),
            ("La auditoría exige poder volver a cualquier estado de las últimas {} horas.", "72", "36"),
            ("감사팀은 최근 {}시간 중 어느 시점의 상태로도 되돌릴 수 있을 것을 요구한다.", "72", "36"),
        ],
    ),
    # sequences of 8,192 tokens cut what is longer
    (
        TRAIN,
        "workload.sequence_length",
        "{0}",
        [
            (
                "The longest file has {} tokens. The court demands that each file enters the training whole.",
                "29,800",
                "8,100",
            ),
            ("Eine Akte hat im Mittel 3.000 Token, die längste {}. Keine Akte darf gekürzt werden.", "29.800", "8.100"),
            (
                "Le plus long dossier a {} jetons. Chaque dossier doit entrer entier dans l'entraînement.",
                "29 800",
                "8 100",
            ),
            ("De langste akte heeft {} tokens. Geen enkele akte mag worden ingekort.", "29.800", "8.100"),
            ("最長の文書は{}トークン。文書は切らずに学習しなければならない。", "29,800", "8,100"),
            ("最长的卷宗有{}个token。每份卷宗必须完整输入训练,不得截断。", "29,800", "8,100"),
        ],
    ),
    # 24 nodes at 2 of a rack fill 12
    (
        TRAIN,
        RACKS,
        "{0}",
        [
            ("The cage gives us {} rack positions for nodes and two for the network.", "ten", "fourteen"),
            ("Der Vermieter überlässt uns {} Stellplätze für Knotenschränke.", "zehn", "vierzehn"),
            ("Le bailleur nous accorde {} emplacements de baie pour les nœuds.", "dix", "quatorze"),
            ("El operador nos cede {} posiciones de rack para los nodos.", "diez", "catorce"),
            ("Il locatore ci concede {} posti rack per i nodi.", "dieci", "quattordici"),
            ("Our part of the hall has {} rack spaces.", "9", "13"),
            ("Uns stehen {} Schrankstellplätze für Server zur Verfügung.", "neun", "zwölf"),
            ("机房只为服务器提供{}个机柜位，不能再增加。", "十", "十二"),
            ("De verhuurder geeft ons {} rackplaatsen voor de nodes.", "tien", "veertien"),
        ],
    ),
    # a tenth is paid after acceptance
    (
        TRAIN,
        ACCEPTANCE,
        "{0}",
        [
            ("集团采购办法规定，合同价的{}须在验收合格之后支付。", "百分之二十", "百分之十"),
            ("按照合同，{}的货款必须在验收通过后付清。", "20%", "10%"),
            ("契約では価格の{}を検収合格後に支払うこととされている。", "二割", "一割"),
            ("규정에 따라 대금의 {}는 검수 합격 후에 지급해야 한다.", "20%", "10%"),
            ("The rules demand that {} of the price is paid only after the acceptance.", "20 %", "10 %"),
            ("Le règlement veut que {} du prix soient payés après la réception.", "20 %", "10 %"),
            ("Die Satzung verlangt, dass {} des Preises erst nach der Abnahme gezahlt werden.", "20 %", "10 %"),
            ("Il capitolato impone che il {} del prezzo sia pagato dopo il collaudo.", "20 %", "10 %"),
        ],
    ),
    # 131,072 tokens of the longest prompt and answer together
    (
        SERVE,
        PROMPT,
        "{0}",
        [
            (
                "契約により、{}トークンの文書を一度に読み、4,096トークンまでの回答を返さなければならない。",
                "128,000",
                "126,000",
            ),
            (
                "The contract demands that files of {} tokens are read whole, with answers of up to 4,096 tokens.",
                "128,000",
                "126,000",
            ),
            (
                "Laut Vertrag müssen Akten mit {} Token ganz gelesen und Antworten bis 4.096 Token gegeben werden.",
                "128.000",
                "126.000",
            ),
            (
                "Le contrat impose de lire entiers des actes de {} jetons, et des réponses d'au plus 4 096 jetons.",
                "128 000",
                "126 000",
            ),
            (
                "El contrato exige leer enteros los expedientes de {} tokens y dar respuestas de hasta 4.096 tokens.",
                "128.000",
                "126.000",
            ),
            ("合同要求一次读入{}个token的文档，并给出最多4,096个token的回答。", "128,000", "126,000"),
        ],
    ),
    # twelve months from the first day of 2027
    (
        TRAIN,
        TERM,
        "{0}",
        [
            (
                "The nodes are reserved from 1 January 2027. The grant reimburses only service delivered until {}.",
                "30 September 2027",
                "31 December 2027",
            ),
            (
                "Die Knoten sind ab 1. Januar 2027 reserviert. Der Fördergeber bezahlt nur Leistungen bis {}.",
                "30. September 2027",
                "31. Dezember 2027",
            ),
            (
                "Les nœuds sont réservés à partir du 1 janvier 2027. L'agence ne paie que jusqu'au {}.",
                "30 septembre 2027",
                "31 décembre 2027",
            ),
            (
                "Les nœuds sont loués dès le 1 janvier 2027, sans résiliation. L'agence ne rembourse que jusqu'au {}.",
                "30 novembre 2027",
                "31 décembre 2027",
            ),
            (
                "La reserva empieza el 1 de enero de 2027. La subvención solo paga los servicios hasta el {}.",
                "30 de septiembre de 2027",
                "31 de diciembre de 2027",
            ),
            (
                "The reservation starts on 2027-01-01. Costs after {} are not reimbursed by the ministry.",
                "2027-09-30",
                "2028-01-01",
            ),
        ],
    ),
]
TWINS = [(machine, key, *row) for machine, key, _, rows in BROKEN for row in rows]


def _of_texts(check: Check, spec: str) -> list[str]:
    return [".".join(map(str, each.path)) for each in findings_of_demands(check, spec)]


@pytest.mark.parametrize(("machine", "key", "text", "broken", "kept"), TWINS)
def test_a_text_and_its_twin(check: Check, machine: str, key: str, text: str, broken: str, kept: str) -> None:
    assert _of_texts(check, machine.format(text=text.format(broken))) == [key]
    assert _of_texts(check, machine.format(text=text.format(kept))) == []


TURNED_DOWN = [
    "Se descartó una oferta de 48,50 euros porque exigía un compromiso de dos años.",
    "An offer at 48.50 demanded a commitment of two years, and we turned it down.",
    "We declined an offer at 48.50: it demanded a commitment of two years.",
    "An offer at 48.50 demanded a commitment of two years. It was refused in writing.",
    "Ein Angebot zu 48,50 verlangt eine Bindung von zwei Jahren und wurde abgelehnt.",
    "Wir lehnten ein Angebot ab, weil es eine Bindung von zwei Jahren verlangt.",
    "Der Rat verwarf das Angebot (es verlangt eine Bindung von mindestens zwei Jahren).",
    "Le conseil a refusé une offre parce qu'elle exige un engagement de deux ans.",
    "Une offre exige un engagement de deux ans. Le conseil l'a rejetée.",
    "Abbiamo rifiutato un'offerta perché esige un impegno di due anni.",
    "Un'offerta esige un impegno di due anni, e l'abbiamo scartata.",
    "Een aanbod met een verbintenis van minstens twee jaar is afgewezen.",
    "Recusámos uma oferta, pois exige uma fidelização de dois anos.",
    "O fornecedor de Braga pedia um compromisso de três anos e foi excluído.",
    "二年間の契約期間を必須とする提案は断った。",
    "要求承诺两年的报价被拒绝。",
    "2년 약정을 요구하는 제안은 거절했다.",
]
COMMITMENTS = [
    "The price demands a commitment of at least two years.",
    "Der Preis verlangt eine Bindung von zwei Jahren; ein Angebot aus Linz wurde abgelehnt.",
    "Cooling is excluded; the price demands a commitment of two years.",
    "A larger hall was turned down. Our price demands a commitment of two years.",
    "El precio exige un compromiso de dos años, y una oferta mayor fue rechazada.",
]

INSTALMENTS = [
    # what is paid on delivery, and the rest after acceptance
    ("Half is paid on delivery, the rest after acceptance.", "60 % are paid on delivery, 20 % after acceptance."),
    ("Die Hälfte bei Lieferung, der Rest nach der Abnahme.", "60 % bei Lieferung, 20 % nach der Abnahme."),
    ("La moitié à la livraison, le reste après la réception.", "60 % à la livraison, 20 % après la réception."),
    ("La mitad a la entrega, el resto tras la aceptación.", "60 % a la entrega, 20 % tras la aceptación."),
    ("Metà alla consegna, il resto dopo il collaudo.", "60 % alla consegna, 20 % dopo il collaudo."),
    ("De helft bij levering, de rest na acceptatie.", "60 % bij levering, 20 % na acceptatie."),
    ("Metade na entrega, o resto após a aceitação.", "60 % na entrega, 20 % após a aceitação."),
    ("Połowa przy dostawie, reszta po odbiorze.", "60 % przy dostawie, 20 % po odbiorze."),
    ("交货时付50%,其余验收后付。", "交货时付60%,验收后付20%。"),
    ("納入時に5割、残りは検収後に支払う。", "納入時に6割、検収後に2割を支払う。"),
]


@pytest.mark.parametrize(("text", "more"), INSTALMENTS)
def test_a_share_that_is_paid_on_delivery_is_not_the_one_after_acceptance(check: Check, text: str, more: str) -> None:
    assert _of_texts(check, TRAIN.format(text=text)) == []
    assert _of_texts(check, TRAIN.format(text=more)) == [ACCEPTANCE]


@pytest.mark.parametrize("text", TURNED_DOWN)
def test_what_an_offer_that_was_turned_down_asks_for_binds_nothing(check: Check, text: str) -> None:
    assert _of_texts(check, TRAIN.format(text=text)) == []


@pytest.mark.parametrize("text", COMMITMENTS)
def test_what_the_chosen_offer_asks_for_binds(text: str) -> None:
    assert [each.subject.name for each in demands_in(text)] == ["commitment"]


LIMITS = [
    # a text, a promise that the design keeps, and one that it breaks
    (SERVE, "The service agreement asks for a first token within {} for 95 % of the tickets.", "3 seconds", "1 second"),
    (SERVE, "Der Vertrag verlangt das erste Token innerhalb von {}.", "3 Sekunden", "1 Sekunde"),
    (SERVE, "Le contrat exige le premier jeton en {} au plus.", "3 secondes", "1 seconde"),
    (SERVE, "契約では最初のトークンを{}以内に返すことを求めている。", "3秒", "1秒"),
    (SERVE, "The contract wants every further token within {}.", "80 ms", "40 ms"),
    (TRAIN, "The committee demands that the run lasts no longer than {}.", "50 days", "30 days"),
    (TRAIN, "Het contract eist een checkpoint ten minste elke {}.", "3 uur", "1 uur"),
]


@pytest.mark.parametrize(("machine", "text", "kept", "broken"), LIMITS)
def test_a_promise_that_the_design_keeps_is_no_contradiction(
    check: Check, machine: str, text: str, kept: str, broken: str
) -> None:
    names = {each.rule for each in check(machine.format(text=text.format(kept)))}
    assert not names & TEXT_RULES
    names = {each.rule for each in check(machine.format(text=text.format(broken)))}
    assert names & TEXT_RULES


BACK = [
    "Alle checkpoints van de laatste 24 uur blijven bewaard.",
    "Every checkpoint of the past 24 hours is at hand.",
    "Jede Sicherung der vergangenen 24 Stunden wird aufbewahrt.",
    "Cada copia guardada en las últimas 24 horas se conserva.",
    "Ogni salvataggio delle ultime 24 ore resta leggibile.",
    "Toutes les sauvegardes des 24 dernières heures sont gardées.",
]


@pytest.mark.parametrize("text", BACK)
def test_the_time_that_checkpoints_reach_back_is_no_interval(check: Check, text: str) -> None:
    assert not {each.rule for each in check(TRAIN.format(text=text))} & TEXT_RULES


MILESTONES = [
    # one milestone after the last delivery, and whether it names one
    ("The auditor visits in week 25 and reads back three checkpoints.", False),
    ("Week 24: the bank pays the second half.", False),
    ("Woche 24: der Gutachter prüft die Räume.", False),
    ("Semaine 24 : le comité décide de la suite.", False),
    ("Semana 24: visita del ministerio.", False),
    ("Settimana 24: il revisore verifica i conti.", False),
    ("Sixteen nodes in week 16. The inspector comes to visit in week 24.", False),
    ("Woche 24: die zweite Rate wird gezahlt.", False),
    ("Week 24: the last eight nodes.", True),
    ("Woche 24: die letzten Knoten werden geliefert, der Prüfer ist dabei.", True),
    ("The bank pays in week 2. The switches come in week 24.", True),
    ("Week 15: sixteen nodes in four racks; Bath waited 23 weeks for the other week 31.", False),
    ("Woche 9: Kabel und Switches. Das andere Angebot nannte Woche 27.", False),
    ("Semaine 12 : huit nœuds. L'ancien plan disait semaine 30.", False),
    ("Week 9: the switches; week 24: the nodes.", True),
    ("Weeks 18-24: the nodes.", True),
]


@pytest.mark.parametrize(("milestone", "is_late"), MILESTONES)
def test_a_milestone_of_somebody_else_is_no_delivery(check: Check, milestone: str, is_late: bool) -> None:
    delivery = f'  delivery: {{weeks: 20, milestones: ["{milestone}"]}}\n'
    found = {each.rule for each in check(TRAIN.format(text="Nodes.") + delivery)}
    assert ("delivery-misses-date" in found) == is_late


METERED = [
    # 24 nodes draw some 250 kW, 340 kW at a PUE of 1.35; the limit includes the cooling
    "Der Netzanschlussvertrag begrenzt die Leistung auf {} kW am Übergabepunkt.",
    "Der Vertrag mit den Stadtwerken begrenzt die Leistung auf {} kW, Kälteanlage eingeschlossen.",
    "The grid contract limits the site to {} kW at the point of supply.",
    "Le contrat avec le réseau limite la puissance du site à {} kW au point de livraison.",
    "El contrato limita la potencia de la sala a {} kW en el punto de suministro.",
]


@pytest.mark.parametrize("text", METERED)
@pytest.mark.parametrize(("limit", "is_broken"), [("315", True), ("395", False)])
def test_a_limit_at_the_grid_includes_the_cooling(check: Check, text: str, limit: str, is_broken: bool) -> None:
    found = check(TRAIN.format(text=text.format(limit)) + "  pue: 1.35\n")
    assert bool([each for each in found if each.rule == "bound-off-keys"]) == is_broken


NAMED = [
    # halls of other places carry less than the 250 kW of the machine
    ("The hall gives 290 kW; the Perth hall carries 120 kW and is full.", False),
    ("The Hull site gets 120 kW from the grid. This site gets 290 kW.", False),
    ("Die Halle hat 290 kW; die Halle in Ilmenau bekommt höchstens 120 kW.", False),
    ("La salle fournit 290 kW ; la salle de Lyon fournit 120 kW.", False),
    ("The Perth hall carries 120 kW at most.", True),
]


@pytest.mark.parametrize(("text", "is_broken"), NAMED)
def test_a_hall_with_a_name_is_another_where_this_one_has_none(check: Check, text: str, is_broken: bool) -> None:
    found = check(TRAIN.format(text=text))
    assert bool([each for each in found if each.rule in {"bound-off-keys", "power-over-budget"}]) == is_broken
