"""Whether a text demands licenses for spare accelerators or nodes too."""

from __future__ import annotations

from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon
from clusterspec.rules.readers.written_numbers import sentences_of

# fmt: off
_WORDS: tuple[tuple[str, str], ...] = (
    ("license", "license* licence* subscription* software_contract software_agreement software_maintenance entitlement* lizenz* softwarevertrag softwarepflege abonnement* subskription* contrat_logiciel licencia* suscripci* contrato_de_software licenz* abbonament* contratto_software licentie* softwarecontract licença* assinatura* contrato_de_software licencj* subskrypcj*"),
    ("unit", "accelerator* gpu gpus card cards node nodes server servers device devices beschleuniger* karte karten knoten server accélérateur* carte cartes nœud* serveur* acelerador* tarjeta* nodo nodos servidor* accelerator* scheda schede nodi kaart kaarten placa placas nó nós akcelerator* kart* węz* serwer*"),
    ("each", "each every all any jede* alle* sämtliche chaque tout tous toute toutes cada tod* ogni tutti tutte elk* ieder* alle cada todos todas każd* wszystki*"),
    ("also", "installed powered powered_on switched_on spare* standby stand-by stand_by reserve* idle waits waiting whether_it_works whether_used in_the_rack physically eingebaut* installiert* eingeschaltet* reserve* ersatz* steht bereit installé* alimenté* allumé* secours rechange réserve instalad* encendid* reserva repuesto installat* acces* riserva scorta geïnstalleerd* ingeschakeld* reserve ligad* sobressalente* zainstalowan* włączon* zapasow* rezerw*"),
    ("binds", "count* need* require* must shall demand* charge* bill* audit* zähl* benötig* braucht muss müssen verlangt berechnet prüf* compte* exige* doit doivent factur* cuenta exige* necesita debe deben factura conta richiede deve devono fattura telt eist vereist moet moeten factureert conta exige deve devem liczy wymaga musi muszą"),
    ("less", "except excluding not_counted without_licen* free_of_charge no_charge free ausgenommen kostenlos ohne_lizenz sauf excepté gratuit* sans_licence excepto salvo gratuit* sin_licencia escluso gratuit* senza_licenza uitgezonderd gratis zonder_licentie exceto gratuit* sem_licença oprócz bezpłatn* darmow*"),
)
# fmt: on
_LEXICON = Lexicon(_WORDS)
_NEEDED = frozenset({"license", "unit", "each", "also", "binds"})


def licenses_spares(text: str) -> bool:
    """Whether a sentence of a text demands licenses for each part that is installed, used or not.

    >>> licenses_spares("The software contract counts every accelerator that is powered on, whether it works or waits.")
    True
    >>> licenses_spares("Every accelerator needs a license. Two nodes stand by."), licenses_spares("Spare nodes are free of charge.")
    (False, False)
    """
    for sentence in sentences_of(text):
        meanings = _LEXICON.meanings(sentence)
        if meanings >= _NEEDED and "less" not in meanings and not words_of_another(sentence):
            return True
    return False
