"""Words of the demands on quantities that follow from a design: heat, energy, passes over data, work lost after a failure, totals.

One row holds the words of one meaning in one language. `_` joins the words of a phrase, and `*` stands for any further letters at
the start or the end of a word.
"""

from __future__ import annotations

from clusterspec.rules.readers.demands.answer_subjects import WORDS as ANSWER_WORDS
from clusterspec.rules.readers.demands.bill_subjects import WORDS as BILL_WORDS
from clusterspec.rules.readers.demands.fabric_subjects import WORDS as FABRIC_WORDS
from clusterspec.rules.readers.demands.job_subjects import WORDS as JOB_WORDS
from clusterspec.rules.readers.demands.site_subjects import WORDS as SITE_WORDS

# fmt: off

WORDS: tuple[tuple[str, str], ...] = (
    # how a figure binds, beyond the words of all demands
    ("upper", "not_exceed never_exceed cannot_exceed not_surpass no_higher_than not_above never_above no_longer_than not_longer_than capped_at within in_under under below maximum max maximal nicht_über nie_über unter innerhalb pas_dépasser ne_dépass* jamais_dépass* sans_dépasser moins_de no_superar* no_supere* no_exced* sin_superar menos_de non_supera* non_superi* non_oltre meno_di entro niet_meer_dan niet_boven nooit_meer minder_dan binnen não_ultrapass* não_exced* não_pode_ultrapassar najwyżej nie_więcej_niż maksymalnie"),
    ("limitword", "not_one_more not_one_rack_more keinen_mehr kein_einziger_mehr no_more not_more nothing_more nothing_beyond nicht_mehr mehr_nicht nichts_mehr pas_davantage pas_un_de_plus nada_más ni_uno_más niente_di_più meer_niet niet_meer e_não_mais nic_więcej limit limits limited cap caps capped more_than exceed* ceiling begrenz* beschränk* mehr_als überschreit* obergrenze deckel* plafon* limite limitent plus_de dépass* limita limitan más_de super* tope limitat* più_di tetto begren* meer_dan overschr* plafond mais_de ultrapass* teto ogranicz* przekracz* więcej_niż zabrania zakazuje"),
    ("lower", "not_below never_below not_fall_below no_fewer_than not_fewer_than never_less_than not_under nicht_unter nie_unter pas_moins_de jamais_moins_de no_menos_de nunca_menos_de no_bajar_de non_meno_di mai_meno_di niet_minder_dan niet_onder nooit_minder_dan não_menos_de nie_mniej_niż minimum"),
    ("binds", "najwyżej maksymalnie nie_więcej_niż nie_mniej_niż co_najmniej musi muszą może mogą wolno umow* umowa warunk* wymaga wymagan* limit* dopuszcza dopuszczaln* grant* licencj* ustawa regulamin* gwarantuj* przyjmuje obowiąz*"),
    ("binds", "carry carries absorb* remove* reject* evacuate* dispose*"),
    ("binds", "nimmt nehmen führ* aufnehmen aufnimmt abführ* schafft schaffen verträgt verkraft* entfällt verfällt erlischt verwirkt"),
    ("binds", "évacu* absorb* enlèv* emport* accept* caduc* perdu* perd"),
    ("binds", "evacú* evacu* absorb* retir* disip* admite caduc* pierd* pierde"),
    ("binds", "smalti* asporta* assorb* accetta regge decad* perde"),
    ("binds", "afvoer* neemt opneemt verwerk* vervalt vervallen"),
    ("binds", "dissip* absorv* remov* retir* aceita suporta caduca perde*"),
    ("binds", "otherwise or_else else_the sonst andernfalls ansonsten sinon faute_de_quoi sans_quoi de_lo_contrario en_caso_contrario altrimenti in_caso_contrario zo_niet anders_vervalt caso_contrário senão inaczej w_przeciwnym_razie"),
    # heat
    ("towater", "water water_loop loop loops coolant liquid liquid_loop cold_plates cdu cdus hydronic"),
    ("towater", "wasser* *wasserkreis *wasser kühlkreis* kreislauf* wasserkreis* wasserkreislauf* flüssig*"),
    ("towater", "eau boucle circuit_d'eau circuit_liquide liquide agua circuito circuito_de_agua lazo líquido acqua anello circuito_idraulico liquido water* waterkring* vloeistof* kringloop água circuito_de_água wod* obieg*"),
    ("district", "district_heating heat_network heating_network heat_grid greenhouse* swimming_pool waste_heat_contract heat_customer heat_buyer fernwärme* wärmenetz* nahwärme* wärmeabnehmer* gewächshaus* schwimmbad* réseau_de_chaleur chauffage_urbain serre* piscine red_de_calor calefacción_urbana invernadero* piscina teleriscaldamento rete_di_calore serre warmtenet* stadsverwarming kas kassen zwembad rede_de_calor aquecimento_urbano estufa* sieć_ciepłownicz* sieci_ciepłownicz* ciepłowni*"),
    ("wasteheat", "waste_heat surplus_heat abwärme* chaleur_fatale chaleur_perdue calor_residual calore_di_scarto calore_residuo restwarmte calor_desperdiçado ciepł*_odpadow*"),
    ("devicemem", "accélérateur* acelerador* akcelerator* beschleuniger*"),
    ("heatbuyer", "buy buys bought claim claims entitled entitlement customer* abnehmer* kauft anspruch achète client* droit compra derecho acquista diritto koopt recht kupuje prawo"),
    ("toair", "air room_air ambient crac crah air_handler* air_conditioner* air_conditioning fan_wall*"),
    ("toair", "luft *luft raumluft* umluft* klimaanlage* klimagerät* air_ambiant air_de_la_salle climatiseur* climatisation armoires_de_climatisation aire climatizador* climatización aire_acondicionado aria climatizzator* condizionator* condizionamento lucht airco* ruimtelucht ar ar_condicionado powietrz* klimatyz*"),
    ("heat", "heat thermal heat_load wärme* abwärme *wärme chaleur thermique* calor térmic* calore termic* warmte* ciepł* cieplna cieplnej"),
    ("inclcooling", "cooling_and_losses_included kühlung_und_verluste_eingeschlossen refroidissement_et_pertes_compris refrigeración_y_pérdidas_incluidas raffreddamento_e_perdite_inclusi refrigeração_e_perdas_incluídas koeling_en_verliezen_inbegrepen at_the_meter am_zähler au_compteur en_el_contador en_la_acometida al_contatore no_contador op_de_meter przy_liczniku at_the_point_of_supply at_the_point_of_delivery at_the_connection_point am_übergabepunkt am_netzanschluss am_hausanschluss au_point_de_livraison en_el_punto_de_suministro en_el_punto_de_entrega al_punto_di_consegna no_ponto_de_entrega op_het_overdrachtspunt op_het_leveringspunt w_punkcie_odbioru w_punkcie_przyłączenia kälteanlage_eingeschlossen kälte_eingeschlossen kühlung_eingeschlossen including_cooling with_cooling with_the_cooling including_the_cooling cooling_included plus_cooling and_its_cooling including_chillers mit_kühlung samt_kühlung inklusive_kühlung einschließlich_kühlung einschließlich_der_kühlung mit_der_kühlung und_ihre_kühlung refroidissement_compris avec_le_refroidissement refroidissement_inclus et_son_refroidissement con_refrigeración refrigeración_incluida con_la_refrigeración y_su_refrigeración incluida_la_refrigeración raffreddamento_compreso con_il_raffreddamento raffreddamento_incluso inclusief_koeling met_koeling koeling_inbegrepen com_refrigeração refrigeração_incluída com_arrefecimento arrefecimento_incluído z_chłodzeniem wraz_z_chłodzeniem"),
    ("ofit", "it_load it_equipment it_power *it-last it-leistung it-strom"),
    # power without work
    ("unworked", "jobs_pause* jobs_rest jobs_stop jobs_are_paused jobs_are_stopped jobs_are_halted nothing_runs idle idles idling at_idle no_load without_load without_work without_jobs no_jobs no_job unloaded at_rest stands_still paused demand_response"),
    ("unworked", "ruhen ruht jobs_pausieren nichts_läuft leerlauf* im_leerlauf ohne_last ohne_arbeit unbelastet ruhezustand ruheleistung ohne_jobs untätig"),
    ("unworked", "rien_ne_tourne jobs_sont_arrêtés no_corre_nada ningún_trabajo nessun_lavoro nenhum_trabalho à_vide au_repos sans_charge sans_travail sans_calcul inactive inactif en_reposo sin_carga sin_trabajo inactiv* en_vacío a_vuoto a_riposo senza_carico senza_lavoro inattiv* in_rust onbelast zonder_werk zonder_taken geen_werk stationair em_repouso sem_carga sem_trabalho inativ* bezczynn* bez_obciążenia na_biegu_jałowym"),
    # passes over the data
    ("password", "times passes pass epochs epoch readings sweeps mal durchläufe durchläufen durchgänge durchgängen epochen fois passages passage époques lectures veces pasadas pases épocas volte passate passaggi epoche keer doorgangen leesbeurten vezes passagens razy przebiegi przebiegów epok epoki"),
    ("corpusword", "archive archives collection collections story stories file files document documents corpus data dataset page pages text texts record records example examples book books article articles sample samples image images recording recordings material"),
    ("corpusword", "each_work every_work any_work no_work jedes_werk jedem_werk kein_werk ein_werk chaque_œuvre chaque_ouvrage une_œuvre aucune_œuvre cada_obra ninguna_obra ogni_opera nessuna_opera elk_werk geen_werk każde_dzieło żadne_dzieło"),
    ("copying", "copy copied copies copying download* printed kopier* kopie kopieren heruntergeladen copier copié* télécharg* copiar copiad* descarg* copiare copiat* scaric* gekopieerd downloaden baixar baixad* skopiow* kopiow* pobra*"),
    ("corpusword", "archiv archive sammlung dokument* korpus daten datensatz datensätze seite seiten text texte buch bücher artikel bild bilder aufnahme* material"),
    ("corpusword", "archive archives collection collections story stories file files document* corpus données page* texte* livre* article* exemple* image* enregistrement* documento* datos página* texto* libro* artículo* ejemplo* imagen* imágenes grabacion* documenti documento dati pagina pagine testo testi libro libri articol* esempi* immagini registrazion* gegevens pagina* tekst* boek* artikel* voorbeeld* beeld* opname* dados livro* artigo* exemplo* imagem imagens gravaç* dokument* korpus dane danych stron*"),
    ("stepword", "steps step updates iterations schritte schritten optimierungsschritte étapes pas itérations pasos iteraciones passi iterazioni stappen iteraties passos iterações kroków kroki"),
    ("runword", "run training pretraining pre-training fine-tuning campaign lauf trainingslauf vortraining entraînement pré-entraînement calcul entrenamiento preentrenamiento addestramento preaddestramento treinamento treino trening* uczeni*"),
    # work that a failure costs
    ("rollback", "throw*_back throw_the_model_back thrown_back throws_back set_back sets_back rolled_back roll_back rolls_back rollback fall_back falls_back work_lost lost_work progress lose loses lost recompute* redo redone repeat* recovery_point rpo"),
    ("rollback", "zurückwerf* zurückgeworf* zurückwirf* zurückfallen zurückfällt zurückgesetzt verlier* verloren verlorene verlorenen verlorener verlust* geht_verloren wiederholt wiederholen nachgerechnet wiederherstellungspunkt"),
    ("rollback", "reculer recule perdre perdu* perd perte refaire recalcul* retroced* perder* pierd* perdid* pérdida repetir retrocess* perso perdono perdut* perdita rifare verlies* verloren teruggeworpen terugval* opnieuw perder perde* perda recuar recua refazer utrac* strac* cofn*"),
    ("lossevent", "failure failures interruption* crash* fault* outage* fail fails incident* event breakdown* ausfall ausfälle* ausfällt fällt störung* unterbrechung* absturz panne* défaillance* fallo* avería* interrupci* caída* guast* interruzion* avari* storing* uitval* onderbreking* falha* interrupç* queda* awari* przerw*"),
    ("ofwork", "work training computation computing calculation progress model arbeit rechenarbeit rechnung rechenzeit fortschritt travail calcul entraînement trabajo cálculo entrenamiento lavoro calcolo addestramento werk rekenwerk trabalho treino treinamento pracy oblicze* treningu"),
    # reports and calls after a failure
    ("notice", "report reports reported reporting notify notifies notified notification* alert alerts alerted call calls called inform informed informs page paged react reacts reaction respond responds acknowledg* announce* announced escalat* meld* gemeldet* *meldung benachrichtig* alarm* rückruf* anruf* angerufen reagier* reaktion* informier* quittier* bericht* *bericht verständig* angezeigt"),
    ("notice", "signal* averti* prévenu* notifi* alert* appel* rappel* réagi* réaction* inform* rapport avis* notific* llam* reaccion* comunic* segnal* avvis* avvert* chiam* reag* reazion* melden melding* verwittig* gebeld belt reage* reactie* cham* reaç* zgłos* zgłasz* zawiadom* powiadom* reakcj*"),
    ("transfer", "transfer* cross crosses arrive* sync* synchroni* updated refresh* broadcast* distribut* complete übertrag* ankommen übermittel* verteil* aktualisier* transf* transmis* arriv* synchronis* transmit* lleg* sincroniz* trasfer* arriva* sincronizz* overgedrag* overdra* aankom* cheg* przesył* przesła*"),
    ("weightword", "weights weight policy gewichte gewichten modellgewichte poids pesos pesi wagi wag"),
    ("weightword", "old_policy old_weights stale_weights previous_weights alte_gewichte alten_gewichte* anciens_poids pesos_antiguos pesos_anteriores vecchi_pesi oude_gewichten pesos_antigos stare_wagi starych_wag"),
    ("newweights", "new_weights fresh_weights updated_weights new_policy neue_gewichte neuen_gewichte* nouveaux_poids nuevos_pesos pesos_nuevos nuovi_pesi nieuwe_gewichten novos_pesos nowe_wagi nowych_wag"),
    ("starting", "answer_again answers_again replacement* back_in_service ersatz* cold_start cold_starts start_up startup starts start started restarted boots booted ready comes_up come_up up_again serve_again serves_again takes_over kaltstart* start* hochgefahren hochfahren bereit betriebsbereit démarr* redémarr* prêt arranc* arranque en_marcha listo avvi* avvio pronto riavvi* opstart* gestart klaar inicia* arranca uruchom* gotow*"),
    ("restoring", "read_back reading_back read_in restored restoring restore loaded_back load_back reload* read_again zurückgelesen zurücklesen eingelesen wiederhergestellt geladen wiedereingelesen relu* relire recharg* restaur* chargé* releer leído leer recargar riletto rilegge* ricaric* ripristina* teruggelezen teruglezen herlezen ingelezen relido reler recarreg* odczyt* wczyt*"),
    # tests
    ("accepttest", "acceptance acceptance_test* acceptance_tests site_acceptance commissioning_test* test_window test_slot abnahme* abnahmetest* abnahmeprüfung* testfenster recette essais_de_réception essais réception pruebas_de_aceptación aceptación recepción pruebas collaudo prove_di_collaudo acceptatie* acceptatietest* keuring testvenster aceitação ensaios testes_de_aceitação odbiór odbioru testy_odbiorcze"),
    ("testwindow", "window slot available only fenster testfenster zeitfenster prüffenster abnahmefenster créneau fenêtre plage ventana franja finestra fascia venster testvenster tijdvak janela okno okna"),
    # totals that a tender sets
    ("alwaysword", "at_all_times at_any_time always jederzeit stets immer à_tout_moment toujours en_permanence en_todo_momento siempre in_ogni_momento sempre te_allen_tijde altijd a_todo_momento zawsze w_każdej_chwili"),
    ("yearword", "a_year per_year each_year yearly annual* im_jahr pro_jahr jährlich* jahres* par_an annuel* al_año por_año anual* all'anno annu* per_jaar jaarlijks* por_ano ao_ano rocznie roczn*"),
    ("groupword", "group groups team teams institute* department* chair chairs faculty faculties lab labs tenant* user* gruppe* arbeitsgruppe* institut* lehrstuhl lehrstühle fachbereich* abteilung* équipe* groupe* service* chaire* grupo* equipo* departamento* instituto* cátedra* gruppo gruppi dipartiment* istitut* groep groepen vakgroep* afdeling* equipa* zespół zespołów grup* instytut* katedr*"),
    ("gpumemory", "hbm vram gpu_memory memory_of_the_gpus memory_of_the_accelerators accelerator_memory device_memory memory_on_the_cards gpu-speicher hbm-speicher grafikspeicher beschleunigerspeicher speicher_der_beschleuniger mémoire_gpu mémoire_hbm mémoire_des_accélérateurs memoria_hbm memoria_gpu memoria_de_gpu memoria_de_los_aceleradores memoria_delle_gpu memoria_degli_acceleratori gpu-geheugen hbm-geheugen memória_hbm memória_gpu memória_de_gpu memória_dos_aceleradores pamięci_hbm pamięci_gpu"),
    ("altogether", "in_all altogether together in_total total all_told combined overall insgesamt zusammen gesamt* en_tout au_total ensemble en_total en_conjunto totales in_totale complessiv* in_tutto samen in_totaal totaal no_total ao_todo łącznie razem"),
    ("sparenode", "spare spares spare_nodes standby stand-by stand_by stands_by as_spare* spare_server* standby_node* as_reserve hot_spare* reserve_nodes reserveknoten ersatzknoten reserve secours rechange réserve repuesto reserva riserva scorta reservenodes rezerw* zapasow* als_reserve in_reserve en_réserve nœud*_de_réserve nœud*_de_secours nodo*_de_reserva de_repuesto de_reserva nodi_di_riserva di_riserva di_scorta nó*_de_reserva"),
    ("prepaid", "before_delivery until_delivery before_the_delivery up_to_delivery before_the_machine_arrives before_the_machines_arrive before_it_arrives prepaid prepayment* in_advance vor_lieferung vor_der_lieferung bis_zur_lieferung im_voraus vorab avant_livraison avant_la_livraison d'avance antes_de_la_entrega por_adelantado prima_della_consegna in_anticipo vóór_levering voor_levering vooraf antes_da_entrega adiantado przed_dostawą"),
    ("unaccepted", "before_acceptance until_the_machine_is_accepted until_it_is_accepted bis_die_maschine_abgenommen bis_zur_erfolgreichen_abnahme jusqu'à_la_réception hasta_la_aceptación fino_al_collaudo tot_de_aanvaarding até_à_aceitação do_odbioru until_acceptance before_the_acceptance before_it_is_accepted vor_abnahme vor_der_abnahme bis_zur_abnahme avant_réception avant_la_réception avant_recette antes_de_la_aceptación antes_de_la_recepción prima_del_collaudo vóór_aanvaarding vóór_acceptatie voor_acceptatie antes_da_aceitação przed_odbiorem"),
    ("payable", "pay paid pays payment payments disburse* spent zahl* gezahl* bezahl* auszahl* pay* versé* verser vers* décaiss* pag* abon* desembols* eroga* betaal* betal* uitbetaal* paga* pago* płac* zapłac* wypłac*"),
    # what is left of a limit
    ("freeword", "free unused headroom in_reserve en_réserve en_reserva in_riserva als_reserve em_reserva w_rezerwie reserve unallocated uncommitted margin frei freie freien freier reserve* *reserve ungenutzt* libre libres réserve réserves inutilis* marge reserva reservas margen sin_usar liberi libero libera libere riserva margine vrij vrije ongebruikt* livre livres margem wolne wolny wolna wolnych rezerw* zapas*"),
    ("powerword", "power leistung *leistung puissance potencia potenza vermogen potência moc mocy"),
    # money of a month
    ("rentword", "rent rents rental rentals lease hire miete mieten *miete mietkosten mietrate* mietzins loyer loyers location alquiler alquileres arrendamiento renta canone affitto noleggio huur huurprijs huursom aluguel aluguer renda czynsz* najem najmu"),
    ("heldback", "retention retained retain retains withheld withhold withholds holdback held_back einbehalt* einbehalten zurückbehalt* retenue* retenu* retien* retención reten* ritenut* trattenut* trattien* inhoud* ingehouden retid* retenç* retém zatrzym*"),
    ("bond", "bond bonds bank_guarantee surety bürgschaft* aval* caution cautionnement fianza fideiussion* borgtocht bankgarantie caução poręczen*"),
    # what a failure costs in all
    ("monthword", "month months monthly a_month per_month monat monats monatlich* monats* mois mensuel* mensualité* mes meses mensual* mese mesi mensil* maand maanden maandelijks* maand* mês mensal* mensais miesiąc* miesięczn*"),
    ("eachnode", "each_node per_node every_node each_server per_server each_instance per_instance je_knoten pro_knoten je_server pro_server je_instanz pro_instanz par_nœud par_serveur par_instance por_nodo por_servidor por_instancia per_nodo a_nodo per_istanza per_knooppunt por_nó por_instância na_węzeł na_serwer"),
    ("costword", "cost costs costing kosten kostet koste coûter coûte coûtent costar cuesta cueste costare costa costi costino kost custar custa custe kosztować kosztuje"),
    ("stopword", "downtime standstill outage_time down_time ausfallzeit* stillstand* stillstandszeit* arrêt arrêts immobilisation indisponibilité parada paradas inactividad fermo fermi stilstand uitvaltijd paragem paragens przestój przestoj*"),
    # answers that a limit of time cuts
    ("cutverb", "cuts_off cut_off cuts_the closes_the closes_a closes_each closes_every closed_after drops_the drops_a aborts aborted terminates times_out timed_out time_out timeout hangs_up ends_the_session ends_a_session ends_the_call disconnects cuts cut"),
    ("cutverb", "trennt getrennt kappt gekappt abbricht abgebrochen abbrechen beendet_die beendet_jede coupe coupent coupée ferme_la_connexion ferme_la_session ferme_toute interrompt raccroche corta cortan cierra_la_conexión cierra_la_sesión cuelga interrumpe chiude_la_connessione chiude_la_sessione interrompe taglia verbreekt verbroken sluit_de_verbinding sluit_de_sessie fecha_a_ligação fecha_a_sessão encerra zrywa rozłącza przerywa zamyka_połączenie"),
    ("completeword", "complete completely completed whole finished in_full to_the_end to_its_end vollständig ganz ganze bis_zum_ende fertig complète complètes entière entières en_entier jusqu'au_bout jusqu'à_la_fin completa completas completo entera enteras hasta_el_final completamente intera intere fino_alla_fine per_intero volledig volledige helemaal tot_het_einde inteira inteiras até_ao_fim por_inteiro kompletna cała w_całości do_końca"),
    ("partofnode", "fan fans lüfter lüftern ventilateur* ventilador* ventola ventole ventilator* wentylator* cpu cpus processor* prozessor* processeur* procesador* switch switches disk disks"),
    *BILL_WORDS,
    *SITE_WORDS,
    *JOB_WORDS,
    *ANSWER_WORDS,
    *FABRIC_WORDS,
)
"""Words for what a quantity of a design is."""
