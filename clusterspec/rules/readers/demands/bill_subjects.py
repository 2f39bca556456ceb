"""What the demands of texts on money are about: rents, instalments, costs of running, the price of a run and of its parts."""

from __future__ import annotations

from functools import partial

from clusterspec.rules.readers.demands.subjects import ABOVE, FLOORED, Subject, bound_meanings

# fmt: off
WORDS: tuple[tuple[str, str], ...] = (
    ("costword", "cost costs costing price priced prices pay pays paid bill bills expense* spend spends spending kosten kostet koste preis* *preis coût* coûte* prix pay* dépens* coste* cuesta* cost* precio* pag* gasta* gasto* costi costa costano costare prezz* spes* custo* custa* preço* gast* koszt* cena ceny kosztow* zapłac*"),
    ("rentword", "rent rents rental rentals renting hire lease leasing cloud_bill monthly_bill miete mieten *miete mietpreis* mietkosten mietzins loyer* location alquiler* arrendamiento* affitto affitti noleggio canone canoni aluguel alugueis aluguéis arrendamento czynsz* najem najmu wynajem wynajmu"),
    ("rackrentword", "rack_rent rack_rents rent_of_the_racks rent_for_the_racks rental_of_racks schrankmiete rackmiete stellplatzmiete miete_der_schränke miete_der_racks loyer_des_baies location_des_baies alquiler_de_los_racks alquiler_de_racks alquiler_de_los_armarios affitto_dei_rack canone_dei_rack aluguel_dos_racks aluguel_de_racks czynsz_za_szafy najem_szaf wynajem_szaf rack_rent_per_month"),
    ("energyword", "energy electricity strom* energiekosten énergie électricité électrique electricidad eléctrica energía elettricità elettrica energia eletricidade elétrica prąd prądu energii energię"),
    ("runningcost", "operating_cost* running_cost* operating_expense* operational_expense* opex betriebskosten betriebsausgaben laufende_kosten laufenden_kosten coûts_d'exploitation charges_d'exploitation frais_d'exploitation dépenses_de_fonctionnement costes_operativos gastos_operativos costes_de_operación gastos_de_explotación costi_operativi costi_di_gestione costi_di_esercizio custos_operacionais despesas_operacionais koszty_operacyjne kosztów_operacyjnych koszty_eksploatacji koszty_utrzymania"),
    ("wholecost", "total_cost_of_ownership tco total_cost total_costs whole_life_cost* lifetime_cost* gesamtkosten coût_total coût_global coût_complet coste_total costo_total costo_totale costo_complessivo custo_total całkowity_koszt koszt_całkowity łączny_koszt"),
    ("costparts", "hardware_support_and_energy purchase_and_operation capex_and_opex hardware_and_operation anschaffung_und_betrieb kauf_und_betrieb achat_et_exploitation compra_y_operación compra_y_explotación acquisto_e_gestione compra_e_operação zakup_i_eksploatacja"),
    ("amortword", "depreciation depreciated write-off amortization amortisation abschreibung* amortissement* amortización depreciación ammortamento ammortamenti amortização depreciação amortyzacj*"),
    ("devicehour", "gpu-hour gpu-hours gpu_hour accelerator-hour accelerator_hour hour_of_a_gpu card-hour gpu-stunde gpu-stunden beschleunigerstunde* heure_gpu heure-gpu heure_de_gpu hora_de_gpu hora-gpu ora_di_gpu ora-gpu hora_gpu godzina_gpu godzinę_gpu"),
    ("milliontokens", "million_tokens million_output_tokens million_generated_tokens million_of_tokens one_million_tokens mio_token million_token millionen_token million_de_jetons million_de_tokens millón_de_tokens milione_di_token milhão_de_tokens milion_tokenów mln_tokenów 1m_tokens 1000000_tokens"),
    ("runcost", "run runs_like training_run training pretraining pre-training fine-tuning campaign job lauf trainingslauf vortraining entraînement pré-entraînement campagne entrenamiento campaña addestramento campagna treinamento treino trening treningu trenowanie"),
    ("networkword", "network networking fabric netz netzwerk* réseau red rete rede sieć sieci interconnect"),
    ("otherlines", "staff wages salaries salary travel insurance personnel personal* gehälter löhne salaires personale salari salarios pessoal salários płac wynagrodze* building construction conversion cleaning umbau bau travaux obras lavori"),
    ("budgetword", "budget budgets funds haushalt* mittel crédits presupuesto* bilancio fondi orçamento* verba* budżet*"),
    ("reserveword", "reserve reserves contingency buffer cushion margin headroom reserve_for rücklage* puffer polster reserven réserve* marge coussin reserva* margen colchón riserva riserve margine reserva margem rezerw* zapas*"),
    ("orderpay", "first_instalment first_installment initial_instalment initial_payment instalment_on_order erste_rate ersten_rate bei_der_bestellung anzahlung premier_versement premier_acompte acompte primer_plazo primera_cuota primer_pago prima_rata acconto primeira_parcela sinal pierwsza_rata pierwszej_raty zaliczk* with_the_order on_order at_order upon_order on_placing_the_order down_payment prepayment bei_bestellung mit_der_bestellung à_la_commande al_hacer_el_pedido con_el_pedido all'ordine no_pedido com_o_pedido przy_zamówieniu"),
    ("deliverypay", "on_delivery upon_delivery at_delivery when_delivered delivery_instalment second_instalment bei_lieferung bei_der_lieferung à_la_livraison a_la_entrega en_la_entrega alla_consegna na_entrega przy_dostawie"),
    ("acceptpay", "on_acceptance at_acceptance upon_acceptance after_acceptance until_acceptance final_instalment last_instalment bei_abnahme bei_der_abnahme bis_zur_abnahme nach_abnahme letzte_rate schlussrate à_la_réception à_la_recette jusqu'à_la_réception jusqu'à_la_recette dernier_versement en_la_aceptación a_la_aceptación hasta_la_aceptación último_pago al_collaudo fino_al_collaudo ultima_rata na_aceitação até_a_aceitação até_à_aceitação última_parcela przy_odbiorze do_odbioru ostatnia_rata"),
    ("outstanding", "outstanding unpaid owed withheld retained held_back still_due open zurückbehalten einbehalten offen ausstehend dû dus retenu retenus impayé pendiente* retenid* pendente* retid* trattenut* scopert* da_pagare nieopłacon* wstrzyman* zatrzyman* do_zapłaty"),
    ("wholeterm", "together in_total altogether add_up adds_up over_the_term whole_term entire_term months_of_rent whole_rent entire_rent zusammen insgesamt gesamte_laufzeit au_total en_tout sur_la_durée en_total en_conjunto durante_el_plazo in_totale complessivamente no_total ao_todo łącznie razem"),
    ("savingword", "bring brings save saves saving savings yield yields spare bringt bringen einspar* erspar* rapporte* économis* aport* ahorr* frutt* risparmi* econom* poupa* oszczędn* przynieś* przynosi"),
    ("fineword", "penalty penalties liquidated damages fined vertragsstrafe* bußgeld pénalité* amende* penalización penalizaciones multa multas penale penali penalidade* kara kary"),
    ("rentword", "months_of_rent monate_miete mois_de_loyer meses_de_alquiler mesi_di_affitto mesi_di_noleggio meses_de_aluguel"),
    ("wholeterm", "total_rent gesamtmiete loyer_total alquiler_total affitto_totale aluguel_total"),
    ("networkpart", "hardware machine_money hardware_money anschaffung matériel hardware_budget equipos equipamiento equipamento apparecchiature sprzęt"),
    ("allnodes", "nodes servers knoten nœuds noeuds serveurs nodos servidores nodi nós węzły węzłów serwery serwerów"),
    ("limitword", "no_puede_pasar_de no_pueden_pasar_de no_debe_pasar_de no_deben_pasar_de não_pode_passar_de não_deve_passar_de não_podem_passar_de não_devem_passar_de non_può_passare nie_może_przekroczyć nie_mogą_przekroczyć nie_może_być_wyższy nie_może_być_wyższa"),
    ("maycost", "may_cost can_cost could_cost darf_kosten dürfen_kosten peut_coûter peuvent_coûter puede_costar pueden_costar può_costare possono_costare pode_custar podem_custar może_kosztować mogą_kosztować"),
    ("costword", "may_cost can_cost darf_kosten dürfen_kosten peut_coûter peuvent_coûter puede_costar pueden_costar può_costare possono_costare pode_custar podem_custar może_kosztować mogą_kosztować"),
    ("bought", "purchase order_value machine hardware equipment whole_system whole_cluster anschaffung beschaffung kauf* maschine anlage achat matériel machine* équipement compra máquina equipamiento hardware_comprado acquisto macchina apparecchiature equipamento zakup* sprzęt sprzętu maszyn*"),
    ("covers", "covers cover insurer insures insured insurance_sum deckt versichert* couvre assure assureur cubre asegura* copre assicura* cobre segura* pokrywa ubezpiecz*"),
    ("perword", "per pro je par por za each every apiece jede* chaque cada ogni ciascun* każd*"),
    ("hourword", "per_hour an_hour hourly each_hour je_stunde pro_stunde stündlich par_heure horaire por_hora all'ora orario na_godzinę za_godzinę"),
)
"""Words of the demands on money. One row holds the words of one meaning; `_` joins the words of a phrase, and `*` stands for any
further letters.
"""
# fmt: on
_CAPS = ("ceil", "limitword", "permits", "maycost", "must+upper", "must+most")
"""Meanings of an upper limit."""
_FLOORS = ("least", "floor", "lower", "must", "duty")
_GRANTS = (*_CAPS, "budgeted")
"""Meanings of an upper limit, or of money that somebody gives."""
_bound = partial(bound_meanings, by=_CAPS)
"""Sets of meanings with one of the meanings that bind."""


_OTHER = "fineword servicenot otherlines"
BILL_SUBJECTS = (
    Subject("rent of racks", "money rate", ABOVE, _bound("rackrentword", "rack+rentword", by=_GRANTS), _OTHER, 0.0, 110),
    Subject(
        "rent of nodes",
        "money rate",
        ABOVE,
        _bound("rentword", "slot", by=_GRANTS),
        f"{_OTHER} rack rackrentword each devicehour tariff service",
        0.0,
        110,
    ),
    Subject(
        "rent over the term",
        "money",
        ABOVE,
        _bound("rentword+wholeterm", by=_GRANTS),
        f"{_OTHER} rack rackrentword each devicehour",
        1e3,
        110,
    ),
    Subject("price of a device hour", "money", ABOVE, _bound("devicehour", by=_GRANTS), "fineword", 0.0, 90, 1e3),
    Subject(
        "yearly price of energy",
        "money rate",
        ABOVE,
        _bound("energyword", by=_GRANTS),
        "fineword mean service rentword cooling",
        0.0,
        90,
    ),
    Subject("price of support", "money rate", ABOVE, _bound("service", by=_GRANTS), _OTHER, 0.0, 70),
    Subject(
        "support over the term",
        "money",
        ABOVE,
        _bound("service+wholeterm", "service+lifetime", by=_GRANTS),
        f"{_OTHER} each",
        1e3,
        90,
    ),
    Subject("running costs", "money rate", ABOVE, _bound("runningcost", by=_GRANTS), _OTHER, 0.0, 110),
    Subject("depreciation", "money rate", ABOVE, _bound("amortword", by=_CAPS), _OTHER, 0.0, 140),
    Subject("cost over the term", "money", ABOVE, _bound("wholecost", "costparts", by=_GRANTS), "each rentword milliontokens", 1e4, 110),
    Subject(
        "price of a run",
        "money",
        ABOVE,
        _bound("runcost+costword", by=_CAPS),
        "each milliontokens devicehour fineword stepword service energyword wholecost",
        10.0,
        90,
    ),
    Subject(
        "price of a million tokens",
        "money of tokens",
        ABOVE,
        _bound("milliontokens", by=_CAPS),
        "prompt",
        0.0,
        60,
        1e3,
    ),
    Subject(
        "price of a step",
        "money of a step",
        ABOVE,
        _bound("stepword+costword", by=_CAPS),
        "milliontokens each runcost",
        0.001,
        60,
        1e5,
    ),
    Subject(
        "price of the nodes",
        "money",
        ABOVE,
        _bound("allnodes+costword", "allnodes+budgeted", by=_CAPS),
        "each networkword store service rentword milliontokens spare hourword wholecost energyword",
        1e4,
        90,
    ),
    Subject(
        "reserved hours",
        "accelerator hours",
        ABOVE,
        _bound("slot", "commit", "rentword", by=(*_CAPS, "duty")),
        "run runcost each",
        3600.0,
        90,
    ),
    Subject(
        "hours of the run",
        "accelerator hours",
        ABOVE,
        _bound("run", "runcost", by=_CAPS),
        "each slot dayword yearword",
        3600.0,
        90,
    ),
    Subject("hours of the run", "accelerator hours", ABOVE, "ceil upper limitword permits", "mean each fails rentword commit", 3.6e6, 120),
    Subject("price of a request", "money of a request", ABOVE, _bound("answer+costword", "question+costword", "prompt+costword", by=_CAPS), "milliontokens", 0.0, 60, 100.0),
    Subject(
        "price of the purchase",
        "money",
        ABOVE,
        _bound("bought+costword", "bought+covers", "bought+budgeted", by=_CAPS),
        "each networkword store service rentword milliontokens devicehour hourword yearword wholecost costparts energyword "
        "orderpay deliverypay acceptpay prepaid unaccepted nodeend runningcost budgetword reserveword spare stepword runcost amortword "
        "outstanding savingword fineword otherlines allnodes rack",
        1e5,
        90,
    ),
    Subject(
        "price of a device",
        "money",
        ABOVE,
        _bound("perword+devicemem+costword", by=_CAPS),
        "devicehour hourword yearword rentword milliontokens",
        1e3,
        90,
    ),
    Subject(
        "instalment with the order",
        "money",
        ABOVE,
        _bound("orderpay", by=(*_GRANTS, "gives")) + " " + _bound("advance"),
        "each prepaid !prepaid unaccepted !unaccepted fineword outstanding",
        1e3,
        110,
    ),
    Subject(
        "instalment on delivery",
        "money",
        ABOVE,
        _bound("deliverypay", "ondelivery", by=_CAPS),
        "each fineword prepaid unaccepted outstanding",
        1e3,
        110,
    ),
    Subject(
        "instalment after acceptance",
        "money",
        FLOORED,
        _bound("acceptpay+outstanding", by=_FLOORS),
        "each prepaid",
        1e3,
        110,
    ),
    Subject("saved by the discount", "money", FLOORED, _bound("discount+savingword", by=_FLOORS), "each", 1e3, 90),
    Subject(
        "price of the network",
        "money",
        ABOVE,
        _bound("networkword+costword", by=_CAPS),
        "each wholecost store service",
        1e4,
        220,
    ),
    Subject(
        "share of the network",
        "share",
        ABOVE,
        _bound("networkword+money", "networkword+costword", "networkword+budgeted", "networkword+networkpart", by=_CAPS),
        "discount tax advance retain each",
        0.005,
        110,
        0.6,
    ),
    Subject(
        "rest of the budget",
        "money",
        FLOORED,
        _bound("budgetword+reserveword", "budgetword+leftover", by=_FLOORS),
        "each fineword",
        1e3,
        110,
    ),
)  # fmt: skip
"""Subjects of demands on money."""
