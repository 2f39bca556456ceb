"""Demands of texts on quantities that follow from a design: each with twins that the design keeps."""

from __future__ import annotations

import pytest

from clusterspec.finding import Finding
from clusterspec.rules.readers.demands.reading import demands_in
from tests.rules.conftest import Check

MACHINE = """clusterspec: 1
description: {text}
cluster:
  platform: dgx-h100
  nodes: 32
  spare_nodes: 1
  power:
    {{node: 10 kW, node_idle: 2 kW, switch: 1 kW, nodes_per_rack: 4, cooling: liquid, liquid_share: 0.8}}
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    switch: quantum-2-qm9700
    leaf_switches: 8
    spine_switches: 4
  networks:
    storage: {{nics_per_node: 1, nic_bandwidth: 200 Gb/s, bandwidth: 20 GB/s, read: 20 GB/s, capacity: 500 TB}}
workload:
  {{kind: train, model: llama-3.1-70b, sequence_length: 8192, global_batch: 256, tokens: 420B, dataset_tokens: 100B}}
layout: {{framework: megatron-core, tp: 8, pp: 2, dp: 16, sharding: zero1, micro_batch: 1}}
operations:
  checkpoint: {{interval: 20 min, pause: 10 s, mode: asynchronous, write_time: 5 min}}
  carbon: {{intensity: 0.3}}
procurement:
  currency: EUR
  as_of: "2026-11-02"
  term: 4 years
  pue: 1.2
  utilization: 0.8
  payment: {{order: 0.3, delivery: 0.4, acceptance: 0.3}}
  quoted_total: 10000000
  quote:
    - {{part: DGX H100 node, quantity: 33, unit_price: 300000, price: 9900000}}
    - {{part: cables, quantity: 1, unit_price: 100000, price: 100000}}
"""
SERVICE = """clusterspec: 1
description: {text}
cluster: {{platform: dgx-h200, nodes: 4, networks: {{storage: {{bandwidth: 2 GB/s, read: 2 GB/s}}}}}}
workload:
  kind: serve
  model: llama-3.3-70b
  parameter_precision: bf16
  serving:
    input_tokens: {{mean: 8000, max: 60000}}
    output_tokens: {{mean: 500, max: 2000}}
    concurrency: 100
    load: closed
    max_sequences: 30
layout: {{framework: vllm, tp: 8, dp: 4}}
"""
SHARE, INTERVAL, TOKENS = "cluster.power.liquid_share", "operations.checkpoint.interval", "workload.tokens"

BROKEN = [
    # a text, and the key of its finding: 33 nodes of 10 kW give the liquid 264 kW
    ("The river permit lets the loop take no more than 200 kW of heat.", SHARE),
    ("Das Wasseramt erlaubt, höchstens 200 kW Wärme über den Wasserkreis abzugeben.", SHARE),
    ("La boucle d'eau de l'immeuble n'évacue que 200 kW de chaleur.", SHARE),
    ("El circuito de agua del edificio absorbe como máximo 200 kW de calor.", SHARE),
    ("Obieg wody przyjmuje najwyżej 200 kW ciepła.", SHARE),
    ("We owe the greenhouse at least 300 kW of heat, otherwise the grant lapses.", SHARE),
    ("Der Zuschuss entfällt, wenn das Fernwärmenetz weniger als 300 kW erhält.", SHARE),
    ("Le réseau de chaleur doit recevoir au moins 300 kW.", SHARE),
    ("The air handlers of the room remove 50 kW and no more.", SHARE),
    ("Die Umluftgeräte führen höchstens 50 kW Wärme ab.", SHARE),
    ("Las climatizadoras de la sala retiran 50 kW como máximo.", SHARE),
    ("A brewery buys our warm water and has a claim to 290 kW of heat in every winter week.", SHARE),
    # 33 x 2 kW and 12 kW of switches
    (
        "Zwischen 17 und 20 Uhr ruhen alle Jobs, und die Anlage darf dann nicht mehr als 72 kW ziehen.",
        "cluster.power.node_idle",
    ),
    ("During the response window the whole machine idles and must not exceed 70 kW.", "cluster.power.node_idle"),
    ("Im Leerlauf darf die ganze Anlage höchstens 70 kW ziehen.", "cluster.power.node_idle"),
    ("À vide, la machine entière ne doit pas dépasser 70 kW, sinon le contrat est rompu.", "cluster.power.node_idle"),
    # 342 kW x 1.2
    ("With cooling included, the transformer carries no more than 380 kW.", "cluster.power.budget"),
    ("Der Trafo trägt mit Kühlung höchstens 380 kW.", "cluster.power.budget"),
    ("The grid contract limits us to 380 kW at the meter.", "cluster.power.budget"),
    ("Der Netzvertrag begrenzt uns auf 380 kW, Kühlung und Verluste eingeschlossen.", "cluster.power.budget"),
    ("El contrato limita a 380 kW la potencia, refrigeración y pérdidas incluidas.", "cluster.power.budget"),
    # (342 x 0.8 + 78 x 0.2) kW x 1.2 x 8,766 h = 3.04 GWh, 913 t
    ("The permit ends if the machine uses more than 2.4 GWh a year.", "procurement.utilization"),
    ("La convention plafonne la consommation à 2 400 MWh par an.", "procurement.utilization"),
    ("De vergunning staat hoogstens 2.400 MWh per jaar toe.", "procurement.utilization"),
    ("Der Beirat duldet höchstens 800 t CO2 im Jahr.", "operations.carbon.intensity"),
    ("Over the four years the machine may cause no more than 3,000 t of CO2.", "operations.carbon.intensity"),
    ("El ayuntamiento autoriza 2.600 MWh anuales y cierra la línea si se supera.", "procurement.utilization"),
    # 4.2 passes
    ("The estate of the author consents if the model sees each of the books no more than twice.", TOKENS),
    ("No document may be shown to the model more than four times.", TOKENS),
    ("Las condiciones prohíben pasar cada texto más de dos veces.", TOKENS),
    ("La licenza vieta di leggere ogni testo più di tre volte.", TOKENS),
    ("Licencja pozwala pokazać każdy dokument najwyżej 3 razy.", TOKENS),
    ("The sponsor pays only for a run with at least six passes over the corpus.", TOKENS),
    # 200,272 steps
    ("The method is approved for at most 150,000 optimizer steps.", TOKENS),
    ("Die Freigabe gilt für höchstens 150.000 Schritte.", TOKENS),
    ("El comité aprobó como máximo 120.000 pasos de optimización.", TOKENS),
    ("Każdy dokument wolno pokazać modelowi najwyżej dwa razy.", TOKENS),
    ("De omgevingsvergunning laat ons 2,2 GWh per jaar toe.", "procurement.utilization"),
    # 20 + 5 min
    ("Ein Ausfall darf das Training um höchstens 22 Minuten zurückwerfen.", INTERVAL),
    ("Ninguna avería puede hacer perder más de 22 minutos de entrenamiento.", INTERVAL),
    ("Awaria może kosztować najwyżej 21 minut obliczeń.", INTERVAL),
    ("Contractually a crash may throw us back by 21 minutes of training at most.", INTERVAL),
    ("The insurer pays nothing if more than 22 minutes of work are lost in an interruption.", INTERVAL),
    # 988 GB at 20 GB/s
    ("After a stop the checkpoint has to be read back within 30 seconds.", "cluster.networks.storage.read"),
    ("La sauvegarde doit être relue en 30 secondes au plus.", "cluster.networks.storage.read"),
    # 256 or 264 accelerators, 20 TB
    ("The tender demands at least 25 TB of HBM in all.", "cluster.nodes"),
    ("El pliego exige al menos 300 GPU.", "cluster.nodes"),
    ("Jede der 12 Gruppen erhält nach der Vereinbarung drei Server für sich.", "cluster.nodes"),
    ("Drei Institute erhalten nach der Vereinbarung je acht Knoten, zwei weitere je sechs.", "cluster.nodes"),
    ("Three departments are entitled to eight nodes each and two others to six each.", "cluster.nodes"),
    ("At least 5 % of the nodes must stand by as spares.", "cluster.spare_nodes"),
    ("Mindestens 5 % der Knoten sind als Reserve vorzuhalten.", "cluster.spare_nodes"),
    # 3 and 7 million
    ("Vor der Lieferung dürfen höchstens 2,5 Mio. EUR gezahlt werden.", "procurement.payment.order"),
    (
        "The rector signs only payments of up to 2.8 million EUR before the nodes are delivered.",
        "procurement.payment.order",
    ),
    ("The statutes forbid paying more than 6 million EUR before acceptance.", "procurement.payment.order"),
]
KEPT = [
    "The river permit lets the loop take no more than 300 kW of heat.",
    "Der Zuschuss entfällt, wenn das Fernwärmenetz weniger als 250 kW erhält.",
    "The neighbor's loop takes at most 200 kW of heat.",
    "Las climatizadoras de la sala retiran 90 kW como máximo.",
    "Im Leerlauf darf die ganze Anlage höchstens 80 kW ziehen.",
    "Der Trafo trägt mit Kühlung höchstens 420 kW.",
    "The grid contract limits us to 420 kW at the meter.",
    "El contrato limita a 420 kW la potencia, refrigeración y pérdidas incluidas.",
    "La convention plafonne la consommation à 3 200 MWh par an.",
    "At 70 % load the nodes take 2,400 MWh a year.",
    "Der Beirat duldet höchstens 950 t CO2 im Jahr.",
    "No document may be shown to the model more than five times.",
    "The sponsor pays only for a run with at least four passes over the corpus.",
    "El comité aprobó como máximo 220.000 pasos de optimización.",
    "Każdy dokument wolno pokazać modelowi najwyżej pięć razy.",
    "De omgevingsvergunning laat ons 3,4 GWh per jaar toe.",
    "The method is approved for at most 250,000 optimizer steps.",
    "Ninguna avería puede hacer perder más de 25 minutos de entrenamiento.",
    "La sauvegarde doit être relue en 60 secondes au plus.",
    "The tender demands at least 20 TB of HBM in all.",
    "El pliego exige al menos 256 GPU.",
    "Jede der 12 Gruppen erhält nach der Vereinbarung zwei Server für sich.",
    "Drei Institute erhalten nach der Vereinbarung je acht Knoten, zwei weitere je vier.",
    "Three departments are entitled to eight nodes each and two others to four each.",
    "Mindestens 3 % der Knoten sind als Reserve vorzuhalten.",
    "Vor der Lieferung dürfen höchstens 3 Mio. EUR gezahlt werden.",
    "The insurer pays nothing if more than 30 minutes of work are lost in an interruption.",
    "Nach dem letzten Ausfall gingen 35 Minuten Training verloren, weil der alte Speicher langsam schrieb.",
    "Rule of thumb: 6 x 70.6e9 x 4.2e11 = 1.8e23 FLOP.",
    "The other steps need 150,000 steps, and a batch-size ramp comes before them.",
    "If we grew, the loop would have to take 500 kW of heat.",
]


def findings_of_demands(check: Check, text: str) -> list[Finding]:
    """The findings of the rule of demands, also where all rules run."""
    return [each for each in check(text, "bound-off-keys") if each.rule == "bound-off-keys"]


@pytest.mark.parametrize(("text", "key"), BROKEN)
def test_a_quantity_beyond_a_demand_is_reported_at_its_key(check: Check, text: str, key: str) -> None:
    found = findings_of_demands(check, MACHINE.format(text=f'"{text}"'))
    assert [".".join(map(str, each.path)) for each in found] == [key], [each.message for each in found]


@pytest.mark.parametrize("text", KEPT)
def test_a_quantity_that_keeps_a_demand_is_not_reported(check: Check, text: str) -> None:
    assert [each.message for each in findings_of_demands(check, MACHINE.format(text=f'"{text}"'))] == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "The contract limits us to 420 kW at the meter. The hall has a PUE of 1.3.",
            "447 kW",
        ),  # (33 x 10 + 14 x 1) x 1.3
        ("Le contrat limite à 420 kW la puissance au compteur. Le bâtiment a un PUE de 1,3.", "447 kW"),
        ("The contract limits us to 450 kW at the meter. The hall has a PUE of 1.3.", ""),
        ("The contract limits us to 420 kW at the meter.", ""),
        ("The contract limits us to 420 kW at the meter. The hall has a PUE of 1.3, the old one a PUE of 1.5.", ""),
    ],
)
def test_the_power_with_cooling_takes_the_only_pue_of_the_text_without_a_key(
    check: Check, text: str, named: str
) -> None:
    found = findings_of_demands(check, MACHINE.replace("  pue: 1.2\n", "").format(text=f'"{text}"'))
    assert len(found) == bool(named) and all(named in each.message for each in found)


OF_SERVICE = [
    # 141 GB at 2 GB/s
    ("An engine that failed has to serve again within 60 seconds.", "cluster.networks.storage.read"),
    ("Ein Motor muss nach höchstens 60 Sekunden bereit sein.", "cluster.networks.storage.read"),
    ("Un moteur doit démarrer en moins de 90 secondes.", ""),
    # 3 x 30 places for 100 requests
    ("With one node out the service must hold all 100 sessions.", "workload.serving.max_sequences"),
    ("Fällt ein Knoten aus, darf keine Anfrage abgewiesen werden.", "workload.serving.max_sequences"),
    ("Même avec un nœud en maintenance, aucune requête ne doit attendre.", "workload.serving.max_sequences"),
    ("An engine restarts every night, and no call may be turned away meanwhile.", "workload.serving.max_sequences"),
    ("With one node out the service must hold 90 sessions.", ""),
    ("No call may be turned away.", ""),
    # 45,000 x 1.4 + 2,000
    (
        "Every file is read whole. The longest has 45,000 words at 1.4 tokens per word; "
        "2,000 tokens of instructions precede each request.",
        "workload.serving.input_tokens.max",
    ),
    (
        "Jede Akte muss ungekürzt gelesen werden. Die längste hat 42.000 Wörter, ein Wort ergibt 1,5 Token.",
        "workload.serving.input_tokens.max",
    ),
    (
        "Each bundle is read as a whole. A page has 620 tokens; the usual bundle has 48 pages, or 30,000 tokens, "
        "and bundles of up to 100 pages are allowed.",
        "workload.serving.input_tokens.max",
    ),
    (
        "Jede Akte wird ganz gelesen. Eine Seite hat etwa 620 Token; zulässig sind Akten mit bis zu 100 Seiten.",
        "workload.serving.input_tokens.max",
    ),
    ("Each bundle is read as a whole. A page has 620 tokens; bundles of up to 90 pages are allowed.", ""),
    ("Every file is read whole. The longest has 40,000 words at 1.4 tokens per word.", ""),
    ("The longest file has 45,000 words at 1.4 tokens per word, and is split.", ""),
]


@pytest.mark.parametrize(("text", "key"), OF_SERVICE)
def test_a_demand_on_a_service_is_reported_at_its_key(check: Check, text: str, key: str) -> None:
    found = findings_of_demands(check, SERVICE.format(text=f'"{text}"'))
    assert [".".join(map(str, each.path)) for each in found] == [key] * bool(key), [each.message for each in found]


WORDS = [
    ("New weights must reach all engines within 20 seconds.", "weight transfer", 20.0),
    ("Die neuen Gewichte müssen nach spätestens 20 Sekunden bei den Engines ankommen.", "weight transfer", 20.0),
    ("Les nouveaux poids doivent arriver aux moteurs en 20 secondes au plus.", "weight transfer", 20.0),
    ("The acceptance has a window of 48 hours.", "acceptance time", 172800.0),
    ("Für die Abnahme steht ein Zeitfenster von 48 Stunden zur Verfügung.", "acceptance time", 172800.0),
    ("A row may draw at most 120 kW.", "row power", 120e3),
    ("Un componente averiado debe sustituirse en 6 horas.", "repair time", 21600.0),
    ("Ein defektes Bauteil muss binnen 6 Stunden ausgetauscht sein.", "repair time", 21600.0),
]


@pytest.mark.parametrize(("text", "subject", "value"), WORDS)
def test_a_demand_names_its_quantity(text: str, subject: str, value: float) -> None:
    assert {each.subject.name: each.value for each in demands_in(text)} == {subject: pytest.approx(value)}
