"""Demands that several figures of a text state, or that several keys keep: each with a twin that the design keeps."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.demands.figures import demand_figures
from tests.rules.conftest import Check
from tests.rules.test_demand_quantities import findings_of_demands

MACHINE = """clusterspec: 1
description: "{text}"
cluster:
  platform: dgx-h100
  nodes: 32
  power: {{node: 10 kW, switch: 1 kW, nodes_per_rack: 4, cooling: liquid, liquid_share: 0.8}}
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    switch: quantum-2-qm9700
    leaf_switches: 8
    spine_switches: 4
    distance: {{node_leaf: 30 m, leaf_spine: 80 m}}
  networks:
    frontend: {{bandwidth: 20 Gb/s}}
    storage: {{nics_per_node: 1, nic_bandwidth: 200 Gb/s, bandwidth: 20 GB/s, read: 20 GB/s, capacity: 500 TB}}
workload:
  {{kind: train, model: llama-3.1-70b, sequence_length: 8192, global_batch: 256, tokens: 420B, dataset_tokens: 100B}}
layout: {{framework: megatron-core, tp: 8, pp: 2, dp: 16, sharding: zero1, micro_batch: 1}}
operations:
  targets: {{goodput: 0.95}}
procurement:
  currency: EUR
  as_of: "2026-11-02"
  payment: {{order: 0.3, delivery: 0.5, acceptance: 0.2}}
"""
GOODPUT, FRONTEND = "operations.targets.goodput", "cluster.networks.frontend.bandwidth"
ROUTE, PAYMENT, AIR = (
    "cluster.scale_out.distance.leaf_spine",
    "procurement.payment.delivery",
    "cluster.power.liquid_share",
)
TWINS = [
    # a text, a figure that the design breaks, one that it keeps, and the key: 5 % of a month are 36.5 h
    ("No more than {} of computing time may be lost each month to crashes.", "20 hours", "40 hours", GOODPUT),
    ("Im Monat dürfen höchstens {} durch Ausfälle verloren gehen.", "20 Stunden", "40 Stunden", GOODPUT),
    ("La convention veut qu'au plus {} par mois soient perdues en pannes.", "20 heures", "40 heures", GOODPUT),
    ("El acuerdo permite perder como máximo {} al mes por averías.", "20 horas", "40 horas", GOODPUT),
    ("L'accordo ammette al massimo {} al mese perse per guasti.", "20 ore", "40 ore", GOODPUT),
    ("Volgens het contract mag per maand hoogstens {} verloren gaan.", "20 uur", "40 uur", GOODPUT),
    ("Umowa dopuszcza najwyżej {} utraconego czasu w miesiącu.", "20 godzin", "40 godzin", GOODPUT),
    ("Of each period of 30 days, at most {} may be lost to failures.", "20 hours", "37 hours", GOODPUT),
    ("At least {} of the 720 hours of a month must be productive.", "700", "680", GOODPUT),
    ("Mindestens {} von 720 Stunden im Monat müssen produktiv sein.", "700", "680", GOODPUT),
    ("Le contrat exige un temps utile d'au moins {}.", "97 %", "95 %", GOODPUT),
    ("The board lets us lose {} a week to failures.", "three hours", "nine hours", GOODPUT),
    # 20 Gb/s are 216 TB a day
    ("The telescopes send {} every day, and all must arrive over the frontend network.", "300 TB", "200 TB", FRONTEND),
    ("Jeden Tag treffen {} über das Frontend-Netz ein.", "300 TB", "200 TB", FRONTEND),
    ("Chaque jour, {} arrivent par le réseau frontal.", "300 To", "200 To", FRONTEND),
    ("Cada día llegan {} por la red frontal.", "300 TB", "200 TB", FRONTEND),
    ("The sensors deliver {} a day. All of it reaches us over the front-end network.", "300 TB", "200 TB", FRONTEND),
    ("毎日{}のデータがフロントエンドネットワークに届く。", "300 TB", "200 TB", FRONTEND),
    # 80 m are the longest run
    ("The route from the farthest leaf is {}, 40 m in the shaft and 4 m at each end.", "52 m", "24 m", ROUTE),
    ("Die Trasse vom letzten Leaf: {} im Doppelboden, 30 m im Steigschacht, je Ende 3 m.", "55 m", "40 m", ROUTE),
    ("Le parcours depuis la dernière leaf : {} en goulotte, 30 m en gaine 4 m à chaque bout.", "50 m", "35 m", ROUTE),
    ("El recorrido desde la última leaf: {} de bandeja, 30 m de patio y 2 m en cada extremo.", "60 m", "40 m", ROUTE),
    ("The surveyor measured a cable length of {} from the last leaf.", "110 m", "75 m", ROUTE),
    # 80 % are paid before acceptance
    ("The grant forbids paying more than {} of the price before acceptance.", "70 %", "80 %", PAYMENT),
    ("Vor der Abnahme dürfen höchstens {} des Preises gezahlt werden.", "70 %", "80 %", PAYMENT),
    ("Avant la réception, au plus {} du prix peuvent être versés.", "70 %", "80 %", PAYMENT),
    ("Antes de la aceptación se puede pagar como máximo el {} del precio.", "70 %", "80 %", PAYMENT),
    ("Umowa zabrania płacić przed odbiorem więcej niż {} ceny.", "70 %", "80 %", PAYMENT),
    ("検収前に支払えるのは価格の{}までである。", "七割", "八割", PAYMENT),
    ("验收前付款不得超过总价的 {}。", "70%", "80%", PAYMENT),
    ("Los pagos antes de la recepción no pueden superar {} del precio.", "la mitad", "el 80 %", PAYMENT),
    # 76 kW go to the air
    ("Die Umluftgeräte der Halle führen höchstens {} ab.", "60 kW", "90 kW", AIR),
    ("The air handlers of the hall remove at most {}.", "60 kW", "90 kW", AIR),
]  # fmt: skip


@pytest.mark.parametrize(("text", "broken", "kept", "key"), TWINS)
def test_a_demand_is_compared_with_what_follows(check: Check, text: str, broken: str, kept: str, key: str) -> None:
    found = findings_of_demands(check, MACHINE.format(text=text.format(broken)))
    assert [".".join(map(str, each.path)) for each in found] == [key], [each.message for each in found]
    found = findings_of_demands(check, MACHINE.format(text=text.format(kept)))
    assert [each.message for each in found] == []


SILENT = [
    "The nodes give 60 kW to the air of the hall, and the racks 9 kW more.",
    "The cables have 12 m, 30 m and 60 m, by the distance of the leaf.",
    "The support engineer may spend at most 4 hours a month on the machine.",
    "The chiller is down for at most 8 hours a month for its service.",
    "The old machine lost 60 hours a month.",
    "The frontend network has two NICs of 100 Gb/s in each node.",
    "The frontend must carry 200 Gb/s at the edge router.",
]


@pytest.mark.parametrize("text", SILENT)
def test_a_text_without_such_a_demand_has_no_finding(check: Check, text: str) -> None:
    assert [each.message for each in findings_of_demands(check, MACHINE.format(text=text))] == []


FIGURES = [
    ("The route: 10 m, 20 m, 30 m, together 60 m.", []),
    ("The path has 10 m of tray, 20 m of riser and 2 m at either end.", [34.0]),
    ("64 prompts and 1,024 answers in all", [16.0]),
    ("64 prompts and 1,000 answers in all", []),
    ("18 hours of a month of 30 days", [0.025]),
    ("of a month of 30 days at most 18 hours", [0.025]),
    ("at most 6 hours a week or 2 days a month", [6 / 168, 2 / 30.4375]),
]


@pytest.mark.parametrize(("text", "values"), FIGURES)
def test_a_figure_follows_from_several(text: str, values: list[float]) -> None:
    assert [each.value for each in demand_figures(text) if each.is_computed] == pytest.approx(values)


ANSWERS = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h200, nodes: 4}}
workload:
  kind: serve
  model: llama-3.3-70b
  serving:
    input_tokens: {{mean: 8000, max: 60000}}
    output_tokens: {{mean: 500, max: 2000}}
    concurrency: 100
    load: closed
    targets: {{ttft: {{p99: 2 s}}, tpot: {{p99: 40 ms}}}}
layout: {{framework: vllm, tp: 8, dp: 4}}
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # 2 s and 499 x 40 ms are 21.96 s
        ("The complete answer of 500 tokens must be there within {}.", ["15 s", "22 s"]),
        ("Die ganze Antwort von 500 Token muss nach höchstens {} stehen.", ["15 s", "22 s"]),
        ("La réponse complète de 500 jetons doit arriver en {} au plus.", ["15 s", "22 s"]),
        ("La respuesta completa de 500 tokens debe llegar en {} como máximo.", ["15 s", "22 s"]),
        ("500トークンの完全な回答全体は{}以内に返さなければならない。", ["15秒", "22秒"]),
    ],
)
def test_the_time_to_the_last_token_follows_from_the_targets(check: Check, text: str, names: list[str]) -> None:
    broken, kept = (findings_of_demands(check, ANSWERS.format(text=text.format(each))) for each in names)
    assert [".".join(map(str, each.path)) for each in broken] == ["workload.serving.targets"]
    assert [each.message for each in kept] == []


REACH = """clusterspec: 1
description: "{text}"
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    nic_bandwidth: 400 Gb/s
    switch: quantum-2-qm9700
    leaf_switches: 16
    spine_switches: 8
    optics: {{leaf_spine: mms4x00-ns}}
"""


@pytest.mark.parametrize(("length", "keys"), [("130 m", ["cluster.scale_out.optics.leaf_spine"]), ("95 m", [])])
def test_a_length_of_the_text_is_compared_with_the_reach_of_the_optics(
    check: Check, length: str, keys: list[str]
) -> None:
    text = f"The fiber from the leaf switches to the spine switches is {length} long."
    found = findings_of_demands(check, REACH.format(text=text))
    assert [".".join(map(str, each.path)) for each in found] == keys


RUN = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h100, nodes: 32}}
workload: {{kind: train, model: llama-3.1-70b, sequence_length: 8192, global_batch: 256, tokens: 420B}}
layout: {{framework: megatron-core, tp: 8, pp: 2, dp: 16, sharding: zero1, micro_batch: 1}}
operations: {{targets: {{run_time: 70 days}}}}
"""
DATES = [
    # a text with a day that leaves 59 days, and one that leaves 75
    ("Training starts on 3 May 2027. The model must be submitted by {} 2027.", "1 July", "17 July"),
    ("Das Training beginnt am 3. Mai 2027. Das Modell muss bis zum {} 2027 fertig sein.", "1. Juli", "17. Juli"),
    ("L'entraînement commence le 3 mai 2027. Le modèle doit être remis le {} 2027.", "1 juillet", "17 juillet"),
    ("El entrenamiento empieza el 3 de mayo. El modelo debe entregarse el {} de 2027.", "1 de julio", "17 de julio"),
    ("L'addestramento comincia il 3 maggio 2027. Il modello va consegnato entro il {} 2027.", "1 luglio", "17 luglio"),
    ("Am 3. Mai 2027 startet das Training. Das Modell ist spätestens am {} 2027 zu übergeben.", "1. Juli", "17. Juli"),
    ("De training begint op 3 mei 2027. Het model moet op {} 2027 klaar zijn.", "1 juli", "17 juli"),
    ("学習は2027年5月3日に開始する。モデルは2027年{}までに提出しなければならない。", "7月1日", "7月17日"),
    ("训练于2027年5月3日开始。模型必须在2027年{}前提交。", "7月1日", "7月17日"),
    ("학습은 2027년 5월 3일에 시작한다. 모델은 2027년 {}까지 제출해야 한다.", "7월 1일", "7월 17일"),
]


@pytest.mark.parametrize(("text", "early", "late"), DATES)
def test_a_run_has_the_days_up_to_its_due_day(check: Check, text: str, early: str, late: str) -> None:
    found = findings_of_demands(check, RUN.format(text=text.format(early)))
    assert [".".join(map(str, each.path)) for each in found] == ["operations.targets.run_time"]
    assert [each.message for each in findings_of_demands(check, RUN.format(text=text.format(late)))] == []


@pytest.mark.parametrize(
    "text",
    [
        "Training starts on 3 May 2027. The old model had to be submitted by 1 July 2027 on the previous machine.",
        "Training starts on 3 May 2027. The invoice is due on 1 July 2027.",
        "If training starts on 3 May 2027, the model must be submitted by 1 July 2027.",
        "The racks arrive on 3 May 2027. The model must be submitted by 1 July 2027.",
    ],
)
def test_days_of_something_else_bind_no_run(check: Check, text: str) -> None:
    assert [each.message for each in findings_of_demands(check, RUN.format(text=text))] == []


BRANCH = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h100, nodes: 4, software: [nvidia-driver 570.124]}}
"""


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("The accreditation covers the NVIDIA driver of the 535 branch and nothing newer.", True),
        ("Die Zulassung gilt nur für den Treiber aus dem 535er Zweig.", True),
        ("La homologación obliga a usar el controlador de la rama 535.", True),
        ("The accreditation covers the NVIDIA driver of the 570 branch and nothing newer.", False),
        ("The old accreditation covered the driver of the 535 branch.", False),
    ],
)
def test_the_branch_of_the_driver_is_that_of_the_text(check: Check, text: str, broken: bool) -> None:
    found = findings_of_demands(check, BRANCH.format(text=text))
    assert [".".join(map(str, each.path)) for each in found] == ["cluster.software.0"] * broken
