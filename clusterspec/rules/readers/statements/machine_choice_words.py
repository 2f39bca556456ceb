"""The words by which texts state the choices of the keys of the machine and of the layout."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.rules.readers.statements.choice_words import CLAUSE, SENTENCE, Choices, switch

_FEEDS = r"\b(?:feeds?|power|supply|supplies|ups|strom\w*|einspeisung\w*|alimentation\w*|alimentación|alimentazione|alimentação)\b|供电|电源|給電|電源|급전|전원"
_STORAGE = r"\b(?:storage|speicher\w*|stockage|almacenamiento|front-?end|management)\b|存储|ストレージ|스토리지|管理"
_OF_OTHERS = r"\b(?:switch\w*|spines?|lea(?:f|ves)|storage|cpus?|old|rest|halls?|rooms?)\b|交换机|スイッチ|스위치"

_ADAPTERS = (
    r"\badapt(?:er|or)s?\b|\badaptateurs?|\badaptadores|\badattatori|适配器|アダプター?|어댑터|\b(?:frozen|eingefroren\w*|gelé\w*|congelad\w+)\b|冻结|凍結",
)
"""Words for training of adapters, whatever their method."""

MACHINE_CHOICES: Sequence[Choices] = (
    Choices(
        "cluster.scale_out.sharing",
        r"\b(?:fabric|network|infiniband|roce|ethernet|switch\w*|lea(?:f|ves)|netzwerk|netz|réseau|red|rete|rede)\b|网络|交换机|参数面|ネットワーク|네트워크",
        {
            "exclusive": r"\b(?:for|to) (?:us|this (?:machine|cluster|job|project|team)|the (?:job|project)) alone\b|\b(?:ours|its own) alone\b|\bexclusiv\w+|\bexklusiv\w*|\b(?:nobody|no one) else (?:shares?|uses|crosses)\b|\bno other (?:job|tenant|user|team|traffic)s?\b|\bkein anderer\b|\baucun autre|\bningún otro|\bnessun altro|\bnenhum outro|独占|独享|专用|専有|占有|전용|독점",
            "shared": r"\b(?:shared?|shares) (?:\w+ ){0,3}with (?:other|another|two|three|several|the) (?:\w+ )?(?:tenants?|customers?|users?|groups?|teams?|jobs?|departments?|institutes?)|\bother (?:tenants?|jobs?|teams?|users?)(?: \w+){0,3} (?:use|cross|share|run over)|\b(?:geteilt|teilen) (?:\w+ ){0,2}mit|\bpartagé\w* avec|\bcompartid\w+ con|\bcondivis\w+ con|\b(?:com)?partilhad\w+ com|与[^。,]{0,12}共用|共享|共用して|他の(?:利用者|ジョブ)|공유",
        },
    ),
    switch(
        "cluster.scale_out.flow_control.pfc",
        r"(?<![a-z0-9])PFC(?![a-z0-9])|priority flow control|(?:基于)?优先级(?:的)?流(?:量)?控",
        _STORAGE,
    ),
    switch(
        "cluster.scale_out.flow_control.ecn",
        r"(?<![a-z0-9])ECN(?![a-z0-9])|explicit congestion notification|显式拥塞通知",
        _STORAGE,
    ),
    switch(
        "cluster.scale_out.flow_control.trimming", r"packet trimming|trimming of packets|报文裁剪|パケットトリミング"
    ),
    switch("cluster.scale_out.gpudirect_rdma", r"GPU ?Direct(?: RDMA)?"),
    switch(
        "cluster.scale_out.in_network_reduction",
        r"(?<![a-z0-9])SHARP(?![a-z0-9])|in-network reduction|网内(?:归约|计算)",
    ),
    switch("cluster.host.acs", r"(?<![a-z0-9])ACS(?![a-z0-9])|access control services?"),
    switch(
        "workload.serving.captured_graphs",
        r"CUDA graphs?|graph capture|captured graphs?|CUDA[- ]Graphen|graphes CUDA|grafos CUDA|CUDA ?图|CUDA ?グラフ|CUDA ?그래프",
    ),
    switch(
        "layout.captured_graphs",
        r"CUDA graphs?|graph capture|captured graphs?|CUDA[- ]Graphen|graphes CUDA|grafos CUDA|CUDA ?图|CUDA ?グラフ|CUDA ?그래프",
    ),
    switch(
        "layout.sequence_parallel",
        r"sequence parallel\w{0,8}|Sequenzparallel\w{0,12}|parallélisme de séquence|序列并行|シーケンス並列|시퀀스 병렬",
    ),
    Choices(
        "cluster.power.cooling",
        "",
        {
            "air": r"\bair[- ]cooled|cooled (?:by|with) air|\bluftgekühlt\w*|\bluftkühlung|refroidi\w* (?:par|à) (?:l['’] ?)?air|refrigerad\w+ (?:por|con) aire|raffreddat\w+ ad aria|(?:arrefecid|refrigerad)\w+ a ar|luchtgekoeld\w*|风冷|空冷|공랭",
            "liquid": r"\b(?:liquid|water)[- ]cooled|cooled (?:by|with) (?:a )?(?:liquid|water)|\bcold plates?|\bflüssig(?:keits)?gekühlt\w*|\bflüssigkeitskühlung|\bwassergekühlt\w*|refroidi\w* (?:par|à) (?:l['’] ?)?(?:eau|liquide)|refrigeración líquida|refrigerad\w+ (?:por|con) (?:agua|líquido)|raffreddat\w+ a (?:liquido|acqua)|(?:arrefecid|refrigerad)\w+ a (?:água|líquido)|vloeistofgekoeld\w*|液冷|水冷|液体冷却|수랭|액랭",
            "immersion": r"\bimmers(?:ed|ion)\b|tauchgekühlt\w*|tauchkühlung|par immersion|por inmersión|浸没|液浸|침수",
        },
        CLAUSE,
        _OF_OTHERS,
    ),
    Choices(
        "cluster.power.feeds",
        _FEEDS,
        {
            "2N": r"\b2N\b|two (?:independent|separate|redundant) (?:feeds|supplies|paths)",
            "N": r"\b(?:a|one) single feed\b|\bonly one feed\b|\bone feed (?:only|alone)\b|einer einzigen einspeisung|nur eine einspeisung|une seule (?:voie|arrivée|alimentation)|una sola (?:vía|acometida|alimentazione)|单路(?:供电|电源)|一系統|단일 급전",
            "N+1": r"\bN ?\+ ?1\b",
        },
        CLAUSE,
        r"\bcdus?\b|coolant|cool\w+|pumps?|冷",
    ),
    Choices(
        "cluster.power.cdus.redundancy",
        r"\bcdus?\b|coolant (?:distribution )?units?|kühlmittel\w*|冷却液分配|冷却水分配|냉각수 분배",
        {
            "N+1": r"\bN ?\+ ?1\b|one (?:of them )?(?:may|can) fail|one (?:is )?(?:in )?reserve",
            "2N": r"\b2N\b",
            "N": r"no (?:spare|reserve|redundan\w+)|without (?:a )?(?:spare|reserve|redundan\w+)|ohne (?:reserve|redundanz)|无冗余|冗長(?:なし|化なし)",
        },
    ),
    Choices(
        "cluster.power.pdus.phases",
        "",
        {
            "3": r"\bthree[- ]phase|\b3[- ]phase|\bdrehstrom\w*|\bdreiphasig\w*|\btriphas\w+|\btrif[aá]sic\w*|\btrifas[ei]\b|三相|삼상|3상",
            "1": r"\bsingle[- ]phase|\b1-phase|\beinphasig\w*|\bmonophas\w+|\bmonof[aá]sic\w*|\bmonofas[ei]\b|单相|単相|단상",
        },
    ),
    Choices(
        "cluster.floor.network_racks",
        r"\b(?:switch\w*|network racks?|lea(?:f|ves)|spines?|netzwerk\w*|commutateurs?|conmutadores)\b|交换机|网络机柜|スイッチ|스위치",
        {
            "middle-of-row": r"(?:in the )?middle of (?:the|each|every|its) rows?|mitte (?:der|jeder) reihe|(?:au )?milieu de (?:la|chaque) rangée|(?:en )?(?:el )?(?:medio|centro) de (?:la|cada) fila|(?:al )?centro (?:della|di ogni) fila|列(?:的)?中(?:间|部|央)|列の(?:中央|真ん中)|열 (?:중앙|가운데)",
            "end-of-row": r"(?:at the )?ends? of (?:the|each|every|its) rows?|ende (?:der|jeder) reihe|en bout de (?:la )?rangée|(?:al )?(?:final|extremo) de (?:la|cada) fila|(?:in )?fondo alla fila|列(?:头|尾|端)|列の端|열 끝",
            "top-of-rack": r"top[- ]of[- ](?:the[- ]|each[- ]|every[- ])?racks?|oben (?:im|in jedem) (?:rack|schrank)|en haut de (?:chaque|la) baie|(?:机柜|机架)顶(?:部|端)|ラックの(?:上部|最上段)|랙 (?:상단|꼭대기)",
            "separate-row": r"(?:a )?(?:separate|own) row|(?:einer )?eigenen? reihe|rangée (?:à part|séparée|distincte)|fila (?:aparte|separada)|fila (?:a parte|separata)|单独一(?:列|排)|別の列|별도의? 열",
        },
    ),
    Choices(
        "cluster.scale_out.load_balancing",
        "",
        {
            "ecmp": r"(?<![a-z0-9])ECMP(?![a-z0-9])|\bflow hash\w*|hash(?:es|ing)? (?:of )?(?:the )?flows?",
            "adaptive": r"\badaptive (?:routing|load balanc\w+)|\badaptives? routing|routage adaptatif|(?:enrutamiento|encaminamiento) adaptativo|instradamento adattivo|roteamento adaptativo|自适应路由|アダプティブ ?ルーティング|適応(?:型)?ルーティング|적응형 라우팅",
            "spray": r"\bpacket spray\w*|\bspray(?:s|ed|ing)? (?:the |its )?packets|\bper-packet (?:load balanc\w+|spread\w+|spray\w+)|逐包(?:喷洒|负载)|包喷洒|パケットスプレー|패킷 스프레이",
            "path-pinning": r"\bpin(?:s|ned|ning)?(?: \w+){0,2} (?:to (?:fixed |static )?)?(?:paths?|routes?)\b|\bpath pinning|\bstatic(?:ally)? rout\w+|feste[nr]? pfade?|chemins fixes|rutas fijas|固定路径",
        },
    ),
    Choices(
        "cluster.scale_out.subnet_manager",
        r"subnet manager|opensm|子网管理|サブネットマネージャ|서브넷 매니저",
        {
            "switch": r"(?:on|in|inside|by) (?:\w+ ){0,3}switch\w*|embedded|auf (?:\w+ ){0,3}switch\w*|sur (?:\w+ ){0,3}commutateurs?|交换机(?:上|内)|スイッチ(?:上|内)|스위치(?:에서| 내)",
            "host": r"(?:on|in) (?:\w+ ){0,3}(?:servers?|hosts?|management nodes?|head nodes?)\b|auf (?:\w+ ){0,3}(?:servern?|rechnern?)|sur (?:\w+ ){0,3}serveurs?|(?:服务器|主机)(?:上)|(?:サーバー?|ホスト)上|서버에서",
        },
    ),
    Choices(
        "workload.trainable.method",
        "",
        {
            "lora": r"(?<![qa-z])LoRA(?![a-z])",
            "qlora": r"(?<![a-z])QLoRA(?![a-z])",
            "full": r"\bfull (?:fine-?tun\w+|parameter)|\ball (?:the |of the )?(?:weights|parameters) (?:are |get )?(?:trained|updated|tuned)|\b(?:train|tune|update)s? all (?:the |of the )?(?:weights|parameters)|\balle (?:gewichte|parameter) (?:werden )?(?:trainiert|angepasst)|(?:tous les (?:poids|paramètres)|todos los (?:pesos|parámetros)|tutti i (?:pesi|parametri)|todos os (?:pesos|parâmetros))|全(?:参数|量)微调|训练全部(?:参数|权重)|全パラメータ(?:を)?(?:学習|更新)|(?:전체|모든) (?:파라미터|가중치|미세)",
        },
        own_words=dict.fromkeys(("lora", "qlora"), _ADAPTERS),
    ),
    Choices(
        "layout.schedule",
        r"pipelin\w*|schedul\w*|stages?|流水线|パイプライン|파이프라인",
        {
            "interleaved": r"\binterleav\w+|\bvirtual (?:pipeline )?stages|交错|インターリーブ|인터리브",
            "1f1b": r"\b(?:plain|simple|non-interleaved|ordinary) 1F1B|\bnot interleaved|\bwithout interleaving",
            "zero-bubble": r"\bzero[- ]bubble",
            "gpipe": r"\bGPipe\b",
            "dualpipe": r"\bDualPipe\b",
        },
    ),
    Choices(
        "layout.recompute",
        "",
        {
            "none": r"\b(?:nothing|no activations?|no layers?)(?: \w+){0,2} (?:is|are|gets?) recomput\w+|(?<=\w )(?:no|without(?: any)?) (?:activation )?(?:recomput\w+|checkpointing)\b|\bkeeps? all (?:of the |its )?activations|nichts (?:wird )?neu berechnet|ohne neuberechnung|aucune activation n'est recalculée|sans recalcul|no se recalcula|sin recálculo|senza ricalcolo|sem recomputa\w*|不(?:做|启用|使用)?(?:激活)?重计算|再計算(?:は)?(?:し|行わ)ない|재계산(?:을)? (?:하지 않|없이)",
            "full": r"\bfull (?:activation )?(?:recomput\w+|checkpointing)\b|\brecomputes? (?:everything|every layer|all layers|all activations)|\b(?:all|every) layers?(?: \w+){0,2} (?:is|are) recomputed|alle schichten (?:werden )?neu berechnet|recalcul(?: est)? complet|recálculo completo|ricalcolo completo|(?:完全|全部|全量)(?:的)?重计算|全(?:層|レイヤー?)(?:を)?再計算|전체 재계산",
            "selective": r"\bselective(?:ly)? (?:activation )?(?:recomput\w+|checkpointing)|选择性重计算|選択的(?:な|に)?再計算|선택적 재계산",
        },
    ),
    Choices(
        "workload.serving.speculative.method",
        r"\b(?:draft\w*|specul\w*|propos\w+|guess\w*|entwurf\w*|spekul\w*|spécul\w*|especul\w*)\b|推测|投机|投機|추측",
        {
            "mtp": r"(?<![a-z0-9])MTP(?![a-z0-9])|multi-token prediction|multi-token-prediction",
            "eagle": r"(?<![a-z0-9])EAGLE(?![a-z0-9])",
            "medusa": r"\bMedusa\b",
            "ngram": r"\bn-?grams?\b|prompt lookup",
            "draft-model": r"\b(?:small(?:er)?|separate|tiny|own) (?:\w+ )?(?:draft )?model\b|\bdraft model\b|entwurfsmodell|modèle (?:brouillon|d['’]ébauche)|草稿模型|ドラフトモデル|초안 모델",
        },
    ),
    Choices(
        "layout.cp_method",
        r"context parallel\w*|sequences? (?:is|are) (?:cut|split|divided)|上下文并行|コンテキスト並列|컨텍스트 병렬|kontextparallel\w*",
        {
            "ring": r"\bring attention|\b(?:around|in|over) (?:a|the) ring\b|环形|リング|링",
            "all-to-all": r"\bulysses\b|\ball-?to-?all\b",
            "all-gather": r"\ball-?gather\w*",
        },
    ),
    Choices(
        "workload.rl.algorithm",
        "",
        {
            "grpo|dapo|rloo": r"(?<![a-z0-9])(?:GRPO|DAPO|RLOO)(?![a-z0-9])",
            "ppo": r"(?<![a-z0-9])PPO(?![a-z0-9])",
        },
    ),
    Choices(
        "workload.quantization",
        "",
        {
            "awq": r"(?<![a-z0-9])AWQ(?![a-z0-9])",
            "gptq": r"(?<![a-z0-9])GPTQ(?![a-z0-9])",
            "bitsandbytes": r"\bbitsandbytes\b",
            "gguf": r"(?<![a-z0-9])GGUF(?![a-z0-9])",
            "smoothquant": r"\bSmoothQuant\b",
        },
    ),
    Choices(
        "workload.optimizer",
        r"\b(?:optimi[sz]\w+|optimierer|updates?|optimisateur|optimizador|ottimizzatore|otimizador)\b|优化器|オプティマイザ|最適化|옵티마이저",
        {
            "adam|adamw": r"\bAdamW?\b",
            "sgd|momentum": r"\bSGD\b",
            "lion": r"\bLion\b",
            "adafactor": r"\bAdafactor\b",
            "muon": r"\bMuon\b",
        },
        SENTENCE,
        r"\b(?:embedding\w*|norms?|head|router|biases|scalars?)\b",
    ),
)
