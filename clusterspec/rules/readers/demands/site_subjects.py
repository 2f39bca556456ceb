"""What the demands of texts on power and space are about: what stays free, steps of the load, a run's energy, rows, reserve power."""

from __future__ import annotations

from functools import partial

from clusterspec.rules.readers.demands.subjects import ABOVE, CAPPED, FLOORED, Subject, bound_meanings

# fmt: off
WORDS: tuple[tuple[str, str], ...] = (
    ("otherthing", "office offices wages salary salaries travel conference student students scholarship telephone phone helpdesk cleaning lamp lamps school clinic hospital visualisation visualization web website browser cookie cookies database sql tokenizer evaluation eval pilot text-to-speech speech embedding laptop workstation paper papers blog damage event events language languages raw staff_budget budget_for_staff personnel_budget housekeeping canteen building_management monitoring shard shards architect dashboard portal log logs"),
    ("otherthing", "büro büros gehälter gehalt reise* konferenz studierende* stipendi* telefon* reinigung* schule klinik krankenhaus webseite* datenbank* auswertung* laptop* arbeitsplatz* veröffentlichung* schaden* schäden ereignis* sprache roh* personalbudget protokoll*"),
    ("otherthing", "bureau bureaux salaire* voyage* conférence étudiant* bourse* téléphone nettoyage école clinique hôpital site_web navigateur base_de_données évaluation ordinateur_portable article* dommage* sinistre* langue* brut bruts"),
    ("otherthing", "oficina oficinas salario* viaje* conferencia estudiante* beca becas teléfono limpieza escuela clínica página_web navegador base_de_datos evaluación portátil artículo* daño daños siniestro* idioma* bruto brutos"),
    ("otherthing", "ufficio uffici viaggi* conferenza student* borsa telefono pulizia scuola clinica sito valutazione portatile articol* danno danni sinistr* lingua grezzo grezzi"),
    ("otherthing", "escritório escritórios viagens conferência estudantes bolsa telefone limpeza escola avaliação notebook artigo* dano danos sinistro* língua biuro biura pensje podróże konferencja studenci stypendi* telefon sprzątanie szkoła klinika przeglądarka ocena artykuł szkoda szkody język surowe"),
    ("leftover", "unused untouched unclaimed spare_capacity libre libres queden liberi libere restino rimanere livre livres fiquem wolne wolny wolnych pozostało pozostaną pozostać pozostawić"),
    ("reservedpower", "power_reserve reserve below_its_limit below_the_limit below_its_breaker below_the_breaker below_its_rating unter_der_grenze sous_la_limite por_debajo_del_límite sotto_il_limite abaixo_do_limite poniżej_limitu headroom margin buffer cushion reserve_power leistungsreserve reserve_an puffer réserve_de_puissance marge reserva_de_potencia reserva_de_potência margen riserva_di_potenza margine margem rezerwa rezerwę rezerwy zapas zapasu"),
    ("unworked", "no_job_runs no_jobs_run without_any_job no_training_runs keine_jobs kein_job_läuft aucun_travail_ne_tourne bezczynności"),
    ("rowof", "row_of_racks row_of_our_racks rows_of_racks rack_row row_of_cabinets reihe_von_schränken schrankreihe schrankreihen rackreihe rackreihen rangée_de_baies fila_de_racks fila_de_armarios fila_di_rack fila_di_armadi fileira_de_racks rząd_szaf rzędu_szaf rzędzie_szaf"),
    ("loadstep", "load_step load_steps load_drop load_rejection step_change_of_load drop_of_load drop_in_load sudden_drop lastsprung lastsprünge lastabwurf à-coup saut_de_charge délestage_brutal chute_de_charge salto_de_carga escalón_de_carga caída_de_carga gradino_di_carico salto_di_carico degrau_de_carga queda_de_carga skok_obciążenia skoku_obciążenia"),
    ("swingword", "swing swings oscillat* fluctuat* power_variation power_variations ripple leistungsschwankung* schwankung* schwankt schwanken variation_de_puissance variations_de_puissance oscille* variación_de_potencia oscila* oscilación oscilaciones oscillazion* variazione_di_potenza variazioni_di_potenza oscilação oscilações variação_de_potência wahania wahań wahać"),
    ("reservefeed", "ups uninterruptible generator generators genset gensets diesel battery_backup usv notstrom* notstromaggregat* dieselaggregat* onduleur* groupe_électrogène groupes_électrogènes sai grupo_electrógeno gruppo_elettrogeno gruppo_di_continuità no-break gerador* agregat* zasilacz_awaryjny"),
    ("wholeload", "all everything whole full entire gesamte* ganze* volle* alles toute tout totale pleine toda todo total completa tutta tutto intera cał*"),
    ("runword", "treningu trenowania campaña campagna"),
    ("cduword", "one_cdu_out cdu cdus coolant_distribution_unit* cooling_distribution_unit* kühlmittelverteiler* kühlverteiler* unité_de_distribution unidad_de_distribución unità_di_distribuzione unidade_de_distribuição"),
    ("outword", "one_out one_unit_out one_cdu_out out_for_maintenance out_of_service out_of_operation without_one one_of_them_off in_maintenance being_serviced ausfall_einer ausfällt außer_betrieb in_wartung hors_service en_maintenance en_panne fuera_de_servicio en_mantenimiento fuori_servizio in_manutenzione fora_de_serviço em_manutenção wyłączon* w_serwisie"),
    ("sharedout", "of_this of_these of_which thereof davon hiervon wovon dont di_cui de_ello de_los_cuales de_las_cuales dei_quali delle_quali disso dos_quais das_quais z_tego z_czego"),
    ("takesheat", "takes take accept accepts absorb absorbs carries removes nimmt aufnehmen übernimmt prend absorbe évacue toma evacua prende assorbe smaltisce recebe absorve retira odbiera przejmuje"),
    ("covers", "umfasst beinhaltet comprend comprende abarca prévoit prevé prevede prevê obejmuje przewiduje includes include"),
    ("limitword", "limitad* limité* ograniczon* all_that_fits nothing_more_fits not_one_more_fits mehr_passt_nicht mehr_passen_nicht rien_de_plus_ne_rentre no_cabe_más no_caben_más non_ce_ne_stanno_altri não_cabe_mais więcej_się_nie_zmieści any_further any_additional any_more jede_weitere jeder_weitere toute_baie_supplémentaire cualquier_otro ogni_ulteriore qualquer_rack_a_mais każda_kolejna"),
    ("emission", "emission emissions emitted footprint emissionen treibhausgas* émissions émission emisiones emissioni emissões emisje emisji ślad_węglowy"),
)
# fmt: on
_CAPS = ("most", "ceil", "upper", "limitword", "permits")
_FLOORS = ("least", "floor", "lower", "must", "duty")
_bound = partial(bound_meanings, by=_CAPS)
"""Sets of meanings with one of the meanings that bind."""


SITE_SUBJECTS = (
    Subject(
        "free power",
        "watts",
        FLOORED,
        _bound("leftover", "reservedpower", by=_FLOORS),
        "!rack !rowof backup reservefeed psu pdu each cooling heat unworked loadstep cduword outword fails removing",
        1e3,
        80,
    ),
    Subject(
        "free power of a rack",
        "watts of a rack",
        FLOORED,
        _bound("rack+leftover", "rack+reservedpower", by=_FLOORS),
        "rowof reservefeed cooling heat unworked budgeted store",
        100.0,
        80,
    ),
    Subject("energy of a run", "energy", ABOVE, _bound("runword", by=_CAPS), "mean each yearword", 0.0, 130),
    Subject(
        "carbon of a run",
        "carbon",
        ABOVE,
        _bound("runword", by=(*_CAPS, "gives", "budgeted")),
        "mean yearword",
        0.0,
        130,
    ),
    Subject("load step", "watts", ABOVE, _bound("loadstep", by=(*_CAPS, "must")), "rack each nodeend", 1e3, 110),
    Subject("swing of a step", "watts", ABOVE, _bound("swingword", by=(*_CAPS, "must")), "rack each nodeend", 1e3, 110),
    Subject(
        "reserve supply",
        "watts",
        ABOVE,
        _bound("reservefeed+wholeload", by=("gives", "most", "must", "duty")),
        "each rack cooling heat money",
        2e3,
        130,
    ),
    Subject(
        "reserve supply",
        "watts",
        ABOVE,
        _bound("reservefeed+wholeload+rack", by=("gives", "most", "must", "duty")),
        "each cooling heat money rowof",
        2e3,
        130,
    ),
    Subject("rows of racks", "rows", ABOVE, _bound("rowof", by=(*_CAPS, "gives", "covers")), "mean networkword", 1, 60, 200),
    Subject(
        "coolant without a unit",
        "watts",
        FLOORED,
        _bound("cduword+outword", "cduword+fails", by=_FLOORS),
        "each rack toair",
        2e3,
        130,
    ),
    Subject(
        "heat to water",
        "watts",
        CAPPED,
        "towater+takesheat",
        "each district rowof toair !toair nodeend outword !sharedout",
        2e3,
        60,
    ),
)  # fmt: skip
"""Subjects of demands on power and space."""
