"""What the demands of texts on a job are about: its steps, throughput, checkpoints, data, interruptions and memory."""

from __future__ import annotations

from clusterspec.rules.knowledge.demand_subjects import ABOVE, CAPPED, FLOORED, Subject

# fmt: off
WORDS: tuple[tuple[str, str], ...] = (
    ("onestep", "step steps schritt schritte schritts étape étapes paso pasos passo passi passos krok kroku kroki iteration itération iteración iterazione iteração iteracja update"),
    ("throughword", "throughput durchsatz débit rendimiento caudal velocità throughput_of taxa przepustowość przepustowości emit emits generate generates deliver delivers produce produces leave erzeugen erzeugt liefern générer génère produire generar genera producir generare produrre gerar gera produzir generować"),
    ("allthings", "together all whole total machine service engines insgesamt zusammen gesamt* dienst système conjunto servicio servicios máquina macchina servizio insieme serviço serviços usługa razem"),
    ("mfuword", "mfu model_flops_utilization model_flop_utilization flops_utilization modellauslastung"),
    ("bubbleword", "bubble bubbles blase pipelineblase bulle bulles burbuja burbujas bolla bolle bolha bolhas"),
    ("commword", "communication communications communicate kommunikation comunicación comunicazione comunicação komunikacja komunikacji"),
    ("exposedword", "exposed hidden hide unhidden not_overlapped unoverlapped visible sichtbare* nicht_überlappt* exposée expuesta exponida esposta exposta odsłonięta"),
    ("mtbfword", "mean_time_between mtbf mtbi mean_time_to_interruption time_between_interruptions time_between_failures mittlere_betriebsdauer temps_moyen_entre tiempo_medio_entre tempo_medio_tra tempo_médio_entre średni_czas_między"),
    ("seenfailure", "noticed notice detected detect detection recognized bemerkt erkannt détecté détectée detectad* rilevat* notad* wykryt* zauważ*"),
    ("reorder", "reordered re-ordered reorder reorders replenish* nachbestell* réapprovisionn* recommandée* reposición reposiciones riordin* reposição domówion*"),
    ("writtenword", "reach reaches reached written écrit écrite écrits geschrieben escrito escrita scritto scritta gravado gravada zapisany zapisane zapisana"),
    ("occupy", "occupy occupies occupied belegen belegt occuper occupe occupent ocupar ocupa ocupan occupare occupano occupa ocupam zajmować zajmują zajmuje 占用 収"),
    ("oneword", "single one each every a an ein einen einer jede* einzelne* un une chaque uno una cada ogni singolo singola um uma jeden jedna każdy"),
    ("weightsword", "weights gewichte gewichten poids_du_modèle pesos pesi wagi wag"),
    ("activationword", "activations activation aktivierungen activaciones attivazioni ativações aktywacje aktywacji"),
    ("optimizerword", "optimizer optimiser optimizer_states optimierer* optimiseur optimizador ottimizzatore otimizador optymalizator*"),
    ("laidout", "laid_out_for planned_for fixed_at tuned_for ausgelegt_auf festgelegt_auf prévu_pour fixé_à previsto_para fijado_en previsto_per fissato_a zaplanowan*"),
    ("cacheword", "cache caches kv-cache kv_cache key-value antémémoire caché zwischenspeicher"),
    ("interrupts", "interruption interruptions failure failures crash crashes unterbrechung* ausfall ausfälle ausfällen interrupción interrupciones fallo fallos interruzione interruzioni guasto guasti interrupção interrupções falha falhas przerwa przerwy przerw awaria awarie awarii panne pannes"),
    ("includesredo", "including restart with_restart back_on including_the_work all_in altogether repeated einschließlich inklusive compris comprise incluido incluida compreso compresa incluindo incluída wraz łącznie"),
    ("upper", "larger_than bigger_than greater_than größer_als plus_grand_que más_grande_que più_grande_di maior_que większy_niż faster_than schneller_als plus_rapide_que más_rápido_que più_veloce_di mais_rápido_que szybszy_niż"),
    ("limitword", "longer_than länger_als plus_longtemps_que"),
    ("quotaword", "quota quotas kontingent cupo cota contingent contingente"),
    ("worstword", "worst schlimmsten schlimmstenfalls pire peor peggiore peggio pior najgorszym"),
)
# fmt: on
_CAPS = ("most", "ceil", "upper", "limitword", "permits")
_FLOORS = ("least", "floor", "lower", "must", "duty")
_STRICT = ("most", "ceil", "upper", "limitword")


def _bound(*subjects: str, by: tuple[str, ...] = _CAPS) -> str:
    """Sets of meanings with one of the meanings that bind."""
    return " ".join(f"{subject}+{each}" for subject in subjects for each in by)


JOB_SUBJECTS = (
    Subject(
        "free storage",
        "size",
        FLOORED,
        _bound("store+leftover", by=_FLOORS),
        "hostram devicemem gpumemory each drive",
        1e11,
        90,
    ),
    Subject(
        "size of kept checkpoints",
        "size",
        ABOVE,
        _bound("checkpoint+keeps", "checkpoint+kept", "checkpoint+occupy", by=_STRICT)
        + " checkpoint+keeps+occupy checkpoint+kept+occupy checkpoint+quotaword",
        "hostram devicemem gpumemory leftover stored oneword",
        1e10,
        90,
    ),
    Subject(
        "size of a checkpoint",
        "size of a checkpoint",
        ABOVE,
        _bound("checkpoint+oneword", by=_STRICT),
        "hostram devicemem gpumemory leftover stored keeps kept",
        1e8,
        90,
    ),
    Subject(
        "share of pauses",
        "share of a time",
        ABOVE,
        _bound("checkpoint+pausing", by=_STRICT),
        "interrupts delivery repair",
        0.0,
        90,
        0.5,
    ),
    Subject(
        "size of the data set",
        "size",
        ABOVE,
        _bound("corpusword", by=("ceil", "upper", "limitword")),
        "kept keeps store checkpoint dayword leftover each prompt answer hostram gpumemory",
        1e9,
        60,
    ),
    Subject(
        "step time",
        "time",
        ABOVE,
        _bound("onestep", by=(*_STRICT, "must")),
        "checkpoint pertoken firstword restart interrupts repair delivery !weightword !newweights bubbleword commword",
        0.001,
        80,
        7200.0,
    ),
    Subject(
        "throughput",
        "tokens/s",
        FLOORED,
        _bound("throughword", "allthings", by=_FLOORS),
        "each mean read prompt answer",
        10.0,
        90,
    ),
    Subject("throughput of a device", "tokens/s of a device", FLOORED, "least floor must duty lower", "mean prompt", 1.0, 90),
    Subject("utilization of the peak", "share", FLOORED, _bound("mfuword", by=_FLOORS), "mean", 0.02, 90, 0.9),
    Subject("pipeline bubble", "share", ABOVE, _bound("bubbleword", by=_CAPS), "mean", 0.001, 90, 0.9),
    Subject("exposed communication", "share", ABOVE, _bound("commword+exposedword", by=_CAPS), "mean", 0.001, 110, 0.9),
    Subject(
        "steps",
        "steps",
        CAPPED,
        "stepword+laidout",
        "mean each",
        100,
        60,
    ),
    Subject(
        "cost of an interruption",
        "time",
        ABOVE,
        _bound("interrupts+mean", by=_STRICT),
        "delivery warranty response mtbfword seenfailure",
        30.0,
        110,
        86400.0,
    ),
    Subject(
        "worst interruption",
        "time",
        ABOVE,
        _bound("interrupts+worstword", by=_STRICT) + " interrupts+worstword+rollback",
        "delivery warranty response mtbfword seenfailure",
        30.0,
        110,
        86400.0,
    ),
    Subject("interruptions of the run", "failures", ABOVE, _bound("runword", "run", by=_STRICT), "each dayword yearword nodeend", 1, 90),
    Subject("time between interruptions", "time between failures", FLOORED, _bound("mtbfword", by=_FLOORS), "nodeend each", 60.0, 110),
    Subject(
        "detection",
        "time",
        ABOVE,
        _bound("seenfailure+interrupts", "seenfailure+lossevent", by=_STRICT),
        "delivery warranty checkpoint",
        0.0,
        90,
        86400.0,
    ),
    Subject("lead time of spares", "time", ABOVE, _bound("reorder", by=(*_STRICT, "must")), "warranty", 86400.0, 90),
    Subject(
        "free memory of a device",
        "size of a device",
        FLOORED,
        _bound("devicemem+leftover", "gpumemory+leftover", by=_FLOORS),
        "nodeend checkpoint stored store",
        1e8,
        90,
        1e12,
    ),
    Subject(
        "weights on a device",
        "size of a device",
        ABOVE,
        _bound("weightsword+devicemem", by=_CAPS),
        "checkpoint stored store leftover transfer",
        1e8,
        90,
        1e12,
    ),
    Subject(
        "activations on a device",
        "size of a device",
        ABOVE,
        _bound("activationword", by=_CAPS),
        "checkpoint stored store leftover hostram",
        1e8,
        90,
        1e12,
    ),
    Subject(
        "memory of a device",
        "size of a device",
        ABOVE,
        _bound("devicemem+perword", by=_STRICT),
        "checkpoint stored store leftover hostram nodeend cacheword weightsword activationword optimizerword !weightsword !cacheword",
        1e9,
        60,
        1e12,
    ),
)  # fmt: skip
"""Subjects of demands on a job."""
