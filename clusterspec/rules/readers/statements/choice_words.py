"""The words by which texts state the choices of keys: the mode of a checkpoint, the precision of a cache, a switch that is on.

A row has the subject that a sentence must name (empty where the words of a choice name it themselves) and the pattern of each
choice. Choices that a text does not tell apart share a row: `bf16|fp16`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterspec.records import NamedTuple

SENTENCE, CLAUSE = "sentence", "clause"


class Choices(NamedTuple):
    """How texts state the choice of a key: what a ``part`` (a sentence or a clause) must name, and may not name (``others``),
    and the pattern of each choice.
    """

    key: str
    subject: str
    words: Mapping[str, str]
    part: str = SENTENCE
    others: str = ""
    is_open: bool = False
    """Whether the key has values for which no words are known, such as numbers."""
    own_words: Mapping[str, Sequence[str]] = {}
    """Further words for a choice, which show that a text does not contradict it."""


_16 = r"(?<![a-z0-9])16[- ]?bits?(?![a-z])|(?<![a-z0-9])bf16(?![a-z0-9])|(?<![a-z0-9])fp16(?![a-z0-9])|\bbfloat16\b|\bhalf precision\b|(?:not|un|nicht |non |sin )[ -]?(?:quanti[sz]\w+|cuantizar)|半精度|16 ?位|16 ?ビット|16 ?비트"
_8 = r"(?<![a-z0-9])8[- ]?bits?(?![a-z])|\beight bits\b|(?<![a-z0-9])fp8(?![a-z0-9])|(?<![a-z0-9])e4m3(?![a-z0-9])|(?<![a-z0-9])int8(?![a-z0-9])|8 ?位|8 ?ビット|8 ?비트"
_4 = r"(?<![a-z0-9])4[- ]?bits?(?![a-z])|\bfour bits\b|(?<![a-z0-9])nvfp4(?![a-z0-9])|(?<![a-z0-9])mxfp4(?![a-z0-9])|(?<![a-z0-9])fp4(?![a-z0-9])|(?<![a-z0-9])int4(?![a-z0-9])|4 ?位|4 ?ビット|4 ?비트"
_32 = r"(?<![a-z0-9])32[- ]?bits?(?![a-z])|(?<![a-z0-9])fp32(?![a-z0-9])|\bsingle precision\b|\bfull precision\b|einfacher genauigkeit|simple précision|precisión simple|单精度|32 ?位|単精度|32 ?ビット|단정밀도|32 ?비트"
_WIDTHS = {"bf16|fp16": _16, "fp8|mxfp8|int8": _8, "fp4|nvfp4|mxfp4|int4": _4, "fp32": _32}
_KV = r"(?<![a-z])KV(?![a-z])|key[- /](?:and[- ])?value|keys and (?:the )?values|attention cache|schlüsseln? und werte\w*|clés et (?:les |des )?valeurs|claves y (?:los )?valores|chiavi e (?:i )?valori|chaves e (?:os )?valores|键值|キーと(?:値|バリュー)|키와 값"
_WEIGHTS = r"\b(?:weights?|parameters?|gewichten?|poids|pesos|pesi)\b|权重|重み|가중치"
_TRAINER = r"\b(?:trainer\w*|training|learner|entraîn\w+|entrenad\w+|addestra\w+|treinad\w+)\b|训练|学習|訓練|학습"
_ROLLOUT = r"\b(?:rollouts?|engines?|sampl\w+|generat\w+|inference|moteurs?|motores|motori)\b|推理|生成|采样|サンプ|推論|생성|추론"
_ROLES = r"\b(?:reference|reward|critic)\b|参考模型|奖励|参照モデル|報酬|참조 모델|보상"

CHOICES: Sequence[Choices] = (
    Choices("workload.kv_precision", _KV, _WIDTHS, CLAUSE, _WEIGHTS),
    Choices("workload.rl.rollout.kv_precision", _KV, _WIDTHS, CLAUSE, _WEIGHTS),
    Choices(
        "workload.gradient_precision",
        r"\b(?:gradients?|gradienten|gradientes?|gradienti)\b|梯度|勾配|그래디언트",
        _WIDTHS,
        CLAUSE,
        _WEIGHTS,
    ),
    Choices(
        "layout.optimizer_states.master",
        r"master (?:weights|copy|copies|parameters)|masterkopie\w*|copie maîtresse|copia maestra|主权重|マスター(?:重み|ウェイト)|마스터 가중치",
        _WIDTHS
        | {
            "none": r"\b(?:no|without(?: any)?|keine?|ohne|sans|sin|senza|sem)\b(?: \w+){0,2} (?:master|copie maîtresse|copia maestra)|不保留主权重|没有主权重"
        },
        CLAUSE,
    ),
    Choices(
        "layout.optimizer_states.moments",
        r"\b(?:moments?|momente|momenti|momentos)\b|动量|一阶矩|モーメント|모멘트",
        _WIDTHS,
        CLAUSE,
        r"master",
    ),
    Choices(
        "operations.checkpoint.mode",
        r"checkpoint\w*|snapshots?|\bstates?\b|sicherung\w*|prüfpunkt\w*|enregistrement\w*|points? de (?:contrôle|reprise)|sauvegarde\w*|\bguardado\w*|salvataggi\w*|puntos? de control|punti di controllo|检查点|チェックポイント|체크포인트",
        {
            "asynchronous": r"in (?:the )?background|asynchron\w*|while (?:the )?(?:training|job|run|next steps?) (?:goes? on|continues?|keeps?|runs?)|im hintergrund|en arrière-plan|en segundo plano|em segundo plano|as[sí]{1,2}ncron\w*|后台|异步|バックグラウンド|非同期|백그라운드|비동기",
            "synchronous": r"(?<!a)\bsynchron(?:ous|e|es|er|en)?(?:ly)?\b|\bsíncron[oa]\w*|(?:training|job|run|all ranks|everything|accelerators?|gpus?|machine|trainer)(?: \w+){0,2} (?:stops?|pauses?|waits?|halts?|stands? still|is stopped|idles?) (?:while|until|as long as)|(?:training|entraînement|calcul|entrenamiento|cálculo|addestramento|treinamento|treino|lauf)(?: [\w'’]+){0,3} (?:halted|stopped|paused|arrêté|suspendu|interrompu|parado|detenido|fermo|arrestato|sospeso|angehalten|unterbrochen|steht),?(?: [\w'’]+){0,2} (?:until|while|bis|solange|jusqu['’ ]|pendant|tant que|hasta|mientras|finché|fino|até|enquanto)|训练(?:暂停|停止)[^。]{0,12}(?:写完|落盘|保存完)|学習を(?:止め|停止)|(?<!非)(?<!异)同步(?:写|保存)|(?<!非)同期(?:的に|で)|(?<!비)동기(?:식|적)",
        },
    ),
    Choices(
        "operations.recovery",
        "",
        {
            "shrink": r"(?:continues?|carr(?:y|ies) on|goes? on|re-?forms?|keeps? (?:running|going|training)|resumes?)(?: \w+){0,4} (?:on|with|among) (?:the |all )?(?:\w+ )?(?:remaining|surviving|survivors|rest\b|machines? that (?:survive|remain|are left)|nodes? that (?:survive|remain|are left)|fewer)|\b(?:job|run|group|training|world) shrinks?\b|(?:läuft|rechnet|geht)(?: \w+){0,4} (?:auf|mit) den (?:verbliebenen|verbleibenden|übrigen|restlichen|überlebenden)|(?:continue|poursuit|reprend|repart)(?: \w+){0,4} (?:sur|avec) les (?:\w+ )?(?:restant|survivant)\w*|(?:continúa|sigue|prosigue)(?: \w+){0,4} (?:en|con) l[oa]s (?:\w+ )?(?:restantes|supervivientes|que quedan)|(?:continua|prosegue)(?: \w+){0,4} (?:su|sui|sulle|con) (?:i |le )?(?:\w+ )?(?:restanti|rimanenti|superstiti)|(?:continua|segue)(?: \w+){0,4} (?:nos|nas|com os|com as) (?:\w+ )?(?:restantes|sobreviventes)|剩余的?(?:节点|服务器|机器)(?:上)?[^。]{0,8}(?:继续|训练)|缩容|残(?:り|った)の?(?:ノード|サーバ)[^。]{0,8}(?:続|継続)|남은 (?:노드|서버)[^.]{0,10}(?:계속|이어)",
            "restart|hot-spare": r"(?:spares?|standby|stand-by|reserve)(?: \w+){0,3} (?:takes? (?:over|its place|the place)|steps? in|jumps? in|replaces? (?:it|the failed|the lost))|(?:ersatz|reserve)\w*(?: \w+){0,2} (?:springt|springen|übernimmt|übernehmen)|(?:secours|réserve) (?:prend|prennent|remplace)\w*|reserva (?:ocupa|sustituye|toma|entra)\w*|备(?:用)?(?:机|节点|服务器)[^。]{0,6}(?:顶替|接管|顶上|替换|接替)|予備(?:機|ノード|サーバ)が[^。]{0,12}(?:代わ|引き継|入)|예비 (?:노드|서버|장비)[가이][^.]{0,12}(?:대신|대체|투입)",
        },
    ),
    Choices(
        "workload.serving.disaggregated.transfer.send",
        rf"{_KV}|\bcache\b|缓存|キャッシュ|캐시",
        {
            "whole": r"\b(?:in|as) one (?:go|piece|transfer|block|shipment)\b|\ball at once\b|\bas a whole\b|(?:only|not before)(?: \w+){0,2} (?:once|when|after|until) the (?:whole |last |entire |full )?prompt|auf einmal|am stück|en une (?:seule )?fois|d'un seul (?:coup|bloc|tenant)|de una (?:sola )?vez|en un solo bloque|in una (?:sola )?volta|in blocco|de uma (?:só )?vez|一次性|整体(?:传|发)|まとめて|一括|한 ?번에|일괄",
            "layer": r"layer by layer|layer-?wise|layer after layer|(?:each|every|per) layer|schicht(?:weise| für schicht)|lagenweise|couche (?:par|après) couche|capa (?:por|a) capa|strato (?:per|dopo) strato|camada (?:por|a) camada|逐层|层层|(?:層|レイヤー?)(?:ごと|毎)|레이어(?:별|마다)|층별",
            "chunk": r"chunk by chunk|chunk-?wise|(?:each|every|per) chunk|in chunks|blockweise|stückweise|逐块|分块(?:传|发)|チャンク(?:ごと|毎)|청크(?:별|마다)",
        },
    ),
    Choices(
        "workload.rl.placement",
        rf"(?:{_TRAINER})[^.]{{0,160}}(?:{_ROLLOUT})|(?:{_ROLLOUT})[^.]{{0,160}}(?:{_TRAINER})",
        {
            "colocated": r"co-?locat\w+|(?:on|share|uses?|to) the same (?:\w+ )?(?:nodes|machines|gpus|accelerators|servers|cards|hardware)|take turns on|auf denselben|auf den gleichen|(?:sur|partagent) les mêmes|(?:en|comparten) l[oa]s mism[oa]s|(?:sugli|sulle|condividono) ?(?:gli|le)? stess[ie]|n[oa]s mesm[oa]s|同一批|共置|同じ(?:ノード|GPU|サーバ|マシン)|같은 (?:노드|GPU|서버|장비)",
            "split": r"split(?: \w+){0,2} between|(?:separate|their own|its own|own|dedicated|different|disjoint)(?: \w+)? (?:nodes|machines|gpus|accelerators|servers|cards)|eigenen? (?:knoten|maschinen|servern?)|getrennten? (?:knoten|maschinen|servern?)|propres (?:nœuds|machines|serveurs)|(?:nodos|servidores) (?:propios|separados)|nodi (?:propri|separati)|nós (?:próprios|separados)|独立的?(?:节点|服务器|机器)|専用(?:ノード|サーバ|マシン)|별도의? ?(?:노드|서버|장비)",
        },
        SENTENCE,
        _ROLES,
    ),
    Choices(
        "workload.rl.max_staleness",
        "",
        {
            "0": r"(?:strictly|fully|purely|always|entirely) on[- ]polic[yi]|\b(?:nothing|no (?:samples?|data|rollouts?|answers?|trajector\w+))\b[^.;]{0,24}(?:older|stale|previous|earlier|outdated) (?:weights|polic\w+|versions?)|(?:streng|strikt|rein) on-policy|(?:strictement|purement) on-policy|(?:estrictamente|puramente) on-policy|(?:strettamente|rigorosamente) on-policy|严格(?:的)?(?:on-policy|同策略)|完全(?:な|に)?(?:on-policy|オンポリシー)|엄격(?:한|하게)? (?:on-policy|온폴리시)",
            "1": r"\bone (?:step|update|version) (?:behind|stale|late|old)\b|\boff by one step\b|\bone-step off-policy\b|(?:einen schritt|ein update) (?:alt|hinterher|zurück)|une? (?:étape|version|mise à jour) de retard|落后一步|一步异步|1 ?ステップ遅れ|한 스텝 (?:뒤|늦)",
        },
        is_open=True,
    ),
    Choices(
        "workload.rl.weight_sync.method",
        r"(?:new|updated|fresh) (?:\w+ )?weights|weights (?:travel|go|move|are (?:pushed|sent|published|broadcast|copied|written|handed|passed|synchroni[sz]ed|exchanged))|weight (?:sync\w*|updates?|transfers?)|neue[nr]? gewichte|nouveaux poids|nuevos pesos|pesos nuevos|nuovi pesi|novos pesos|新(?:的)?权重|权重(?:同步|更新)|新しい重み|重みの(?:同期|更新)|새 가중치|가중치 (?:동기화|갱신)",
        {
            "nccl": r"\bNCCL\b|\bbroadcasts?\b|广播|ブロードキャスト|브로드캐스트",
            "disk": r"(?:through|via|over|by way of|to|as|from)(?: \w+){0,2} (?:disk|files?|file ?system|shared storage|object store|store)\b|als dateien?|über (?:das )?dateisystem|par (?:des )?fichiers?|(?:en|por|mediante) (?:ficheros?|archivos?)|(?:come|tramite) file|por ficheiros?|(?:文件系统|磁盘|落盘)|(?:ファイル|ディスク)(?:経由|に)|파일(?:로| 시스템)|디스크",
            "rdma": r"\bRDMA (?:reads?|writes?)\b|one-sided|\bUCX\b|einseitige",
            "ipc": r"\bIPC\b|memory handles?|speicher-handles?|内存句柄|メモリハンドル",
        },
    ),
    Choices(
        "workload.rl.weight_sync.requests",
        rf"{_WEIGHTS}",
        {
            "stopped": r"(?:requests|answers|generations?|samples?|engines?)(?: \w+){0,3} (?:are (?:stopped|aborted|paused|drained|interrupted)|stop|pause)\b(?: \w+){0,3} (?:while|until|during|for|before)",
            "kept": r"(?:requests|answers|generations?|samples?)(?: \w+){0,3} (?:go on|are kept|continue|stay in flight|are not interrupted|keep running)|without (?:stopping|interrupting|aborting) (?:the )?(?:requests|answers|generation|engines)",
        },
    ),
    Choices(
        "procurement.currency",
        r"\b(?:amounts?|prices?|sums?|quotes?|totals?|figures|ceiling|budget|offer|invoices?|beträge|preise|summen|angebot|montants?|prix|offre|importes|precios|importi|prezzi|valores|preços)\b|金额|价格|报价|金額|価格|금액|가격",
        {
            "CHF": r"\bCHF\b|\bswiss francs?|\bschweizer franken|\bfranken\b|\bfrancs suisses|\bfranchi svizzeri|瑞士法郎|スイスフラン",
            "USD": r"\bUSD\b|\bUS[- ]dollars?|\bdólares estadounidenses|美元|米ドル|미국 ?달러",
            "EUR": r"\bEUR\b|\beuros?\b|€|欧元|ユーロ|유로",
            "GBP": r"\bGBP\b|\bpounds? sterling|\bbritish pounds?|£|英镑",
            "JPY": r"\bJPY\b|\b(?:japanese )?yen\b|日元|日圓|日本円|엔화",
            "CNY": r"\bCNY\b|\bRMB\b|\b(?:chinese )?yuan\b|\brenminbi\b|人民币|人民元|위안",
            "KRW": r"\bKRW\b|\bkorean won\b|韩元|韓国ウォン|원화",
            "CAD": r"\bCAD\b|\bcanadian dollars?",
            "AUD": r"\bAUD\b|\baustralian dollars?",
            "SEK": r"\bSEK\b|\bswedish (?:kron\w+|crowns?)",
            "NOK": r"\bNOK\b|\bnorwegian (?:kron\w+|crowns?)",
            "DKK": r"\bDKK\b|\bdanish (?:kron\w+|crowns?)",
            "PLN": r"\bPLN\b|\bzłot\w+|\bzlot\w+",
        },
    ),
)
"""Choices of work and operations; `MACHINE_CHOICES` has those of the machine and the layout."""


def switch(key: str, name: str, others: str = "") -> Choices:
    """The choices of a key that is on or off, by the pattern of its name; ``others`` name what has a switch of its own."""
    off = (
        r"(?:disabled|switched off|turned off|\boff\b|\bnot (?:\w+ )?(?:used|enabled|active|configured|in use|supported|available)|no longer (?:\w+ )?(?:enabled|used|active|on)|does not work|"
        r"(?:aus|ab)geschaltet|deaktiviert|nicht (?:mehr )?(?:aktiv\w*|genutzt|verwendet|eingeschaltet)|désactivé\w*|n'est (?:pas|plus) (?:activé|utilisé)\w*|desactivad\w+|no se (?:usa|utiliza)|disattivat\w+|non (?:è|viene) (?:più )?(?:attiv|us)\w+|desativad\w+|desligad\w+|não (?:é|está) (?:mais )?(?:us|ativ)\w+|"
        r"uitgeschakeld|wyłączon\w+|(?:已)?(?:关闭|停用|禁用)|無効|使わ(?:ない|ず)|使用し(?:ない|ません)|オフ|비활성|끄[고며는]|꺼|사용하지 않)"
    )
    none = r"(?:without|do(?:es)? not use|don't use|doesn't use|we (?:avoid|dropped)|\bno\b|ohne|kein|sans|sin|senza|sem|zonder|bez|不再?(?:启用|使用|采用)|未(?:启用|使用|配置)|没有启用|弃用)"
    on = r"(?:\bis on\b|\bare on\b|\benabled|switched on|turned on|\bactive\b|\bin use\b|\beingeschaltet|\baktiviert|\baktiv\b|\bgenutzt|\bactivé\w*|\bactivad\w+|\battivat\w+|\bativad\w+|\bligad\w+|\bingeschakeld|\bwłączon\w+|(?<!不再)(?<!没有)(?<!未)(?<!不)(?:已)?(?:启用|开启|打开)|有効|オンに|활성화|켜)"
    near = r"[^.;。]{0,40}?"
    off_words = rf"(?:{name}){near}{off}|{none}(?: \w+)?[ ]?(?:{name})"
    words = {"False": off_words, "True": rf"(?:{name}){near}{on}|{on} {near}(?:{name})"}
    return Choices(key, "", words, SENTENCE, others)
