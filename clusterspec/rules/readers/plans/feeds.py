"""The power limit of a circuit in a text, and patterns of a unit out of service and of what continues without it."""

from __future__ import annotations

from math import sqrt

from clusterspec.rules.readers.written_numbers import number_in_text
from clusterspec.standard import pattern

LOWEST_LINE = 300.0
"""Smallest voltage at which a voltage is read as line to line; below it, 200 V and 208 V are read so too."""
ONE_PHASE = pattern(r"\b(?:single|one|1)[- ]?phase\b|\beinphasig|\bmonophasé|\bmonofásic")
_EIGHTY = pattern(r"\b80 ?%|\b0[.,]8\b(?! ?pf)|\bfour fifths\b|\bcontinuous\w*")
_FACTOR = pattern(r"\b(?:power factor|pf|cos ?(?:phi|φ)|leistungsfaktor)(?: of| is|:|=)? ?(0[.,]\d{1,2}|1(?:[.,]0)?)\b")


def circuit_rating(volts: float, amperes: float, sentence: str) -> tuple[float, str]:
    """The power limit of a circuit in watts by a sentence, and its calculation as text.

    >>> round(circuit_rating(400.0, 32.0, "3x32 a bei 400 v")[0]), round(circuit_rating(230.0, 16.0, "single-phase")[0])
    (22170, 3680)
    """
    phases, how = (1.0, "one phase") if ONE_PHASE.search(sentence) is not None else (sqrt(3), "× √3")
    if how == "× √3" and volts < LOWEST_LINE and volts not in {200.0, 208.0}:
        phases, how = 3.0, "× 3 phases"
    factor = _FACTOR.search(sentence)
    share = number_in_text(factor[1]) if factor is not None else 1.0
    if _EIGHTY.search(sentence) is not None:
        share, how = share * 0.8, f"{how} × 0.8"
    return volts * amperes * phases * share, how


LOSS = pattern(
    r"\b(?:(?:loss|losing|failure|fault|outage|maintenance|service|servicing|repair|trip) (?:of|on|at)(?: any| either| a single)?(?: one| a| any| single| unit| of| the| them| these| two| cdu| ups| generator| chiller| transformer)+|"
    r"(?:can|may|could|able to) (?:\w+ )?(?:lose|take out|isolate|service|take down|valve off|stop|maintain|shut down) (?:one|either|any|a|an|each)\b|"
    r"takes? (?:one|either|it|an? \w+) (?:out|down|off)|(?:refuses?|fails?) to start|losing|survives?|tolerates?|rides? through|fails?|failed|failing|failure|lost|loses?|out of (?:service|order)|offline|valved off|(?:switched|turned|shut) (?:off|down)|out for (?:repair|service|maintenance)|(?:is|are|be|goes|go|being) (?:out|off|down|serviced|isolated|removed|maintained|repaired|replaced|taken (?:out|down|offline))|"
    r"drops? out|trips?|tripped|does not start|won['’]t start|service on|maintenance(?: bypass)?|in bypass|taken (?:out|down|offline)|serviced|unavailable|"
    r"in (?:service|maintenance|repair|revision)|ausfallen|ausfällt|fällt|ausfall|ausfalls|gewartet|wartung|störung|abgeschaltet|panne|pannes|perte|défaillance|défaut|maintenance|tombe|arrêt|arrêtée?|hors service|pérdida|fallo|falla)\b"
)
"""Pattern of words for one unit that is out of service."""
UNAFFECTED = pattern(
    r"\b(?:at |with )?(?:full|100 ?%(?: of)?|normal|rated|unchanged) (?:power|load|rate|speed|output|heat|throughput|last)\b"
    r"|\b(?:without|with no|has no|have no|no|needs no|ohne(?: jede)?|keine?n?|keinerlei|sans(?: aucun)?|aucun|sin|ningún) (?:any |a |an |further )?(?:visible |noticeable )?"
    r"(?:effects?|impacts?|throttl\w+|derat\w+|cuts?(?: in load)?|loss(?: of \w+)?|reduc\w+|interrupt\w+|slow\w+|capping|consequences?|downtime|notice|folgen|auswirkung\w*|einschränkung\w*|drossel\w*|unterbrech\w*|einfluss|effets?|conséquences?|incidence|interruption|réduction|efecto|impacto)\b"
    r"|\b(?:carr(?:y|ies)|takes?|handles?|covers?|cools?|removes?|feeds?|suppl(?:y|ies)|supports?|has (?:enough |the )?capacity for|is enough for|suffices for|trägt|tragen|übernimmt|übernehmen|nimmt|nehmen|kühlt|deckt|versorgt|versorgen|reprend|reprennent|assure|assurent|absorbe|absorbent|prend|porte|refroidit|alimente)"
    r" (?:up |over )?(?:\w+ ){0,2}?(?:all|everything|whole|full|entire|rest|load|heat|racks?|hall|row|pod|cluster|gesamte\w*|ganze\w*|wärme|last|alles|toute|tout|totalité|charge|salle|chaleur)\b"
    r"|\b(?:suffices?|(?:is|are) (?:enough|sufficient)|genügt|genügen|reicht|reichen|suffit|suffisent)\b"
    r"|\b(?:all|whole|entire|everything|alle|alles|tout|toute|tous|training|job|run|cluster|machine|racks|nodes|trainings?lauf)\b[^.;]{0,40}?\b(?:run|runs|go|goes|train|trains|keep|keeps|continues?|stay|stays|laufen|läuft|bleib\w*|tournent|continue\w*|reste\w*)\b"
    r"|\b(?:go(?:es)? on|going|unaffected|uninterrupted|unnoticed|unchanged|transparent\w*|invisible|seamless\w*|non-event|no problem|not a problem|no issue|harmless|keeps? (?:running|training|serving)|continues?|(?:still|fully) (?:protected|cooled|powered|supplied|covered)|never (?:notice|see)s?|(?:does|do|will) not (?:slow|stop|hurt|touch|reduce|limit|throttle|disturb)|ohne dass [^.;,]{0,40}?(?:gedrosselt|beeinträchtigt|unterbrochen|gestört|reduziert|langsamer) (?:wird|werden)|without [^.;,]{0,30}?(?:throttled|interrupted|noticed|affected|slowed)|not (?:notice|affect|feel|interrupt)\w*|does not (?:notice|feel|see|affect|matter)"
    r"|unbemerkt|unberührt|unbeeinflusst|weiter|volle[rn]? (?:last|leistung)|volllast|n['’](?:affecte|a pas d['’]effet|interrompt|entraîne)\b(?: pas| aucun\w*)?|pleine (?:charge|puissance)|inaperçue?|n ?\+ ?1|redundan\w+)\b"
)
"""Pattern of words for a machine that continues as before."""
ALL_OUT = pattern(
    r"\b(?:both|all|beide|alle|les deux)\b[^.;,]{0,24}\b(?:are|can be|may be|be|fail|go|sind|sont) (?:\w+ )?(?:off|out|down|valved|shut|lost|serviced|taken|isolated|switched|turned|aus|arrêtés)\b"
)
"""Pattern of words for all units out of service."""
STOPPED = pattern(
    r"\b(?:racks?|nodes?|gpus?|jobs?|half|rows?|servers?|schränke|knoten|baies|nœuds|serveurs)\b[^.;,]{0,16}\b(?:are|is|be|go|goes|sind|sont) (?:\w+ )?(?:off|down|out|powered|shut|stopped|idle|aus|arrêtés)\b"
)
"""Pattern of words for a part of the machine that stops during the loss."""
ALONE = pattern(
    r"\b(?:either|each|any|one)\b[^.;]{0,40}\b(?:by itself|on its own)\b|\beither\b(?: of (?:them|the two|these|both))?(?: can| could)? (?:carr|tak|handl|cool|feed|suppl|cover|support)|"
    r"\b(?:either|each|any|one)\b[^.;]{0,40}\balone\b|\bits twin\b|\beine[rs]? allein\b|\bseule?\b"
)
"""Pattern of words for one unit that can carry the whole load."""
