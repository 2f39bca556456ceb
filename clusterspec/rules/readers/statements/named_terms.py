"""The keys of operations and purchases that texts name, and the counts and degrees of layouts."""

from __future__ import annotations

from clusterspec.rules.readers.named_figures import NAMED_MACHINE_AND_WORK
from clusterspec.rules.readers.named_keys import SAME_MODEL, SAME_PRICE, NamedKey, named_keys_row
from clusterspec.standard import pattern

_SAVES = r"(?:checkpoint\w*|ckpts?|snapshots?|saves?|sav(?:e|ing)|sicherung\w*|sichern|sauvegard\w*|guarda\w*|salvatagg\w*|salviamo)\b"
_SAVE_CUES = "checkpoint* ckpt ckpts snapshot snapshots save saves saving saved sicher* sauvegard* guarda* salva*"
NAMED = (
    *NAMED_MACHINE_AND_WORK,
    # operations
    named_keys_row(
        "operations.checkpoint.interval",
        "time",
        rf"(?:{_SAVES}[^.;,\d]{{0,24}}(?:\bevery|\binterval\w*|\balle|\bjede|\btoutes les|\btous les|\bcada|\bogni)|(?:\bevery|\balle|\bjede|\btoutes les|\btous les|\bcada|\bogni)\b(?=[^.;,]{{0,24}}{_SAVES}))",
        _SAVE_CUES,
        r"object store|s3|long-term|archiv\w*|restart\w*|kept|keep|keeps|past|previous|preceding|vergangen\w*|aufbewahr\w*|gardé\w*|gardons|conserv\w*|passées?|pasad[oa]s|passat[ei]|bewaar\w*|bewaren|afgelopen|passad[oa]s|przechow\w*|takes?|evaluation|promot\w*|copied|second tier|every \w+ (?:checkpoint|save)|tier|daily",
        "s",
    ),
    named_keys_row(
        "operations.checkpoint.keep",
        "checkpoint",
        r"(?:(?:last|newest|letzten|derni\w+)(?=[^.;]{0,40}\b(?:keep|kept|stay|remain|retained|bleiben|gardé|conserv))|keep\w*|kept|retain\w*|stays?|remain|behalten|bleiben|aufbewahrt|gardons|conserv\w+)\b",
        "keep keeps kept retain* stay stays remain behalten bleiben aufbewahrt gardons conserv*",
        r"hours?|days?|object store|s3|tape|archive",
    ),
    named_keys_row(
        "operations.repair_time",
        "time",
        r"(?:repair\w*|rma|swap\w*|replaced|back|broken|failed node|reparatur\w*|austausch\w*|repariert|réparation\w*|réparé\w*)\b",
        "repair* rma swap* replaced back broken failed reparatur* austausch* repariert réparation* réparé*",
        r"software|switch\w*|cables?|optics?|links?|drives?|fans?|response|technician|site|checkpoint\w*|restart\w*|gpu|gives? back|pays?|paid|earns?|lessor|spare parts?|job|roll\w*|warranty|contract",
        "s",
    ),
    named_keys_row(
        "operations.restart_time",
        "time",
        r"(?:restart(?:s|ing)? (?:takes?|needs?|costs?|time)|neustart\w*|redémarrage)\b",
        "restart restarts restarting neustart* redémarrage",
        r"every|engine|service|server|pod|vllm|cold",
        "s",
    ),
    # the purchase
    named_keys_row(
        "procurement.term",
        "time",
        r"(?:contract (?:runs?|lasts?|is)|lease|rent(?:al|ed)? for|leased|term|reserv\w+|commitment|commit|vertrag\w*|laufzeit|miete\w*|bail|contrat|location)\b",
        "contract lease rent rental rented leased term reserv* commitment commit vertrag* laufzeit miet* bail contrat location",
        r"support|warrant\w*|hours|extend\w*|notice|power|colo\w*|electric\w*|short-term|long-term|payment|weeks?|strom\w*|wartung\w*",
        "s",
    ),
    named_keys_row(
        "procurement.warranty",
        "time",
        r"(?:warrant\w+|garantie|gewährleistung)\b",
        "warrant* garantie gewährleistung",
        r"battery|ssd|drives?|extended|cooling|cdu|starts?|after|each year|per year|burn-?in",
        "s",
    ),
    named_keys_row(
        "procurement.delivery.weeks",
        "time",
        r"(?:deliver(?:y|ed|s)?|lead time|geliefert|lieferung|lieferzeit|lieferfrist|livraison|livrée?s?)\b",
        "deliver* lead geliefert lieferung lieferzeit lieferfrist livraison livré livrée livrés livrées",
        r"late|delay\w*|spares?|parts?|penalt\w*|damages|per week|switch\w*|optics|cables?|second|each|installation|first|acceptance|bandwidth|payment|from delivery|after delivery|nach lieferung|verzug|retard",
        "week",
    ),
    named_keys_row(
        "procurement.support.response",
        "time",
        r"(?:support|on[- ]site|technicians?|reaktionszeit|response time|intervention|technik\w*|dépannage)\b",
        "support site technician technicians reaktionszeit response intervention technik* dépannage",
        r"years?|months?|parts?|term|tokens?|requests?|latency|service credit|first token|severity|priority|p[1-4]|s[1-4]|phone|telefon\w*|repair\w*|jahre?n?|ans|delivered|delivery|power|weeks?",
        "s",
    ),
    named_keys_row(
        "procurement.tax",
        "share",
        r"(?:vat|sales tax|tax|mwst|ust|tva)\b",
        "vat tax mwst ust tva",
        "reverse charge|reduced|export",
    ),
    named_keys_row(
        "procurement.discount",
        "share",
        r"(?:discount\w*|off\b(?! the)|rebate|rabatt|remise)\b",
        "discount* off rebate rabatt remise",
        r"early|volume|second|power|shut|switch\w*|skonto|if|support|payment|days",
    ),
    *(
        named_keys_row(
            f"procurement.payment.{key}",
            "share",
            rf"(?:(?:with|on|at|upon|after|bei|mit|nach|à la|après) (?:the |der |die )?{words})\b",
            cues,
            r"discount\w*|penalt\w*|damages|tax|vat|credit|tests?|late|nodes?|gpus?|runs?|bandwidth|utili\w+|uptime|availab\w*",
        )
        for key, words, cues in (
            (
                "order",
                "(?:order|signature|bestellung|auftrag\\w*|commande)",
                "order signature bestellung auftrag* commande",
            ),
            ("delivery", "(?:delivery|lieferung|livraison)", "delivery lieferung livraison"),
            ("acceptance", "(?:acceptance|abnahme|recette|réception)", "acceptance abnahme recette réception"),
        )
    ),
    named_keys_row(
        "procurement.pue", "count", r"pue\b", "pue", "ppue|design|annual|winter|summer", same=SAME_PRICE, reach=30
    ),
    named_keys_row(
        "procurement.electricity",
        "money/kWh",
        cues="kwh",
        unless=r"day|night|peak|feed-?in|solar|grid fee|levy|tag|nacht|jour|nuit",
        unit="kWh",
        same=SAME_PRICE,
    ),
    named_keys_row(
        "procurement.utilization",
        "share",
        r"(?:utili[sz]ation|auslastung|busy)\b",
        "utilization utilisation auslastung busy",
        r"mfu|flops|link|network|power|gpu memory|target|kv|cache|budget|fleet|peak|disk|store",
    ),
)
_AXES = {
    "layout.tp": r"(?:tp|tensor(?:[- ]parallel\w*)?)",
    "layout.pp": r"(?:pp|pipeline(?:[- ]parallel\w*)?(?!s? of \d+ ranks))",
    "layout.cp": r"(?:cp|context(?:[- ]parallel\w*))",
    "layout.ep": r"(?:ep|expert(?:[- ]parallel\w*))",
    "layout.dp": r"(?:dp)",
}
_RANKS = r"(?:gpus?|accelerators?|ranks|cards|chips|devices|h\d00s?|beschleuniger)"
_N = rf"(\d{{1,4}})\b(?![.,:/%-]\d|%| ?%| (?:[a-z]{{2,12}} )?(?!stages|{_RANKS})[a-z-]{{2,16}}s\b)"
_SIZE = r"(?:[- ](?:size|degree|grad|groups?|größe|way))?(?: (?:have|has|of) (?:a )?(?:size|degree)(?: of)?)?"
PATTERNED = (
    *(
        NamedKey(
            key,
            frozenset(),
            pattern(
                rf"(?i)(?<![\w/-]){words}{_SIZE}(?:[ =:_-]|(?: of| is| over| across| auf| über| von| de| sur) )?{_N}"
                rf"|(?<![\w.,/-])(\d{{1,4}})[- ](?:way|fach\w*)[- ]{words}\b|(?<![\w.,/-])(\d{{1,4}}) {_RANKS} (?:by|with|via|through|in|mit|per|par) {words}\b(?![ =:_-]?\d)"
            ),
            frozenset({key[-2:], *words.strip("(?:").partition("(")[0].split("|")}),
            (key[-2:],),
            least=1.0,
        )
        for key, words in _AXES.items()
    ),
    NamedKey(
        "workload.model",
        frozenset(),
        pattern(r"(?<![\w.,/×:-])(\d{1,3}(?:,\d{3})+|\d{1,4}(?:\.\d{1,3})?)B\b(?<!910B)(?! tokens)(?!-A)"),
        frozenset(),
        tuple("123456789"),
        same=SAME_MODEL,
        least=1e9,
    ),
)
"""Keys that a text names in patterns of their own: degrees of parallelism, and the size of the model."""
REPLICAS, MICRO_BATCHES, SEQUENCES = "replicas", "micro-batches for each replica", "sequences for each replica"
LAYERS, EXPERTS = "layers for each stage", "experts for each rank"
_NOT_OF_RUN = r"rehears\w*|lost|left|fail\w*|after|shrink\w*|spare|serv\w+|engines?|reward|rollout|draft|teacher|warm-?up|hsdp|active|chosen|shared|top|of which|between|mindestens|höchstens"
NAMED_COUNTS = (
    named_keys_row(
        REPLICAS,
        "engine",
        cues="replicas replikate replikaten répliques réplicas",
        unless=rf"{_NOT_OF_RUN}|shard\w*|(?:replicas|replikate|répliques) (?:of|for) (?:the )?(?:data|checkpoint|store|file|weights|router|database|engine)|instances?",
    ),
    named_keys_row(
        MICRO_BATCHES,
        "micro-batch/engine micro-batch/rank micro-batch/step micro-batch",
        r"(?:(?:per|a|each|every|for each|je|pro|par|on each|in each) (?:replica|replikat|rank|step|schritt|update|optimizer step|pipeline|réplique|pas)|accumulat\w+|each)\b",
        "micro-batch* microbatch* micro mikrobatches lots",
        _NOT_OF_RUN,
    ),
    named_keys_row(
        SEQUENCES, "sequence/engine sample/engine", cues="sequences sequenzen séquences samples", unless=_NOT_OF_RUN
    ),
    named_keys_row(
        SEQUENCES,
        "sequence/step sample/step",
        r"(?:per|each|every|pro|je|par|chaque) (?:replica|replikat|réplique)\b",
        "replica replikat réplique",
        _NOT_OF_RUN,
    ),
    named_keys_row(
        LAYERS,
        "layer/stage",
        r"(?:per|a|each|every|je|pro|par) (?:pipeline )?(?:stage|stufe|étage)\b",
        "layers schichten couches blocks",
        _NOT_OF_RUN,
    ),
    named_keys_row(EXPERTS, "expert/accelerator expert/rank", cues="experts experten", unless=_NOT_OF_RUN),
)
"""Counts of a layout that no key states."""
