"""Demands on what a limit leaves, on money of a stage or a month, and on what a failure or a step costs in all."""

from __future__ import annotations

import pytest

from tests.rules.conftest import Check
from tests.rules.test_demand_quantities import findings_of_demands

TRAIN = """clusterspec: 1
description: "{text}"
cluster:
  platform: dgx-h100
  nodes: 16
  power: {{node: 10 kW, switch: 2 kW, nodes_per_rack: 4, rack_overhead: 1 kW, rack_limit: 50 kW, budget: 200 kW}}
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    switch: quantum-2-qm9700
    leaf_switches: 4
    spine_switches: 2
workload: {{kind: train, model: llama-3.1-8b, sequence_length: 8192, global_batch: 384, tokens: 1T}}
layout: {{framework: torchtitan, dp: 128, sharding: fsdp, micro_batch: 1}}
operations:
  checkpoint: {{interval: 30 min, pause: 10 s, write_time: 2 min, mode: asynchronous, keep: 20}}
  detection_time: 4 min
  restart_time: 9 min
procurement:
  currency: EUR
  as_of: "2026-11-02"
  payment: {{order: 0.3, delivery: 0.5, acceptance: 0.2}}
  quoted_total: 5000000
"""
"""A full rack draws 41 kW; nodes draw 160 kW, switches 12 kW and racks 4 kW, together 176 kW."""
RENTED = """clusterspec: 1
description: "{text}"
cluster: {{accelerator: h100-sxm, accelerators_per_node: 8, nodes: 10}}
workload: {{kind: train, model: llama-3.1-8b, sequence_length: 8192, global_batch: 320, tokens: 1T}}
layout: {{framework: torchtitan, dp: 80, sharding: fsdp, micro_batch: 1}}
procurement: {{currency: USD, as_of: "2026-11-02", term: 12 months, prices: {{node_hour: 50}}}}
"""
"""A month of 730.5 hours costs 365,250."""
UPDATED = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h100, nodes: 8}}
workload:
  kind: train
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 512
  rl:
    prompts_per_step: 128
    samples_per_prompt: 8
    input_tokens: {{mean: 500, max: 2000}}
    output_tokens: {{mean: 2000, max: 6000}}
    rollout: {{nodes: 4, tp: 1}}
layout: {{framework: megatron-core, tp: 1, dp: 32, sharding: zero1, micro_batch: 1}}
"""
SERVED = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h200, nodes: 2}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: {{mean: 3000, max: 8000}}
    output_tokens: {{mean: 500, max: 900}}
    request_rate: 0.4
    targets: {{ttft: {{p95: 2 s}}, tpot: {{p95: 40 ms}}}}
layout: {{framework: vllm, tp: 8, dp: 2}}
"""
RACK, SITE, ACCEPTANCE, ORDER = (
    "cluster.power.rack_limit",
    "cluster.power.budget",
    "procurement.payment.acceptance",
    "procurement.payment.order",
)
RENT, SAMPLES, TARGETS = "procurement.prices.node_hour", "workload.rl.samples_per_prompt", "workload.serving.targets"
INTERVAL = "operations.checkpoint.interval"
TWINS = [
    # 9 kW of a rack are free
    (TRAIN, RACK, "At least {} kW of each rack must remain free at full load.", "12", "8"),
    (TRAIN, RACK, "The operator insists on a headroom of no less than {} kW in every rack.", "12", "8"),
    (TRAIN, RACK, "In jedem Schrank müssen mindestens {} kW Reserve bleiben.", "12", "8"),
    (TRAIN, RACK, "Chaque baie doit garder au moins {} kW de réserve.", "12", "8"),
    (TRAIN, RACK, "En cada rack deben quedar libres al menos {} kW.", "12", "8"),
    (TRAIN, RACK, "In ogni rack devono restare liberi almeno {} kW.", "12", "8"),
    # 24 kW of the site, 12 % of it
    (TRAIN, SITE, "The hall operator demands that at least {} kW of the power of the hall stay unused.", "40", "20"),
    (TRAIN, SITE, "Von der Leistung des Saals müssen mindestens {} kW frei bleiben.", "40", "20"),
    (TRAIN, SITE, "Le contrat exige qu'au moins {} kW de la puissance de la salle restent libres.", "40", "20"),
    (TRAIN, SITE, "Al menos {} % de la potencia de la sala debe quedar en reserva.", "20", "10"),
    (TRAIN, SITE, "At least {} % of the power of the hall has to remain in reserve.", "20", "10"),
    # 20 % of five million after acceptance, 30 % with the order
    (TRAIN, ACCEPTANCE, "We retain {} EUR until acceptance.", "1,500,000", "1,000,000"),
    (TRAIN, ACCEPTANCE, "Bis zur Abnahme behalten wir {} EUR ein.", "1.500.000", "1.000.000"),
    (TRAIN, ACCEPTANCE, "Nous retenons {} euros jusqu'à la réception.", "1 500 000", "1 000 000"),
    (TRAIN, ACCEPTANCE, "Tras la aceptación se pagan {} euros.", "1.500.000", "1.000.000"),
    (TRAIN, ORDER, "The advance is {} EUR.", "1,000,000", "1,500,000"),
    (TRAIN, ORDER, "Die Anzahlung beträgt {} EUR.", "1.000.000", "1.500.000"),
    (TRAIN, ORDER, "L'acompte est de {} euros.", "1 000 000", "1 500 000"),
    # the rent of a month
    (RENTED, RENT, "The rent of a month must not exceed {} USD.", "350,000", "380,000"),
    (
        RENTED,
        RENT,
        "Under the terms of the loan, we may pay at most {} dollars a month for the machine.",
        "350,000",
        "380,000",
    ),
    (RENTED, RENT, "Die Miete darf {} Dollar im Monat nicht überschreiten.", "350.000", "380.000"),
    (RENTED, RENT, "Le loyer ne doit pas dépasser {} dollars par mois.", "350 000", "380 000"),
    (RENTED, RENT, "El alquiler no puede superar {} dólares al mes.", "350.000", "380.000"),
    # 1,024 answers of a step
    (UPDATED, SAMPLES, "The verifier takes at most {} answers per step.", "800", "1,100"),
    (UPDATED, SAMPLES, "Der Prüfdienst nimmt höchstens {} Antworten je Schritt an.", "800", "1100"),
    (UPDATED, SAMPLES, "Le vérificateur admet au plus {} réponses par pas.", "800", "1100"),
    (UPDATED, SAMPLES, "El verificador admite como máximo {} respuestas por paso.", "800", "1100"),
    (UPDATED, SAMPLES, "No more than {} samples may be scored in each step.", "800", "1,100"),
    # 2 s and 499 times 40 ms are 22 s
    (
        SERVED,
        TARGETS,
        "The gateway closes a connection after {} seconds; an answer of 500 tokens must be complete by then.",
        "20",
        "25",
    ),
    (
        SERVED,
        TARGETS,
        "Das Portal bricht nach {} Sekunden ab. Eine Antwort mit 500 Token muss vorher vollständig sein.",
        "20",
        "25",
    ),
    (
        SERVED,
        TARGETS,
        "La passerelle coupe la connexion après {} secondes. Une réponse de 500 tokens doit être complète avant.",
        "20",
        "25",
    ),
    (
        SERVED,
        TARGETS,
        "La pasarela corta la conexión a los {} segundos. Una respuesta de 500 tokens debe llegar completa antes.",
        "20",
        "25",
    ),
    (TRAIN, RACK, "契約により、各ラックには {} kW以上の余裕を残さなければならない。", "12", "8"),
    (TRAIN, RACK, "合同规定每个机柜至少保留{} kW的余量。", "12", "8"),
    (TRAIN, ACCEPTANCE, "验收后支付{}欧元。", "150万", "100万"),
    (RENTED, RENT, "借款契約により、賃料は月額{}万ドルを超えてはならない。", "35", "38"),
    (RENTED, RENT, "임대료는 매월 {}만 달러를 넘지 않아야 한다.", "35", "38"),
    (UPDATED, SAMPLES, "审核服务每步最多接收{}个回答。", "800", "1100"),
    (
        SERVED,
        TARGETS,
        "ゲートウェイは{}秒で接続を切る。500トークンの回答は、その前に必ず最後まで届くこと。",
        "20",
        "25",
    ),
    # 30 min, 2 min until a checkpoint is written, 4 min and 9 min are 45 min
    (TRAIN, INTERVAL, "A failure may cost at most {} minutes in all, lost progress and downtime together.", "40", "50"),
    (
        TRAIN,
        INTERVAL,
        "Ein Ausfall darf samt Stillstand und verlorener Arbeit höchstens {} Minuten kosten.",
        "40",
        "50",
    ),
    (TRAIN, INTERVAL, "Une panne ne doit pas coûter plus de {} minutes, arrêt et travail perdu compris.", "40", "50"),
    (TRAIN, INTERVAL, "Un fallo puede costar como máximo {} minutos, entre parada y trabajo perdido.", "40", "50"),
    (
        TRAIN,
        INTERVAL,
        "The contract counts downtime and lost work together: no failure may cost more than {} minutes.",
        "40",
        "50",
    ),
]
"""A design, the key of a finding, a text, a figure that breaks it and one that the design keeps."""
SHARED = [
    ("The hall gives 243 kW to IT, of which {} kW are reserved for the physicists.", "90", "35"),
    ("The physicists have a prior claim on {} kW of the 243 kW that the transformer delivers.", "90", "35"),
    ("Der Trafo liefert höchstens 243 kW, wovon {} kW beim Rechenzentrum der Klinik bleiben.", "90", "35"),
    ("La salle offre au plus 243 kW, dont {} kW vont à la bibliothèque.", "90", "35"),
    ("La acometida da como máximo 243 kW, de los cuales {} kW corresponden al hospital.", "90", "35"),
    ("Il trasformatore fornisce al massimo 243 kW, dei quali {} kW spettano al museo.", "90", "35"),
]
"""A text on a hall that others share, a part that leaves too little for 176 kW, and one that leaves enough."""
OF_OTHERS = [
    (TRAIN, "Each rack of the tenant below keeps 30 kW free."),
    (TRAIN, "The old machine left at least 60 kW of the hall unused."),
    (TRAIN, "In each rack 3 kW go to the fans."),
    (TRAIN, "The hall gives 240 kW, of which 160 kW go to the nodes and 12 kW to the switches."),
    (TRAIN, "The library keeps 60 kW of its own hall."),
    (TRAIN, "Der Saal liefert 240 kW, davon gehen 160 kW an die Knoten."),
    (TRAIN, "La biblioteca ha la priorità su 40 kW di un altro edificio."),
    (TRAIN, "Of the 176 kW, 12 kW are for the switches."),
    (TRAIN, "We retain the right to refuse the delivery until acceptance; the bond of 2,000,000 EUR is the bank's."),
    (TRAIN, "Upon acceptance, the old nodes are sold for 300,000 EUR."),
    (TRAIN, "We retain 400,000 EUR of the budget for travel."),
    (TRAIN, "The grant comes with an advance of 400,000 EUR."),
    (TRAIN, "Der Vorschuss der Stiftung beträgt 600.000 EUR."),
    (TRAIN, "La fundación nos concede un anticipo de 500.000 euros."),
    (TRAIN, "After acceptance, three years of support cost 300,000 EUR."),
    (TRAIN, "The former supplier left 900,000 EUR with us until acceptance."),
    (TRAIN, "A first offer asked for an advance of 2,500,000 EUR and was rejected."),
    (RENTED, "The storage, 40,000 USD a month, is paid by another department."),
    (RENTED, "The former contract cost at most 120,000 USD a month."),
    (RENTED, "Support must not cost more than 20,000 USD a month."),
    (UPDATED, "The partner's own jobs may use the verifier for at most 300 answers per step."),
    (UPDATED, "Every answer is checked in up to 200 steps of reasoning."),
    (SERVED, "The other service cuts the connection after 5 seconds; its answers must be complete by then."),
    (SERVED, "Der Zähler schaltet nach 10 Sekunden ab, wenn niemand arbeitet."),
    (TRAIN, "A failure of the old machine cost 20 minutes at most, lost work and downtime together."),
    (TRAIN, "Der Ausfall des Kühlwassers darf höchstens 10 Minuten dauern."),
]
"""Texts with a figure of something else."""


@pytest.mark.parametrize(("design", "key", "text", "figure", "kept"), TWINS)
def test_a_text_with_a_figure_that_the_design_breaks_is_found(
    check: Check, design: str, key: str, text: str, figure: str, kept: str
) -> None:
    found = findings_of_demands(check, design.format(text=text.format(figure)))
    assert [".".join(map(str, each.path)) for each in found] == [key]
    assert not findings_of_demands(check, design.format(text=text.format(kept)))


@pytest.mark.parametrize(("design", "text"), OF_OTHERS)
def test_a_figure_of_something_else_is_no_demand(check: Check, design: str, text: str) -> None:
    assert not findings_of_demands(check, design.format(text=text))


@pytest.mark.parametrize(("text", "part", "kept"), SHARED)
def test_a_part_of_others_is_deducted_from_the_power_of_a_site(check: Check, text: str, part: str, kept: str) -> None:
    found = check(TRAIN.format(text=text.format(part)), "power-over-budget")
    assert [each.severity for each in found if each.rule == "power-over-budget"] == ["error"]
    for rule in ("power-over-budget", "description-off-settings", "bound-off-keys"):
        assert not [each for each in check(TRAIN.format(text=text.format(kept)), rule) if each.rule == rule]
