"""Words of the demands that texts state: what is demanded, how it binds, and what shows that a figure is of something else.

One row holds the words of one meaning in one language. `_` joins the words of a phrase, and `*` stands for any further letters at
the start or the end of a word.
"""

from __future__ import annotations

WORDS: tuple[tuple[str, str], ...] = (
    # how a figure binds: an upper limit
    (
        "most",
        "at_most at_the_most no_more_than not_more_than never_more_than no_longer_than not_longer_than no_later_than up_to capped_at cap limit* maximum max ceiling within inside in_under less_than fewer_than below under before not_exceed never_exceed not_above nothing_above only not_beyond nothing_beyond by_then bounds bounded confin* restrict* tops not_a_watt_more forbid* prohibit* bars",
    ),
    (
        "most",
        "höchstens maximal maximum nicht_mehr_als keine*_mehr_als nicht_länger_als nicht_später_als spätestens bis_zu begrenz* beschränk* obergrenze höchst* binnen innerhalb innert unter nur verbiet* verboten untersag* überschreit* grenze",
    ),
    (
        "most",
        "au_plus au_maximum maximum pas_plus plus_de jamais_plus sans_dépasser dépass* jusqu'à limit* plafon* en_moins moins_de sous sous_les dans_les au_plus_tard interdi* seulement ne_peut excéd* borne*",
    ),
    (
        "most",
        "como_máximo como_mucho a_lo_sumo máximo no_más más_de hasta limit* tope techo en_menos menos_de sin_superar super* antes_de sólo solo prohíb* a_más_tardar dentro_de exced* ni_un_vatio",
    ),
    (
        "most",
        "al_massimo non_più non_oltre al_più massimo fino_a limit* tetto entro meno_di senza_superar* super* soltanto solo vieta* vietat* proibi* oltre",
    ),
    (
        "most",
        "hoogstens ten_hoogste maximaal maximum niet_meer niet_langer niet_later uiterlijk tot_en_met begrens* beperk* binnen minder_dan slechts verbied* verboden grens plafond",
    ),
    (
        "most",
        "no_máximo não_mais até limit* teto máximo dentro_de menos_de sem_ultrapassar ultrapass* exced* só proíb* apenas o_mais_tardar",
    ),
    # how a figure binds: a lower limit
    (
        "least",
        "at_least no_less no_fewer not_less not_fewer not_below minimum min needs need needed require* demand* or_more or_longer or_better expects expect insist* wants want calls_for call_for",
    ),
    (
        "least",
        "mindestens wenigstens minimum nicht_unter nicht_weniger benötig* brauch* braucht verlang* forder* erforder* erwarte* besteht_auf",
    ),
    (
        "least",
        "au_moins au_minimum minimum pas_moins exig* requier* requis* réclam* il_faut faut nécessit* demande* attend*",
    ),
    (
        "least",
        "al_menos por_lo_menos como_mínimo mínimo no_menos exig* requier* necesit* precis* hace_falta pide piden",
    ),
    ("least", "almeno minimo non_meno richied* esig* occorr* pretend* necessit* chied*"),
    ("least", "minstens ten_minste minimaal minimum niet_minder eis* vereis* vraagt vragen nodig verlang*"),
    ("least", "pelo_menos no_mínimo mínimo não_menos exig* requer* precis* pede pedem necessit*"),
    (
        "floor",
        "at_least no_less_than no_fewer_than not_less_than minimum_of or_more or_longer mindestens wenigstens nicht_weniger_als oder_mehr au_moins au_minimum ou_plus al_menos por_lo_menos como_mínimo o_más almeno non_meno_di o_più minstens ten_minste of_meer pelo_menos no_mínimo ou_mais co_najmniej",
    ),
    # how a figure binds: a duty, an authority, a grant
    (
        "must",
        "must has_to have_to shall needs_to is_to are_to obliged obliges oblig* bound may_not cannot can_not must_not owe* due mandatory compulsory binding not_allowed never always every_time at_all_times at_any_time without_exception nothing nobody none",
    ),
    (
        "must",
        "muss müssen soll sollen darf dürfen verpflicht* pflicht zwingend stets immer jederzeit nie niemals niemand nichts ausnahmslos",
    ),
    (
        "must",
        "doit doivent devra devront obligat* oblig* tenu* jamais toujours en_permanence rien aucun* sans_exception impérati*",
    ),
    (
        "must",
        "debe deben deberá* tiene_que tienen_que ha_de obligat* oblig* siempre nunca jamás nada ningun* ningún en_todo_momento",
    ),
    ("must", "deve devono dovrà va vanno obbligat* obblig* sempre mai nulla nessun* in_ogni_momento"),
    ("must", "moet moeten dient dienen mag mogen verplicht* altijd nooit niets niemand"),
    ("must", "deve devem deverá tem_de têm_de tem_que obrigat* obrig* sempre nunca nada nenhum* ninguém"),
    (
        "duty",
        "contract* agreement tender law act statute* regulat* rule rules terms conditions policy standard clause sla charter board council committee court judge auditor* audit ministry authority inspector* insurer* insurance sponsor* funder* grant landlord fire_brigade utility customer* client* partner* treaty protocol certificate* licence license specification* spec ethics union directive ordinance decree commission regulator curator*",
    ),
    (
        "duty",
        "vertrag* vereinbarung* abkommen* rahmen* ausschreibung* gesetz* verordnung* satzung* vorschrift* regel* bedingung* richtlinie* norm normen auflage* bescheid* vorstand* rat stadtrat gemeinderat gremium ausschuss gericht* prüfer* rechnungshof ministerium behörde* versicher* förder* geldgeber* vermieter* auftraggeber* kunde* kunden lizenz* zertifikat* gutachte* pflichtenheft leistungsverzeichnis aufsicht* statiker* amt landesamt stiftung",
    ),
    (
        "duty",
        "contrat* accord* marché convention* loi* règlement* cahier_des_charges clause* norme normes règle* conseil* comité* juge* tribunal* ministère* autorité* inspecteur* assureur* assurance bailleur* financeur* subvention* client* licence* certificat* protocole* décret* préfecture mairie direction rectorat fondation commission",
    ),
    (
        "duty",
        "contrato* acuerdo* convenio* pliego* ley* reglamento* cláusula* norma normas regla* consejo* comité* juez* tribunal* ministerio* autoridad* inspector* aseguradora* seguro* arrendador* financiador* subvención* cliente* licencia* certificado* protocolo* decreto* ayuntamiento* junta rectorado fundación patronato bases convocatoria",
    ),
    (
        "duty",
        "contratto* accordo* convenzione* capitolato* legge* regolamento* clausola* norma norme regola* consiglio* comitato* giudice* tribunale* ministero* autorità ispettore* assicura* locatore* finanziator* contributo* cliente* licenza* certificat* protocollo* decreto* comune giunta rettorato fondazione bando",
    ),
    (
        "duty",
        "contract* overeenkomst* bestek wet wetten wettelijk* reglement* clausule* norm normen regel* raad* comité* rechter* rechtbank* ministerie* inspect* verzekera* verhuurder* financier* subsidie* klant* opdrachtgever* licentie* certificaat* protocol* besluit* gemeente* gemeenteraad bestuur stichting voorwaarden",
    ),
    (
        "duty",
        "contrato* acordo* convênio* edital lei leis regulamento* cláusula* norma normas regra* conselho* comitê* juiz* tribunal* ministério* autoridade* inspetor* seguradora* seguro* senhorio* financiador* subsídio* cliente* licença* certificad* protocolo* decreto* câmara prefeitura reitoria fundação caderno_de_encargos",
    ),
    (
        "gives",
        "give* gave leave* left provide* offer* supplie* supply deliver* allow* permit* let* grant* award* concede* concession* has have gets receives confirm* lend* lent loan* rent* lease* sell* sold pay* paid reserve* assign* allot* allocat* approv* authori* release* rated built_for good_for designed_for accept* tolerat* guarantee* promis* commit* pledg* assur* undertake* cover* agree* sign* hold* carr* vot* earmark* fund* set_aside entitle*",
    ),
    (
        "gives",
        "gib* lass* liefer* biet* erlaub* erhäl* bekomm* hat bewillig* gewähr* genehmig* zugesag* zusag* sicher* zusicher* verleih* leih* leiht vermiet* verkauf* zahl* reservier* zugeteil* freigegeb* freigab* ausgeleg* tragfähig duld* akzeptier* garantier* versproch* versprech* trag* bereitgestell* bereit stell* stellt räum* anspruch",
    ),
    (
        "gives",
        "donn* laiss* fourn* offr* livr* autoris* permet* accord* conc* confirm* prête* prêté* loue* loué* vend vendent paie* paye* payé* réserv* attribu* approuv* vot* toléré* accept* garanti* promet* promis promes* engag* suppor* couvr* pris en charge dimensionn* alloué* met_à_disposition",
    ),
    (
        "gives",
        "da deja* cede* ofrec* suministr* entreg* permit* autoriz* conced* confirm* prest* alquil* vende venden paga pagan pagará* reserv* asign* aprob* aprueb* vot* toler* acept* garantiz* promet* compromet* cubr* soport* dimensionad*",
    ),
    (
        "gives",
        "dà danno lascia* cede* offr* forni* consent* permet* autorizz* conced* conferm* prest* affitt* vende vendono paga pagano pagherà riserv* assegn* approv* stanzi* toller* accett* garanti* promett* impegn* copr* regge sopport* dimensionat* versare",
    ),
    (
        "gives",
        "geef* geeft laat laten bied* biedt toestaan toegestaan vergun* verleen* bevestig* leen* leent verhuur* verkoop* betaal* betalen reserveer* toegewezen goedgekeurd* duld* aanvaard* garandeer* beloof* belooft dekt uitgetrokken trok",
    ),
    (
        "gives",
        "dá dão deixa* cede* oferec* fornec* permit* autoriz* conced* confirm* empresta* alug* vende vendem paga pagam pagará reserv* atribu* aprov* toler* aceit* garant* promet* comprom* cobr* suport* dimensionad* homolog*",
    ),
    ("longest", "longest biggest largest heaviest highest greatest worst peak busiest fullest extreme top"),
    ("longest", "läng* größ* höchst* schwerst* schlimmst* spitze* spitzen* stoßzeit*"),
    ("longest", "plus_long* plus_gros* plus_grand* plus_lourd* plus_élevé* pire* pointe*"),
    ("longest", "más_larg* más_grande* mayor mayores más_pesad* peor* punta pico máxim*"),
    ("longest", "più_lung* più_grand* maggior* più_pesant* peggior* punta picco massim*"),
    ("longest", "langste grootste zwaarste ergste piek* hoogste"),
    ("longest", "mais_long* mais_extens* maior maiores mais_pesad* pior* pico máxim*"),
    # what a figure is not: a mean, a supposition, another plan
    ("mean", "mean means average* median typical* usual* ordinary normal* half_of half_the rough*"),
    ("mean", "mittel mittlere* mittelwert durchschnitt* schnitt median* üblich* typisch* gewöhnlich*"),
    ("mean", "moyen* médian* typique* habituel* d'ordinaire en_général"),
    ("mean", "medio promedio mediana típic* habitual* normalmente"),
    ("mean", "media medio mediamente mediana tipic* solit* normalmente"),
    ("mean", "gemiddeld* mediaan typisch* gewoonlijk* doorgaans meestal"),
    ("mean", "médio média médios médias mediana típic* habitual* normalmente"),
    (
        "other",
        "elsewhere by_others other_bidder* second_bidder rival* competitor* competing neighbour* neighbor* another_department another_machine another_hall another_site another_team other_department* published paper_by study survey_of pilot* prototype* rehears* draft* phase_two second_phase phase_2 later_phase future perhaps maybe someday one_day option* extension expansion if_we in_theory not_part out_of_scope not_ours their own_contract",
    ),
    (
        "other",
        "anderswo andere* weiter* mitbewerb* konkurren* nachbar* fremd* modellkarte veröffentlicht* studie* pilot* probe* entwurf* ausbau* erweiterung* option* vielleicht eventuell künftig* zukunft* später* zweite*_phase eines_tages",
    ),
    (
        "other",
        "ailleurs autre* concurrent* voisin* fiche_du_modèle publié* étude* pilote* maquette* ébauche* extension* option* peut-être éventuel* futur* plus_tard deuxième_phase",
    ),
    (
        "other",
        "otro otra otros otras ajen* competencia competidor* vecin* publicad* estudio_de piloto* borrador* ampliación* opción* quizá* tal_vez futur* más_adelante segunda_fase",
    ),
    (
        "other",
        "altrove altr* concorren* vicin* pubblicat* studio_di pilota* bozza* ampliament* opzion* forse futur* più_avanti seconda_fase",
    ),
    (
        "other",
        "elders ander* concurren* buren buur* gepubliceerd* studie* pilot* proef* concept* uitbreiding* optie* misschien toekomst* later tweede_fase",
    ),
    (
        "other",
        "alhures seria seriam teria teriam poderia* outro outra outros outras concorrent* vizinh* publicad* estudo_de piloto* rascunho* ampliaç* opç* talvez futur* mais_tarde segunda_fase",
    ),
    (
        "former",
        "old older former formerly previous previously earlier last_year existing predecessor* used_to no_longer offered asked model_card cookbook recipe blog at_that_time back_then",
    ),
    (
        "former",
        "alte alten alter altes altem früher* bisherig* vorgänger* bestehende* damals ehemalig* vorig* ancien* précédent* existant* autrefois à_l'époque antiguo antigua antiguos antiguas anterior* existente* entonces vecchi* precedent* esistent* allora oude vorige bestaande destijds antigo antiga velho velha poprzedni*",
    ),
    (
        "draw",
        "draw draws drawn drawing consume* consumption uses take takes load_of zieht ziehen zogen verbrauch* braucht brauchen aufnahme consomm* appel* tir* consum* assorb* gasta* absorb* verbruik* trekt trekken",
    ),
    (
        "tax",
        "vat tax taxes mwst umsatzsteuer steuer* tva taxe* iva impuesto* imposta imposte btw belasting imposto* icms gst",
    ),
    (
        "default",
        "default defaults stays_at setting bf_window backfill standard* voreinstell* défaut defecto predefinit* standaard padrão",
    ),
    ("fails", "fail* break* broke broken down stands_still dead fault* outage* crash* stops"),
    ("fails", "ausfall* ausfäll* fällt_aus steht_still steht defekt* störung* panne*"),
    ("fails", "panne* défaillan* tomb* arrêt* incident*"),
    ("fails", "fall* avería* caíd* cae parad*"),
    ("fails", "guast* fermo ferma cade avari*"),
    ("fails", "storing* uitval* uitvalt stuk defect*"),
    ("fails", "falh* avari* parad* cai queda*"),
    ("each", "each every apiece a_piece"),
    ("each", "je jede* jeweils"),
    ("each", "chaque chacun*"),
    ("each", "cada"),
    ("each", "ciascun* ogni cadauno"),
    ("each", "elk* ieder*"),
)
"""Words that bind a figure or free it."""

SUBJECTS: tuple[tuple[str, str], ...] = (
    # electrical power and the building
    (
        "site",
        "site hall halls room rooms building campus basement cellar container laboratory lab workshop floor colocation colo data_center data_centre datacenter computer_room machine_room",
    ),
    (
        "site",
        "halle gebäude raum räume *raum *keller keller standort campus rechenzentrum *zentrum werkstatt etage stockwerk geschoss labor",
    ),
    ("site", "salle* bâtiment* site sous-sol local atelier* étage* laboratoire campus centre_de_calcul"),
    ("site", "sala* edificio* sótano* local taller* planta laboratorio campus centro_de_datos centro_de_cálculo cpd"),
    ("site", "sala edificio cantina locale officina piano laboratorio campus centro_di_calcolo ced"),
    ("site", "zaal ruimte gebouw kelder werkplaats verdieping laboratorium campus rekencentrum datacenter"),
    ("site", "sala prédio edifício porão cave oficina piso andar laboratório campus centro_de_dados"),
    (
        "supply",
        "transformer* switchboard* feeder* feed feeds power_line supply connection breaker* grid utility electricity mains power_company power_contract load_limit substation* busbar* panel circuit electrical intake landlord",
    ),
    (
        "supply",
        "trafo* transformator* verteiler* hauptverteil* schaltanlage* zuleitung* einspeisung* anschluss* netzanschluss* *anschluss sicherung netzbetreiber* stadtwerke* vermieter* stromvertrag* versorger* *leitung",
    ),
    (
        "supply",
        "transformateur* tableau* armoire_électrique alimentation* arrivée* raccordement* disjoncteur* réseau_électrique gestionnaire* distributeur* bailleur* branchement* ligne*",
    ),
    (
        "supply",
        "transformador* cuadro* tablero* acometida* línea* alimentación interruptor* red_eléctrica distribuidora* eléctrica* arrendador* suministro potencia_contratada",
    ),
    (
        "supply",
        "trasformator* quadro* alimentazion* linea* allaccio allacciament* interruttore* rete_elettrica distributore* locatore* fornitura",
    ),
    (
        "supply",
        "transformator* schakelkast* hoofdverdeler* voeding* aansluiting* netaansluiting* netbeheerder* verhuurder* groep",
    ),
    (
        "supply",
        "transformador* quadro* alimentação linha* ligação disjuntor* rede_elétrica distribuidora* concessionária* senhorio*",
    ),
    (
        "cooling",
        "cool* chill* heat* crac crah air_handler* fan_wall* air_conditioning ventilation tower* dry_cooler* water_loop",
    ),
    ("cooling", "kühl* klima* kälte* wärme* rückkühl* lüftung* abwärme"),
    ("cooling", "refroid* climat* froid* chaleur* ventil* aéroréfrigérant*"),
    ("cooling", "refriger* enfri* climat* frío calor* ventil*"),
    ("cooling", "raffredd* climat* freddo calore* ventil* condizion*"),
    ("cooling", "koel* klimaat* warmte* ventilatie* airco*"),
    ("cooling", "refriger* arrefec* resfri* clima* calor* ventil* ar_condicionado"),
    ("backup", "ups battery batteries diesel generator* genset flywheel emergency standby solar photovoltaic"),
    ("backup", "usv batterie* notstrom* diesel* *aggregat"),
    ("backup", "onduleur* batterie* groupe_électrogène secours"),
    ("backup", "sai batería* grupo_electrógeno emergencia"),
    ("backup", "batterie* gruppo_di_continuità emergenza"),
    ("backup", "noodstroom* accu* batterij* nobreak* bateria* gerador*"),
    ("rack", "rack racks cabinet* frame frames pdu pdus"),
    ("rack", "schrank schränke* schränken rack* *rack *schrank"),
    ("rack", "baie* armoire* rack*"),
    ("rack", "armario* gabinete* bastidor* rack* armadi* kast kasten armário*"),
    ("rowof", "row rows reihe* rangée* fila* rij rijen fileira*"),
    # storage
    (
        "store",
        "storage store file_system filesystem filer parallel_file_system disk disks volume object_store flash_system",
    ),
    ("store", "speichersystem* *speicher speicher ablage* dateisystem* *dateisystem platten* massenspeicher*"),
    ("store", "stockage* système_de_fichiers baie_de_stockage disque* volume"),
    ("store", "almacén almacenamiento* cabina sistema_de_archivos sistema_de_ficheros disco* volumen"),
    ("store", "archiviazione storage file_system disco dischi volume"),
    (
        "store",
        "opslag* bestandssysteem* schijf schijven armazenamento* sistema_de_arquivos sistema_de_ficheiros disco*",
    ),
    (
        "stored",
        "archive* corpus collection* data dataset* data_set* recording* scan* image* film* footage genome* volume_of material holdings library",
    ),
    (
        "stored",
        "archiv* *archiv korpus bestand* bestände* daten* datensatz* datensätze* aufnahm* bilder* filme* scans* sammlung* material*",
    ),
    ("stored", "archive* corpus collection* données jeu_de_données enregistrement* images films fonds numéris*"),
    ("stored", "archivo* corpus colección* datos grabacion* imágenes películas fondos escane*"),
    ("stored", "archivio* corpus collezion* dati registrazion* immagini film fondi scansion*"),
    ("stored", "archief* corpus collectie* data gegevens opnam* beelden films scans"),
    ("stored", "arquivo* acervo* coleç* dados gravaç* imagens filmes digitaliz*"),
    (
        "kept",
        "lie lies lying kept keep keeps stay stays stored resides reside held hold holds fit fits house* room_for space_for online retain* retention on_hand at_the_same_time copied copies",
    ),
    (
        "kept",
        "lieg* aufbewahr* bleib* gehalten halten hält gespeichert passen passt platz vorgehalten vorhalten aufgehoben ablegen abgelegt",
    ),
    (
        "kept",
        "conserv* garde* gardé* reste restent rester tenir tient tiennent loge* héberg* stock* place_pour en_ligne",
    ),
    ("kept", "conserv* guard* permanec* cabe caben caber alberg* almacen* qued* en_línea sitio_para"),
    ("kept", "conserv* tenut* tenere resta restano restare trova_posto ospit* archivi* in_linea"),
    ("kept", "bewa* blijf* blijven opgeslagen past passen gehouden houden aanwezig"),
    ("kept", "guard* conserv* mant* fic* caber cabe* armazen* aloj*"),
    (
        "away",
        "tape tapes offline cold_archive bucket cloud remote national object_storage_of laptop usb raw brutto brut bruto lordo egress transfer memory hbm vram gpu gpus cache ram checkpoint* weights token tokens download*",
    ),
    ("away", "band bänder* magnetband* ausgelagert hbm arbeitsspeicher* hauptspeicher* gewichte* sicherung*"),
    (
        "away",
        "bande* mémoire* poids_du sauvegarde* nuage cinta* memoria* pesos nube nastro nastri nuvola geheugen* wolk memória* fita* nuvem",
    ),
    ("read", "read reads reading load loads loading stream* ingest* fetch*"),
    ("read", "liest lesen einlesen gelesen lädt laden geladen einles*"),
    (
        "read",
        "lit lire lus lecture charg* leer lee leen lectura carg* legg* lettura caric* lees* lezen leest laad* ler lê leem leitura carreg*",
    ),
    ("write", "write writes written writing pour* land lands deposit* records ingest* save saves"),
    ("write", "schreib* geschrieben ablegen abgelegt speichern schreiben schrieb*"),
    (
        "write",
        "écri* dépos* verse versent versé versée versés enregistr* escrib* escrit* deposit* vierte* scriv* scritt* deposit* schrijf* schrijven weg grav* escrev* escrit*",
    ),
    (
        "hostram",
        "host_memory ram main_memory dram system_memory memory_of_the_host memory_of_each_host memory_of_each_node memory_of_each_server",
    ),
    (
        "hostram",
        "arbeitsspeicher* hauptspeicher* mémoire_vive mémoire_centrale mémoire_des_serveurs memoria_ram memoria_principal memoria_de_cada_servidor werkgeheugen* intern_geheugen memoria_principale memória_ram memória_principal ram",
    ),
    (
        "devicemem",
        "hbm vram gpu_memory gpu gpus card cards accelerator* karte* carte* tarjeta* scheda schede kaart* placa*",
    ),
    # requests and their lengths
    (
        "prompt",
        "prompt* input* file files dossier* document* bundle* contract* letter* report* transcript* record records case cases page pages brief briefs claim claims application* manual* request requests question* ruling* judgment* judgement* deed* book* article* patent* opinion* chart charts agreement* filing* minutes paper papers e-mail* email* essay* protocol* plan plans text texts log logs",
    ),
    (
        "prompt",
        "eingabe* dokument* akte* *akte *akten vertrag* verträge* brief* bericht* protokoll* anfrage* schriftsatz* schriftsätze* urteil* *urteil urkunde* buch bücher* artikel* patent* gutachten* *akten antrag* anträge* text texte* datei* dateien",
    ),
    (
        "prompt",
        "entrée* invite* dossier* document* contrat* lettre* rapport* acte* requête* jugement* livre* article* brevet* texte* pièce* procès-verbal* procès-verbaux mémoire* fichier*",
    ),
    (
        "prompt",
        "entrada* documento* expediente* contrato* carta* informe* acta* escrito* sentencia* libro* artículo* patente* texto* consulta* historia* sumario* legajo*",
    ),
    (
        "prompt",
        "ingress* documento documenti fascicol* contratt* letter* relazion* atto atti sentenz* libro libri articol* brevett* testo testi richiest* cartell* verbal* perizi*",
    ),
    (
        "prompt",
        "invoer* document* dossier* contract* brief* brieven rapport* akte* vonnis* boek* artikel* octrooi* tekst* verslag*",
    ),
    (
        "prompt",
        "entrada* documento* processo* contrato* carta* relatório* ata* sentença* livro* artigo* patente* texto* pedido* prontuário* laudo* autos",
    ),
    (
        "answer",
        "answer* output* generator* response* reply replies summary summaries completion* translation* opinion* generated draft drafts minutes proof* solution* verdict* decision* article_written letter_written reasoning chain",
    ),
    (
        "answer",
        "antwort* ausgabe* zusammenfassung* übersetzung* gutachten bescheid* entwurf* entwürfe* beweis* lösung* stellungnahme* begründung* *antwort",
    ),
    (
        "answer",
        "réponse* sortie* résumé* synthèse* traduction* rédig* preuve* solution* avis conclusion* compte_rendu comptes_rendus",
    ),
    (
        "answer",
        "respuesta* salida* resumen* resúmenes traducc* redact* demostr* solución* soluciones dictamen* informe_final",
    ),
    ("answer", "rispost* uscit* riassunt* sintes* traduzion* dimostraz* soluzion* parer* referto referti"),
    (
        "answer",
        "antwoord* uitvoer* samenvatting* vertaling* bewijs* oplossing* advies* respost* saída* resumo* traduç* parecer* prova* soluç*",
    ),
    (
        "whole",
        "whole complete uncut in_full unabridged entire one_piece nothing_left_out undivided never_split not_be_split untruncated as_lodged left_out cut",
    ),
    (
        "whole",
        "ganz* vollständig* ungekürzt* am_stück einem_stück ungeteilt lückenlos weggelassen gekürzt abgeschnitten",
    ),
    ("whole", "entier* entière* intégral* complet* sans_coupe d'un_seul_tenant coupé* tronqué*"),
    (
        "whole",
        "enter* íntegr* complet* sin_cortes de_una_vez recort* cortad* inter* integral* complet* senza_tagli tagliat* geheel volledig* onverkort in_één_keer ingekort inteir* íntegr* complet* sem_cortes cortad*",
    ),
    (
        "context",
        "context kontext* contexte contexto contesto window fenster fenêtre ventana finestra venster janela model_limit modell* modèle*",
    ),
    (
        "chunk",
        "chunk* chunking prefix* system_prompt draft_tokens budget_of_tokens batch* micro-batch* step steps schritt* pas paso* passo* stap* per_day a_day per_second a_second",
    ),
    (
        "once",
        "at_once concurrent* simultaneous* in_flight in_parallel at_the_same_time at_the_same_moment at_a_time at_the_same_second open_at side_by_side same_moment same_time same_second",
    ),
    (
        "once",
        "gleichzeitig* zugleich zur_selben_zeit zur_gleichen_zeit im_selben_augenblick auf_einmal in_bearbeitung",
    ),
    ("once", "simultané* à_la_fois en_même_temps au_même_moment en_parallèle au_même_instant de_front"),
    (
        "once",
        "simultáne* a_la_vez al_mismo_tiempo en_paralelo en_el_mismo_momento contemporane* simultane* allo_stesso_tempo nello_stesso_momento in_parallelo insieme",
    ),
    (
        "once",
        "gelijktijdig* tegelijk* op_hetzelfde_moment ao_mesmo_tempo simultâne* em_paralelo no_mesmo_instante de_uma_vez jednocześnie naraz równocześnie",
    ),
    (
        "leftover",
        "free remain* left left_over spare_power to_spare headroom margin more_than_needed mehr_als_nötig mehr_als_gebraucht übrig bleiben bleibt restent reste queda quedan sobra sobran avanza avanzano rimane rimangono blijft blijven over sobram resta",
    ),
    (
        "psu",
        "supplies_of power_supply power_supplies psu psus netzteil* bloc*_d'alimentation fuente* alimentator* voedingen socket sockets outlet outlets",
    ),
    ("alone", "either alone one_side allein jede_seite seul* sola solo* alleen"),
    (
        "total",
        "in_all altogether together in_total total all_told sum combined insgesamt zusammen summe gesamt* en_tout au_total ensemble en_total en_conjunto sumados in_totale complessivamente in_tutto samen in_totaal no_total ao_todo",
    ),
    ("drive", "drive drives ssd ssds nvme laufwerk* disque* platte platten disco discos dischi schijven"),
    (
        "idle",
        "stand_by stands_by standby spare spares reserve reserves warm free replacement slack rest remain* left_over last_rack rack_one racks_one other_rack* of_arithmetic arithmetic pure planned in_use reine reinen geplant* calcul_pur in_gebruik in_uso en_uso lot lots tranche* half quarter frei reserve* bereit restlich* libre* secours reserva* libere riserva vrij reserve vrije livre*",
    ),
    ("notice", "notice warning spare replaced interruption handler after ankündigung warnung préavis aviso preavviso"),
    (
        "money",
        "price* cost* sum paid fee fees invoice preis* kosten summe prix coût* precio* coste* prezz* cost* prijs* kosten preço* custo*",
    ),
    (
        "seatsnot",
        "seat seats room for training course parking call_centre building hall classroom radio phone phones telephone line lines lift",
    ),
    (
        "arrive",
        "arriv* receive* come comes send sends sent reach reaches hit hits get gets ask asks serve serves traffic load request* query queries call calls question* message*",
    ),
    ("arrive", "komm* eingeh* eintreff* anfrage* anruf* last *last stell* send* bedien*"),
    (
        "arrive",
        "arriv* reçoi* reçu* envoi* requête* appel* charge* demande* lleg* recib* envía* consulta* petic* llamada* carga* solicitud*",
    ),
    (
        "arrive",
        "arriv* ricev* invia* richiest* chiamat* carico domand* kom* ontvang* aanvra* vra* oproep* belasting verzoek* cheg* receb* envia* pedido* chamada* carga requisiç* consulta*",
    ),
    ("firstword", "ttft first_token first_word first_words first_syllable first_character first_response_token"),
    (
        "firstword",
        "erste*_wort erste*_token erste*_zeichen erste*_silbe premier_mot premier_jeton premier_token premiers_mots primera_palabra primer_token prima_parola primo_token eerste_woord eerste_token primeira_palavra primeiro_token pierwsze_słowo pierwszy_token",
    ),
    (
        "pertoken",
        "tpot itl inter-token per_token each_token every_token token_to_token between_tokens next_token one_before following_token a_token further_token further_word each_further per_output_token",
    ),
    (
        "pertoken",
        "je_token pro_token jedes_token zwischen_zwei_token folgende*_token nächste*_token par_jeton chaque_jeton par_token entre_deux_jetons jeton_suivant por_token cada_token entre_tokens token_siguiente per_token ogni_token fra_un_token token_successivo elk_token tussen_twee_tokens volgende_token token_seguinte entre_dois_tokens por_cada_token",
    ),
    (
        "endtoend",
        "whole_answer complete_answer full_answer entire_answer finished_answer end_to_end last_token last_word ganze_antwort vollständige_antwort letzte*_wort letzte*_token réponse_complète réponse_entière dernier_mot dernier_jeton respuesta_completa última_palabra último_token risposta_completa ultima_parola volledige_antwoord laatste_woord resposta_completa última_palavra",
    ),
    (
        "latencynot",
        "spent prefill reading memory queue disk database lookup click blink page_load portal network radar login scan eye ear",
    ),
    # the run
    ("run", "run training pretraining pre-training campaign computation calculation fine-tuning finetuning"),
    (
        "run",
        "lauf trainingslauf training vortraining rechnung rechenlauf calcul entraînement pré-entraînement entrenamiento preentrenamiento cálculo addestramento calcolo training rekentaak berekening treinamento treino cálculo",
    ),
    (
        "slot",
        "slot slots lend lends lent loan* borrow* allocation allocated reservation reserved window award handed_over machine_time time_slot tenure",
    ),
    (
        "slot",
        "zeitfenster leiht leihen verleih* überlässt überlassen zuteilung reservier* rechenzeit zur_verfügung prêt* créneau* attribu* réserv* mis*_à_disposition prest* cede* cedid* turno* reserv* asign* prestat* conced* assegn* turno* leen* leent toegewezen gereserveerd empresta* ced* reserv* atribu*",
    ),
    (
        "partofrun",
        "evaluation* test tests trial trials warm-up ablation* preparation rehears* checkpoint* restart* repair* save* notice deliver* warrant* support* response* retention acceptance invoice* payment* burn-in audit*",
    ),
    (
        "partofrun",
        "auswertung* versuch* probelauf vorbereitung* sicherung* neustart* reparatur* liefer* garantie* abnahme* rechnung* zahlung* essai* évaluation* préparation* sauvegarde* redémarr* réparation* livraison* garantie* recette* facture* ensayo* evaluación* prueba* prepar* puntos_de_control reinicio* reparación* entrega* garantía* factura* pago* prov* valutazion* prepar* salvatagg* riavvi* riparazion* consegn* garanzi* fattur* pagament* proef* evaluatie* voorbereid* herstart* herstel* levering* garantie* factu* betal* teste* avaliaç* preparaç* reinício* reparo* entrega* garantia* fatura* pagamento*",
    ),
    ("tokens", "token tokens jeton jetons"),
    ("seen", "seen see sees trained train trains training corpus read reads run pays counts budget_of"),
    (
        "seen",
        "gesehen sieht trainier* training lauf liest gelesen korpus entraîn* vu voi* lit entren* visto vist* lee addestr* vist* legg* getraind train* gezien treina* visto lido",
    ),
    # checkpoints
    ("checkpoint", "checkpoint* save saves saved saving snapshot*"),
    (
        "checkpoint",
        "sicherung* sicherungspunkt* gesichert sichern sichert kontrollpunkt* speicherpunkt* sauvegard* point*_de_reprise point*_de_contrôle punto*_de_control copia*_de_seguridad guard* salvatagg* punto_di_controllo punti_di_controllo controlepunt* ponto*_de_controle ponto*_de_verificação punkt*_kontrolny",
    ),
    (
        "lostwork",
        "work_lost lost_work lose loses lost recompute* redo repeat* arbeit_verloren verlier* verloren geht wiederhol* perd* perdu* refaire recalcul* perder* pierd* perdid* repetir perder* perso perdono perdut* rifare rekenwerk verlies* verloren opnieuw perd* perdid* refazer",
    ),
    (
        "savenot",
        "takes take pause* writing_it writes written seconds_to writing took restart* recover* restore* resum* loading dauert neustart* wiederanlauf* dure redémarr* reprise_du tarda reinici* dura riavvi* duurt herstart* leva reiníci* tape* band bänder* bande* cinta* nastri fita* days tage jours días giorni dagen dias",
    ),
    (
        "keeps",
        "last latest most_recent keep* kept retain* stay preserve* letzten jüngsten aufbewahr* aufgehoben derniers dernières conserv* gard* últimos últimas conserv* ultimi ultime laatste bewaar* bewaard guard*",
    ),
    # delivery, payment, service
    (
        "delivery",
        "deliver* arriv* lead_time shipment* shipped dispatch* received on_the_dock on_our_dock on_site handed_over",
    ),
    (
        "delivery",
        "liefer* geliefert eintreff* ankunft angelieferung anliefer* *lieferung livr* livraison* arriv* achemin* entreg* lleg* recib* suministr* consegn* arriv* recapit* lever* levering* aankom* geleverd entreg* cheg* dostaw* dostarcz*",
    ),
    (
        "deliverynot",
        "spare* part parts replacement* technician* payment* paid invoice* late delay* acceptance test* tokens token request* bid* offer* quote* letter* notice after_delivery software file files data",
    ),
    (
        "deliverynot",
        "ersatzteil* techniker* zahlung* rechnung* verzug abnahme* angebot* nach_der_lieferung nach_lieferung daten pièce*_de_rechange technicien* paiement* facture* recette* offre* après_livraison repuesto* técnico* pago* factura* oferta* ricambi* tecnico pagament* fattur* offert* onderdel* onderdeel* monteur* betal* factu* offerte* peça* técnico* pagamento* fatura* proposta*",
    ),
    (
        "advance",
        "advance* down_payment prepayment* prepay* deposit upfront up-front with_the_order on_order on_signature at_signature at_signing on_signing before_delivery",
    ),
    (
        "advance",
        "anzahlung* vorauszahlung* vorkasse bei_bestellung mit_der_bestellung bei_auftrag* bei_vertragsschluss bei_unterschrift vor_lieferung vor_der_lieferung acompte* avance* arrhes à_la_commande à_la_signature avant_livraison avant_la_livraison anticip* adelant* con_el_pedido a_la_firma antes_de_la_entrega acconto anticip* all'ordine alla_firma prima_della_consegna aanbetal* voorschot* vooruitbetal* bij_bestelling bij_ondertekening vóór_levering adiant* sinal_de antecipad* na_encomenda na_assinatura com_o_pedido antes_da_entrega zaliczk*",
    ),
    (
        "retain",
        "retention retained retain withheld withhold holdback hold_back held_back after_acceptance upon_acceptance on_acceptance once_accepted until_acceptance at_acceptance",
    ),
    (
        "retain",
        "einbehalt* einbehalten zurückbehalt* nach_abnahme nach_der_abnahme bei_abnahme erst_nach retenue* retenu* retien* après_réception après_recette à_la_recette à_l'acceptation retención* reten* tras_la_aceptación a_la_aceptación después_de_la_aceptación ritenut* trattenut* trattien* dopo_il_collaudo al_collaudo dopo_l'accettazione inhoud* ingehouden na_acceptatie na_aanvaarding bij_acceptatie retid* retenç* após_a_aceitação depois_da_aceitação na_aceitação",
    ),
    ("penalty", "penalt* damages late delay* interest tax vat discount* rebate* fine insurance"),
    (
        "penalty",
        "vertragsstrafe* verzug zins* steuer* mwst umsatzsteuer rabatt* nachlass* skonto pénalité* retard* intérêt* taxe* tva remise* rabais penalid* penaliz* retras* interés* iva descuento* impuesto* penal* ritardo* interess* iva sconto sconti boete* rente btw korting* multa* atras* juro* iva imposto* desconto*",
    ),
    ("warranty", "warrant* guarantee* garantie* gewährleistung* garantía* garanzi* garantia* gwarancj*"),
    (
        "warrantynot",
        "battery batteries batterie* batería* bateria* building drive drives ssd* roof software starts fan fans extended extension bank price delivery_date availab*",
    ),
    (
        "response",
        "respon* on_site on-site technician* engineer_on engineer_in engineer_at engineer_stands engineer_arrives intervention* attend* call-out callout",
    ),
    (
        "response",
        "reaktion* reagier* techniker* vor_ort einsatz* intervention* interven* technicien* dépann* sur_place respuesta* técnico* intervención* presenta* in_situ tecnic* intervent* sul_posto risposta monteur* reactie* ter_plaatse técnico* atendimento* resposta* no_local serwis* technik*",
    ),
    (
        "responsenot",
        "token* first_word answer* request* prompt* user* latency percentile queue chiller* lift fire vpn month* year* anfrage* requête* jeton* solicitud* richiest* pedido*",
    ),
    ("repair", "repair* replac* back restored running_again in_service_again working_again fixed swap*"),
    (
        "repair",
        "repar* wieder instandgesetzt ersetzt austausch* behoben läuft_wieder répar* remplac* rétabli* remis* repar* reempla* sustitu* restablec* de_nuevo ripar* sostitu* ripristin* herstel* vervang* hersteld repar* substitu* restabelec* de_volta",
    ),
    (
        "restart",
        "restart* resume* recovery running_again neustart* wiederanlauf* redémarr* reprise reinici* reanud* riavvi* ripart* herstart* reiníci* retom*",
    ),
    # machine layout
    ("leaf", "leaf leaves leafs feuille*"),
    ("spine", "spine spines épine*"),
    ("nodeend", "node nodes server servers knoten server* nœud* noeud* serveur* nodo nodi nodos servidor* host hosts"),
    (
        "length",
        "fiber fibre cable* run path length duct glasfaser* faser* kabel* strecke* trasse* länge fibre* câble* longueur* parcours cheminement fibra* cable* recorrido* longitud* cavo cavi percorso lunghezza glasvezel* kabel* lengte tracé cabo* percurso* comprimento* trajeto*",
    ),
    ("sample", "answer answers sample samples rollout rollouts completion* response* solution* attempt* times tries"),
    (
        "sample",
        "antwort* stichprobe* lösung* versuch* mal réponse* échantillon* essai* solution* fois respuesta* muestra* solucion* intento* veces rispost* campion* soluzion* tentativ* volte antwoord* steekproe* oplossing* poging* keer respost* amostra* soluç* tentativ* vezes",
    ),
    (
        "question",
        "question* prompt* problem* task* exercise* frage* aufgabe* problem* question* problème* exercice* énoncé* pregunta* problema* ejercicio* tarea* domand* problem* esercizi* vraag* vragen opgave* vraagstuk* pergunta* problema* exercíci* tarefa*",
    ),
    (
        "samplenot",
        "evaluat* test* benchmark* best_of validation auswertung* évalu* evalua* valuta* evaluatie* avalia* study others papers",
    ),
    ("spare", "spare_node* spare_server* standby standby_node* hot_spare* reserve_node* in_reserve as_reserve spare"),
    (
        "spare",
        "reserveknoten ersatzknoten als_reserve in_reserve nœud*_de_réserve nœud*_de_secours en_réserve nodo*_de_reserva de_repuesto de_reserva nodi_di_riserva di_riserva di_scorta reservenode* reserveserver* als_reserve nó*_de_reserva de_reserva",
    ),
    ("discount", "discount* rebate* price_reduction off_the_price off_the_sum off_the_list"),
    (
        "discount",
        "rabatt* nachlass* preisnachlass* remise* rabais réduction* descuento* rebaja* sconto sconti ribass* korting* desconto* abatimento* rabat*",
    ),
    (
        "discountnot",
        "from_eur above_eur skonto early early-payment prompt_payment cash students student escompte* pronto_pago would bidder* bid second other",
    ),
    ("pue", "pue power_usage_effectiveness"),
    (
        "percent_served",
        "of_requests of_all_requests of_users of_answers of_queries of_calls der_anfragen aller_anfragen der_nutzer der_antworten des_requêtes des_utilisateurs des_réponses de_las_consultas de_las_peticiones de_los_usuarios delle_richieste degli_utenti van_de_aanvragen van_de_verzoeken dos_pedidos das_consultas dos_utilizadores dos_usuários",
    ),
    (
        "burnin",
        "burn-in burn_in run-in soak* trial_operation acceptance_run stress_test einbrenn* probebetrieb* dauertest* rodage déverminage rodaje prueba_de_carga rodaggio inlo* inbranden proefbedrijf rodagem teste_de_carga",
    ),
    ("persecond", "per_second a_second each_second"),
    ("batch", "batch step steps update"),
    (
        "budgeted",
        "approv* authori* grant* vot* budget* allot* allocat* appropriat* ceiling award* fund* earmark* set_aside released",
    ),
    (
        "budgeted",
        "bewillig* genehmig* freigegeb* beschloss* haushalt* obergrenze deckel budget* bereitgestell* eingeplant vot* accord* approuv* enveloppe* budget* plafon* crédit* débloqu* aprob* aprueb* concedi* presupuest* asign* dotación tope approv* stanzi* delibera* budget tetto conced* goedgekeurd uitgetrokken begrot* budget vrijgemaakt beschikbaar aprov* orçament* dotaç* teto verba*",
    ),
    (
        "purchase",
        "purchase* order everything whole all_in total taxes_included vat_included including_vat incl machine hardware beschaffung* kauf* insgesamt alles gesamt* inklusive einschließlich mwst achat* tout ensemble total ttc tva_comprise toutes_taxes compra* todo total iva_incluido impuestos acquisto tutto complessiv* iva_inclusa totale aankoop* alles totaal btw_inbegrepen inclusief aquisição tudo total iva_incluído impostos",
    ),
)
"""Words for what a demand is about, and for what its figures may be about instead."""
