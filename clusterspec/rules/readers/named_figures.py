"""The keys of machines and work that texts name, with the units, nouns and words of each."""

from __future__ import annotations

from clusterspec.rules.readers.named_keys import named_keys_row
from clusterspec.standard import pattern

BANDWIDTH_OF_NODE = "bandwidth of a node"
_NODE = "nodes servers boxes box node server hosts machines systems knoten maschine nœud noeud serveur"
_STORE = r"(?:stor(?:e|age)|file ?system|filesystem|lustre|gpfs|weka|vast|speicher|dateisystem|stockage|système de fichiers)\b"
_STORE_CUES = "store storage file filesystem lustre gpfs weka vast speicher dateisystem stockage fichiers"
_UNIT = r"(?:node|engine|GPU|accelerator|replica|instance|server|card|chip|rank|worker|host)"
_ONE_OF_MANY = r"each|every|per|one|single|a (?:node|client|gpu|rack|file|job)|je|pro|jede\w*|par|chaque"
_OF_A_TIME = r"/s|(?:per|an?|each|every|in|je|pro|am|par|por|al?) (?:one |single )?(?:second|minute|hour|day|week|month|year|sekunde|minute|stunde|tag|woche|monat|jahr|seconde|heure|jour|mois|segundo|minuto|hora|día|mes|secondo|ora|giorno|mese)s?"
_PART_OF_RUN = pattern(
    r"(?i)^(?!.*\b(?:whole|entire|total|altogether|full (?:run|training))\b)(?:.*\d steps\b|"
    r".*\b(?:first|initial|last|final|others?|remaining|remainder|rest|next|warm-?up|anneal\w*|decays?|cool-?down|phases?|stages?|of which|mid-?training)\b)"
)
"""A sentence that divides a run into parts, or that counts steps."""
_OF_LOAD = pattern(r"(?i)\d ?[kM]? ?(?:requests|queries|calls|tokens|users|sessions|anfragen|nutzer|requêtes)\b")
"""A load; its machine may differ from the planned one."""
NAMED_MACHINE_AND_WORK = (
    # the machine
    named_keys_row(
        "cluster.accelerators_per_node",
        "accelerator/node",
        cues="gpu gpus accelerator accelerators chip chips",
        unless=r"engines?|replicas?|copies|copy|groups?|moteurs?|instanzen|motores",
    ),
    named_keys_row(
        "cluster.nodes",
        "node",
        cues=_NODE,
        unless=rf"storage|store|manage\w*|login|head|front-?end|control|cpu|drives?|disks?|osds?|racks?|pods?|blocks?|islands?|groups?|units?|engines?|prefill|decode|rollout|trainer|train\w*|jobs?|tests?|spares?|out|away|down|repair\w*|serv(?:e|es|ing)|tenants?|partitions?|leaf|leaves|switch\w*|rail|power\w*|cable\w*|of|quote\w*|offer\w*|deliver\w*|batch|wave|{_ONE_OF_MANY}",
        least=2,
    )._replace(elsewhere=_OF_LOAD),
    named_keys_row(
        "cluster.accelerators",
        "accelerator",
        cues="gpu gpus accelerator accelerators chip chips tpus",
        unless=rf"domain|nvlink|nodes?|racks?|pods?|blocks?|islands?|groups?|units?|engines?|prefill|decode|rollout|train\w*|jobs?|tests?|spares?|out|away|down|serv(?:e|es|ing)|tenants?|partitions?|leaf|leaves|switch\w*|rail|power\w*|of|replicas?|stages?|tp|tensor|pp|ep|expert\w*|dp|parallel\w*|quote\w*|offer\w*|{_ONE_OF_MANY}",
        least=2,
    )._replace(elsewhere=_OF_LOAD),
    named_keys_row(
        "cluster.scale_out.nics_per_node",
        "nic/node",
        cues="nic nics hca hcas adapter adapters netzwerkkarten",
        unless=r"storage|front-?end|management|bmc|ethernet|data ?centre|data ?center",
    ),
    named_keys_row(
        "cluster.host_memory",
        "size size/node",
        r"(?:(?:host|system|main|cpu)[ -]memory|(?:host|system)[ -]ram|\bram\b|dram\b|ddr[45]\b|dimms?\b|arbeitsspeicher|hauptspeicher|mémoire (?:système|vive|hôte)|"
        r"memoria (?:de|del) (?:sistema|host|anfitrión)|memoria ram|memória (?:de|do) sistema|memoria di sistema)",
        "memory ram dram ddr4 ddr5 dimm dimms arbeitsspeicher hauptspeicher mémoire memoria memória",
        r"hbm\w*|gpu|gpus|accelerators?|cards?|cache|kv|storage|stores?|tiers?|takes?|needs?|uses?|used|occup\w*|offloads?|offloaded|of (?:\w+ )?(?:states?|optimi\w*|weights?|caches?|snapshots?)|free|left|total|together|in all|all|reserv\w*|per (?:gpu|card|rank)|page|"
        r"drives?|nvme|modules?|dimms? of|login|head|management|store\w*|each gpu|braucht|belegt|insgesamt|occupe\w*|au total|en total|usa\w*",
        "B",
        least=64e9,
    ),
    named_keys_row("cluster.power.nodes_per_rack", "node/rack", cues=_NODE),
    named_keys_row("racks", "rack", r"(?:nvl\d{2,3}|gb\d00|helios)\b", "nvl72 nvl36 gb200 gb300 helios", "per|spare"),
    named_keys_row(
        "cluster.scale_out.nic_bandwidth",
        "rate",
        r"(?:ndr|hdr|xdr|edr|nics?|hcas?|adapters?|(?:compute|gpu|training|cluster) (?:fabric|network)|rails?|per gpu|for each gpu|connectx-\d)\b",
        "ndr hdr xdr edr nic nics hca hcas adapter adapters fabric network rail rails gpu connectx",
        r"storage|front-?end|management|bmc|switch\w*|uplinks?|spines?|leaf|leaves|cages?|twin\w*|osfp|cables?|modules?|transceivers?|dual|two-port|bisection|nodes?|measured|effective|ib_\w+|busbw|nvlink|pcie|memory|hbm|(?:grafik)?speicher\w*|mémoire\w*|memoria\w*|geheugen\w*|minne\w*|split\w*|breakout|store|bandwidth of",
        "B/s",
    ),
    named_keys_row(
        "cluster.scale_out.nic_bandwidth",
        "rate/nic",
        cues="nic nics hca hcas adapter adapters netzwerkkarte* cartes connectx",
        unless=r"storage|front-?end|management|bmc|host|measured|effective|busbw|old\w*|split\w*|store|uplinks?",
        unit="B/s",
    ),
    named_keys_row(
        BANDWIDTH_OF_NODE,
        "rate/node",
        r"(?:fabric|leaf|leaves|leafs?\w*|nics?|hcas?|adapters?|karten|cartes|tarjetas|schede|connectx-\d|thor-\d|bluefield-\d)\b",
        "fabric leaf leaves leafs* nic nics hca hcas adapter adapters cards karten cartes tarjetas schede connectx thor bluefield",
        r"storage|store|front-?end|management|bmc|host|measured|effective|busbw|nvlink|pcie|memory|hbm|speicher\w*|mémoire|gpu|gpus|switch|uplinks?|spines?|ports?|links?|reads?|writ\w+|checkpoint\w*|lesen|lit|needs?|braucht",
        unit="B/s",
        least=1e10,
    ),
    named_keys_row(
        "cluster.networks.storage.nic_bandwidth",
        "rate",
        r"(?:storage|store|speicher|stockage)\b",
        "storage store speicher stockage",
        r"reads?|writ\w+|file ?system|capacity|checkpoint\w*|total|aggregate|switch\w*|uplinks?|delivers?|nvme|drives?|bytes|per client|gb/s|tb/s|lesen|lecture|compute|fabric",
        "B/s",
    ),
    named_keys_row(
        "cluster.spare_nodes",
        "spare",
        r"(?:hot |cold )?(?:spares?|reserves?|stand-?by|ersatz\w*|de (?:secours|réserve))\b",
        "spare spares reserve reserves standby ersatz* secours réserve",
        r"parts?|optics?|modules?|transceivers?|cables?|drives?|switch\w*|ports?|psus?|supplies|percent|teile\w*|%|capacity|nics?|gpus?|fans?|each rack|per rack",
    ),
    named_keys_row("cluster.spare_nodes", "node", "spares?", "spare", "cost|price|cabinet", reach=0),
    named_keys_row(
        "cluster.networks.storage.capacity",
        "size",
        _STORE,
        _STORE_CUES,
        rf"on the|keeps?|holds?|data|tokens?|speech|corpus|raw|brutto?|bruts?|roh|gross|checkpoint\w*|flash|nvme|tier|scratch|cache|local|drives?|data ?sets?|archive|used|{_ONE_OF_MANY}",
        "B",
    ),
    named_keys_row(
        "cluster.networks.storage.read",
        "rate",
        r"(?:reads?|reading|lesend|lesen|(?:en|de) lecture)\b",
        "read reads reading lesend lesen lecture",
        rf"nics?|ports?|memory|hbm|nvlink|drives?|cache|local|writ\w+|schreib\w+|écriture|burst|{_ONE_OF_MANY}",
        "B/s",
    ),
    named_keys_row(
        "cluster.power.rack_limit",
        "watts/rack",
        r"(?:limit\w*|at most|no more than|up to|max\w*|budget\w*|capacity|cap|cooled|supply|grenze|höchstens|au plus|plafond\w*)\b",
        "limit limits limited most more maximum budget cap cooled grenze höchstens plus plafond plafonné",
        r"draws?|measured|average|idle|cooling|cdus?|row|pdus?|feeds?",
        "W",
    ),
    named_keys_row(
        "cluster.power.budget",
        "watts",
        r"(?:(?-i:IT)(?= (?:budget|limit))|hall|room|site|budget|halle|saal|salle)\b",
        "it hall room site budget halle saal salle",
        rf"cool\w*|chillers?|ups|feeds?|meter|transformer\w*|utility|contract\w*|utilisé|pue|grid|draws?|consum\w+|rows?|racks?|nodes?|generators?|kühl\w*|{_ONE_OF_MANY}",
        "W",
    ),
    # the work
    named_keys_row("workload.sequence_length", "token/sequence", cues="sequence sequences sequenz séquence"),
    named_keys_row(
        "workload.sequence_length",
        "token count",
        r"(?:sequence length|sequences? (?:of|with)\b|seq(?:[ _-]?len(?:gth)?)?\b|context(?: length| window)?\b|sequenzl\w+|kontext\w*|(?:longueur de )?contexte\b)",
        "sequence sequences seq seqlen seq_len context sequenz* kontext* contexte",
        r"users?|prompts?|serv\w+|requests?|answers?|extension|long-context|curriculum|eval\w*",
        most=1e8,
    ),
    named_keys_row(
        "workload.global_batch",
        "sequence/step sample/step sequence sample",
        r"(?:(?:optimi[sz]er |training |each |one |every |a |per )?step\b(?! time)|(?:global )?batch(?:es)?(?: size)?(?: of| is)?\b|gbs\b|schritt\b|taille de lot|lot global|batchgröße)",
        "step batch gbs schritt lot batchgröße",
        r"micro-?batch\w*|mini-?batch\w*|tokens?|steps|seconds?|rate|per (?:replica|gpu|rank|node)|rollouts?|prompts?|eval\w*",
    ),
    named_keys_row(
        "workload.global_batch",
        "count",
        r"(?:(?:global )?batch(?: size)?(?: of| is|:| =)?|gbs|global batch|batchgröße|taille de lot)(?= ?\d)",
        "batch gbs batchgröße lot",
        r"micro-?batch\w*|mini-?batch\w*|tokens?|per (?:replica|gpu|rank|node)|rollouts?|prompts?|eval\w*|decode|requests?|inference|rl|pairs?",
        least=2,
        most=1e6,
    ),
    named_keys_row("tokens of a step", "token/step", cues="token tokens"),
    named_keys_row(
        "tokens of a step",
        "token",
        r"(?:batch(?:es)? of|steps? (?:of|has|have|takes?|reads?))\b",
        "batch batches step steps",
        unless=r"micro-?batch\w*|prefill|chunk\w*|prompts?",
    ),
    named_keys_row(
        "workload.tokens",
        "token",
        cues="token tokens jetons",
        unless=r"unique|deduplicat\w+|tokeni[sz]er|(?:per|a|in|for) (?:day|second|step|gpu|node|epoch)|batch|context|seconds?|checkpoints?|data ?set|mixture|collected|gathered|available|gesammelt",
        least=1e9,
    )._replace(part=_PART_OF_RUN),
    named_keys_row(
        "workload.serving.concurrency",
        "request sequence person",
        r"(?:in flight|concurrent(?:ly)?|at once|at a time|simultaneous\w*|gleichzeitig\w*|simultané\w*)\b",
        "flight concurrent concurrently once simultaneous* gleichzeitig* simultané*",
        rf"engines?|replicas?|{_ONE_OF_MANY}",
    ),
    named_keys_row(
        "workload.serving.concurrency",
        "count",
        r"in flight\b",
        "flight",
        rf"engines?|replicas?|tokens?|{_ONE_OF_MANY}",
        most=9999,
    ),
    named_keys_row(
        "workload.serving.request_rate",
        "request/s",
        cues="requests anfragen requêtes queries calls req prompts",
        unless=rf"(?:one|each|every|an?|any|a single|per) (?:[\w.-]{{1,16}} ){{0,2}}?{_UNIT}\b(?! (?:for|with|to|that|which)\b)|(?:per|an?|each|every|(?:on|for|from) (?:each|every)) {_UNIT}|peak|capacity|sustain\w*|"
        r"gateways?|firewalls?|load balancers?|proxy|proxies|web ?servers?|lastverteiler|passerelles?|pare-feu|pasarelas?|cortafuegos",
    ),
    named_keys_row(
        "workload.serving.input_tokens",
        "token token/request",
        r"(?:prompts?|inputs?|in(?=,| and\b)|anfragen?|eingaben?|requêtes?|entrées?)\b",
        "prompt prompts input inputs in anfrage anfragen eingabe eingaben requête requêtes entrée",
        rf"system prompt|shared|prefix|cached?|chunk\w*|{_OF_A_TIME}|usd|eur|\$|million|price|p\d\d|percentile",
        most=1e7,
    ),
    named_keys_row("workload.serving.input_tokens", "count", r"in(?=,| and\b|$)", "in", "with", most=1e7),
    named_keys_row("workload.serving.output_tokens", "count", r"out\b(?! of)", "out", "with", most=1e7),
    named_keys_row(
        "workload.serving.output_tokens",
        "token token/request",
        r"(?:answers?|outputs?|out\b(?! of)|responses?|completions?|antwort\w*|ausgaben?|réponses?|sorties?)\b",
        "answer answers output outputs out response responses completion completions antwort* ausgabe ausgaben réponse réponses sortie sorties",
        rf"{_OF_A_TIME}|usd|eur|\$|million|price|p\d\d|percentile|reasoning|draft\w*|speculat\w*|must|within|muss|müssen|binnen|innerhalb|doi(?:t|vent)|debe\w*",
        most=1e7,
    ),
    named_keys_row(
        "workload.serving.targets.ttft",
        "time",
        r"(?:ttft|time to first token|first token|erstes? token|erste token|premier (?:jeton|token))\b",
        "ttft first erstes erste premier",
        "queue|prefill|measured|takes|cold|cache",
        "s",
    ),
    named_keys_row(
        "workload.serving.targets.tpot",
        "time time/token",
        r"(?:tpot|itl|inter-token(?: latency)?|(?:per|between) (?:output )?tokens?|token to token|pro token|par (?:jeton|token))\b",
        "tpot itl inter per between pro par",
        "queue|measured|step|prefill",
        "s",
    ),
    # the layout
    named_keys_row(
        "layout.pp",
        "stage",
        r"(?:pipeline\w*|pp)\b",
        "pipeline pipelines pp",
        r"virtual|interleav\w*|chunks?|per|each|je|training pipeline|data pipeline|ci",
    ),
)
