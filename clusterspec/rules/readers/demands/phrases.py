"""Phrases of demands with other words between their parts, which tables of words do not hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.rules.readers.lexicon import Mention
from clusterspec.standard import pattern

MOST = 8
"""Phrases of each kind that are read in a sentence."""
_DELIVERED = r"(?:deliver\w*|arriv\w*|geliefert|eintr\w+|livr\w+|entreg\w+|lleg\w+|consegna\w*|arriva\w*|geleverd|aankom\w*|cheg\w+|dostarcz\w+)"
_ACCEPTED = r"(?:accepted|abgenommen|réceptionn\w+|aceptad\w+|recibid\w+|collaudat\w+|accettat\w+|aanvaard|geaccepteerd|aceit\w+|odebran\w+)"
_BEFORE = r"(?:before|until|bevor|ehe|bis|avant que|antes de que|hasta que|prima che|finché|voordat|totdat|antes que|até que|zanim)"
_HALL = r"(?:hall|room|building|halle|saal|gebäude|raum|salle|bâtiment|sala|edificio|edifício|nave|locale|hal|zaal|gebouw|hala|budynek|salę|halę)"
_HANDS_OVER = r"(?:delivers?|hands? over|liefert|übergibt|livre(?:ra)?|remet(?:tra)?|entrega(?:rá)?|consegn(?:a|erà)|levert|oddaje|odda|przekaże|przekazuje)"
_HANDED_OVER = r"(?:delivered|handed over|übergeben|geliefert|livrée?|remise?|entregad[oa]|entregue|consegnat[oa]|opgeleverd|oddan[ay]|przekazan[ay])"
_ANY = r"(?:any|every|each|jede[mnrs]?|tout|toute|n['’]importe quel(?:le)?|chaque|cualquier|cada|qualsiasi|qualunque|ogni|elke?|iedere?|qualquer|dowoln\w+|każd\w+)"
_STATE = r"(?:states?|points?(?: in time)?|moments?|stand|zeitpunkt|zustand|état|instant|moment|estado|momento|punto|stato|istante|toestand|stand|tijdstip|ponto|instante|stanu?|momentu?)"
_MONEY = r"(?:EUR|USD|GBP|CHF|PLN|euros?|dollars?|pounds|francs|franken|dólares|dollari|€|\$)"
_PHRASES = (
    # a state of the training to which it must be able to return
    ("anystate", pattern(rf"(?i)\b{_ANY} (?:[^\W\d]+ )?{_STATE}\b")),
    # the handing over of a hall, before which no machine is there
    (
        "handover",
        pattern(
            rf"(?i)\b{_HANDS_OVER} (?:the |our |die |den |das |la |le |l['’]|el |il |lo |de |het |a |o )?(?:(?:new|neue[nrs]?|nouvelle|nueva|nuova|nieuwe) )?{_HALL}\b|\b{_HALL}\b(?: \w{{1,3}})? [^.;,\d]{{0,20}}\b{_HANDED_OVER}\b|\b{_HALL}\b(?: \w{{1,3}})? (?:is|wird|est|se|es|è|é|wordt) [^.;,]{{0,24}}\b{_HANDED_OVER}\b"
        ),
    ),
    # the French words around what is the most: `n'évacue que 600 kW`
    ("most", pattern(r"(?i)\b(?:ne |n['’])[^.;,]{1,48}?\bque (?=\d)")),
    (
        "rollback",
        pattern(
            r"(?i)\b(?:throws?|threw|sets?|puts?|brings?) (?:[^\W\d]+ ){1,3}back\b|\bw[ei]rf\w* (?:[^\W\d]+ ){1,6}zurück\b|\bgeht\b[^.;,]{1,60}\bverloren\b"
        ),
    ),
    ("removing", pattern(r"(?i)\bführ\w{1,3} [^.;]{1,60}?\bab\b|\bvoer\w{1,2} [^.;]{1,60}?\baf\b")),
    ("permits", pattern(r"(?i)\b(?:laat|laten|staat|staan) [^.;]{1,60}?\btoe\b|\bl[äa]ss\w* [^.;]{1,60}?\bzu\b")),
    # one checkpoint, whose size is not that of all
    (
        "onecheckpoint",
        pattern(
            r"(?i)\b(?:an?|one|each|every|single|eine?|jede[rs]?|une?|chaque|una?|cada|ogni|een|elke?|um) (?:checkpoint|snapshot|sicherung|kontrollpunkt|sauvegarde|point de (?:contrôle|reprise)|punto de control)\b"
        ),
    ),
    ("cutverb", pattern(r"(?i)\bbr(?:icht|echen) [^.;]{1,60}?\bab\b|\btimes? [^.;]{1,32}?\bout\b")),
    (
        "heldback",
        pattern(
            r"(?i)\bbehalt\w* [^;]{1,60}?\bein\b(?! [^\W\d]+ (?:servers?|jahr|monat)\b)|\b(?:halt\w*|hält) [^.;]{1,60}?\bzurück\b|\b(?:houd\w*|hield\w*) [^.;]{1,60}?\bin\b(?=[.,;]|$)"
        ),
    ),
    ("prepaid", pattern(rf"(?i)\b{_BEFORE} [^.;,\d]{{1,40}}?\b{_DELIVERED}\b")),
    # an amount of money that somebody has for something; a price at which something is available is none
    (
        "budgeted",
        pattern(
            rf"(?i)\b{_MONEY} (?:(?:is|are) (?:[^\W\d]+ )?available|(?:est|sont) (?:[^\W\d]+ )?disponibles?|(?:está|están|estão) (?:[^\W\d]+ )?(?:disponible|disponíve)[il]?s?|(?:è|sono) disponibil[ei]|(?:is|zijn) (?:[^\W\d]+ )?beschikbaar)\b|"
            rf"\b{_MONEY} (?:[^\W\d]+ ){{0,6}}?zur verfügung\b|\b(?:disponemos de|disposons de|disponiamo di|dispomos de) (?=[^;]{{1,24}}?\b{_MONEY}\b)|\b{_MONEY} stehen [^.;]{{1,60}}?\bzur verfügung\b"
        ),
    ),
    ("unaccepted", pattern(rf"(?i)\b{_BEFORE} [^.;,\d]{{1,40}}?\b{_ACCEPTED}\b")),
)


def phrases_in(sentence: str) -> Iterator[Mention]:
    """The phrases of a sentence.

    >>> [each.meaning for each in phrases_in("A crash may throw the whole run back; we pay before the nodes are delivered.")]
    ['rollback', 'prepaid']
    """
    for meaning, phrase in _PHRASES:
        for match in islice(phrase.finditer(sentence), MOST):
            yield Mention(meaning, *match.span())
