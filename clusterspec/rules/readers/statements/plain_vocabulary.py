"""The words of plain statements about a design, by meaning, in nine languages.

A sentence is read as a statement of one key only if each of its words is here, so that no word can change what it says.
"""

from __future__ import annotations

from collections.abc import Mapping

FILLER = "-"
"""The meaning of words that leave a statement as it is: articles, prepositions, forms of to be, to have and to give."""
# fmt: off
_WORDS = (
    ("machine", "machine machines system cluster installation anlage maschine maschinen máquinas macchine máquina system cluster rechner grappe système máquina sistema clúster macchina systeem maszyna klaster システム クラスタ クラスター 整机 集群 系统"),
    ("hall", "hall room building site datacenter premises halle raum gebäude gebäudes rechenzentrum standort salle bâtiment site local sala edificio zaal gebouw hala budynek 机房 建屋 機械室"),
    ("node", "node nodes server servers knoten server servern nœud nœuds noeud noeuds serveur serveurs nodo nodos servidor servidores nodi nó nós węzeł węzły węzłów 节点 服务器 ノード サーバ サーバー"),
    ("rack", "rack racks cabinet cabinets schrank schränke schränken baie baies armoire armoires armario armarios bastidor bastidores armadio armadi kast kasten szafa szafy szaf 机柜 ラック"),
    ("gpu", "gpu gpus accelerator accelerators beschleuniger accélérateur accélérateurs acelerador aceleradores acceleratore acceleratori cards 块 加速卡"),
    ("network", "network netzwerk réseau red rete netwerk rede sieciow"),
    ("card", "card cards karte karten carte cartes tarjeta tarjetas scheda schede kaart kaarten placa placas adapter adapters adaptateur adaptateurs"),
    ("nic", "nic nics hca hcas netzwerkkarte netzwerkkarten netwerkkaart netwerkkaarten 网卡"),
    ("spare", "spare spares reserve réserve secours repuesto respaldo riserva reserva 备用 予備"),
    ("sparenode", "reserveknoten ersatzknoten"),
    ("storage", "storage store filesystem speicher speichersystem dateisystem stockage almacenamiento archiviazione storage opslag armazenamento 存储 ストレージ"),
    ("capacity", "capacity kapazität capacité capacidad capacità capaciteit capacidade 容量"),
    ("bandwidth", "bandwidth throughput bandbreite durchsatz débit bande passante caudal ancho banda larghezza bandbreedte 带宽 帯域 速率"),
    ("batch", "batch lot lote lotto 批 批大小 バッチ"),
    ("global", "global globale globaler globalen 全局 グローバル"),
    ("sequence", "sequence sequenz sequenzen séquence séquences secuencia secuencias sequenza sequenze sequência sequências sequentie sequenties sequences 序列 系列"),
    ("sequencelength", "sequenzlänge sequenzlaenge sequentielengte"),
    ("length", "length länge longueur longitud lunghezza comprimento lengte 长度 長"),
    ("token", "token tokens jeton jetons gettoni 词元 トークン"),
    ("model", "model modell modèle modelo modello モデル 模型"),
    ("train", "train trains trained training trainiert entraîné entraînement entrena entrenado addestrato addestra treinado treina getraind trenowany 训练 学習"),
    ("checkpoint", "checkpoint checkpoints 检查点 チェックポイント"),
    ("every", "every alle toutes tous cada ogni elke a_cada co 每 ごと"),
    ("last", "last latest letzten letzte derniers dernières últimos últimas ultimi laatste 最近 直近"),
    ("keep", "kept keep keeps retained aufbewahrt behalten conservés conservé gardés conservan guardan conservati bewaard mantidos 保留 残"),
    ("save", "written saved stored geschrieben gespeichert écrit enregistré sauvegardé guarda escribe salvato scritto opgeslagen salvo gravado 保存 stored"),
    ("warranty", "warranty garantie gewährleistung garantía garanzia garantia gwarancja 质保 保証"),
    ("term", "contract lease term vertrag laufzeit contrat bail contrato contratto umowa 合同 契約 commitment"),
    ("burnin", "burnin einlaufphase einbrenntest rodage déverminage 老化 バーンイン"),
    ("burn", "burn"),
    ("in", "in"),
    ("pue", "pue"),
    ("power", "power draw draws drawn consume consumes consumption verbraucht verbrauchen aufnehmen aufnahme leistungsaufnahme zieht ziehen leistung consomme consommer consommation puissance consumir consume consumo potencia consumare assorbe potenza verbruikt verbruiken vermogen potência pobiera pobierać moc power draws 功率 用电 电力 電力"),
    ("supply", "supplies supply provides delivers liefert stellt fournit délivre suministra proporciona fornisce fornece levert dostarcza mains"),
    ("kwh", "kwh kilowatt hour kilowattstunde kilowattheure kilovatio hora kilowattora kilowattuur electricity strom électricité electricidad elettricità eletricidade elektriciteit prąd"),
    ("cent", "cent cents centavos centimes céntimos centesimi centov"),
    ("price", "price prices cost costs costing preis kostet kosten coûte coûter coûtent prix coste costar cuesta cuestan precio costa costare prezzo custa custar preço prijs kost cena kosztuje pay zahlen payons pagamos"),
    ("purchase", "purchase hardware procurement equipment beschaffung kauf hardware geräte achat matériel compra comprar equipo equipos acquisto hardware aquisição aankoop zakup 采购 购买 購入 調達 購入総額 総額 总价 总额"),
    ("approved", "approved granted released budget board bewilligt genehmigt stehen bereit zur verfügung budget accordé disponible aprobado aprobó hay presupuesto approvato stanziato aprovado goedgekeurd beschikbaar 预算 予算"),
    ("room", "space room places positions platz stellfläche stellplätze raum place emplacements accueillir sitio espacio caben posto spazio espaço lugar plaats ruimte miejsce 放 設置"),
    ("failure", "failure failures crash outage ausfall panne défaillance fallo guasto falha storing awaria incident times"),
    ("work", "work computation compute rechenzeit arbeit calcul travail cálculo trabajo calcolo lavoro trabalho rekentijd werk obliczeń 計算 计算"),
    ("lost", "lost lose loses verloren verlieren perdu perdre perder perdido perso perdere perdida verloren"),
    ("fabric", "fabric netz fabrik réseau red rete netwerk rede sieć 网络 ネットワーク"),
    ("over", "oversubscribed oversubscription überbucht überbuchung surabonné surabonnement sobresuscrita sobresuscripción oversubscription 收敛比"),
    ("must", "must shall darf dürfen soll muss doit doivent debe deben puede pueden può deve devono pode podem mag moet mogen może musi may can kann"),
    ("most", "limited begrenzt limitée limité limitado limitada limitato limitata beperkt ograniczona most maximum max höchstens maximal exceed dépasser pasar superare superar passar ultrapassar überschreiten overschrijden máximo massimo hoogstens maximaal najwyżej within only more mehr plus más più mais meer up jusqu"),
    ("not", "not no nicht keine kein ne pas non não niet nie"),
    ("least", "least mindestens minst almeno przynajmniej minimum wenigstens"),
    ("each", "each per every a an one jeder jede jedes jedem jeden je pro ein eine einem einen chaque par un une cada por una uno ogni ognuno elke per een um uma każdy każda każdym 每个 每块 每张 各 1"),
    ("service", "service dienst servicio servizio serviço usługa 服务 サービス"),
    ("first", "first erste erstes erster premier première primer primera primo prima primeiro eerste pierwszy 首个"),
    ("next", "next further following between gap nächste nächstes weitere weiteres folgende suivant suivants entre siguiente siguientes entre successivo seguente volgende następny future interval 间隔 間隔 隔 以後 以后 后续"),
    ("prompt", "prompt prompts request requests input inputs eingabe eingaben anfrage anfragen requête requêtes entrée petición peticiones entrada richiesta ingresso pedido pedidos invoer"),
    ("answer", "answer answers response responses output outputs antwort antworten ausgabe réponse réponses sortie respuesta respuestas salida risposta risposte resposta antwoord odpowiedź"),
    ("average", "average mean mittel durchschnitt moyenne promedio media gemiddeld média średnio 平均"),
    ("delivery", "delivery lieferung livraison entrega consegna levering dostawa"),
    ("gpumemory", "memory hbm speicher mémoire memoria memória geheugen pamięć"),
    (FILLER, "arrive arrives come comes follow follows be there kommen kommt folgen folgt nach da sein arriver arrive llegar llega venir arrivare chegar komen 返回 返 在 "
             "nutzt utilise utiliza utilizza prend compte tourne tiene corre gira 处理 処理 する こと "
             "in used supplier vendor once lieferant anbieter fournisseur proveedor fornitore fornecedor leverancier 供应商 the of is are be has have with at by for to we our us it its on as runs run holds contains gives uses take takes lasts last_s that there whole entire all "
             "der die das des dem den ist sind hat haben mit auf von für im ins bis zu wird werden es gibt sie wir läuft dauert beträgt umfasst liegt bei reicht steht insgesamt stehen sein als "
             "le la les l de du des d est sont a ont avec sur pour en à au aux il y sera nous jusqu dure offre contient dans totale entière peut tout toute que ce "
             "el los las es son tiene tienen con sobre para en al del se lo que hay nos dura ofrece contiene entera total tarda lleva no "
             "il lo gli i di è sono ha hanno con su per da dal della delle nel c ci dura offre contiene totale che "
             "o os as é são tem têm com em no na do da dos das há sobre dura oferece contém "
             "het de is zijn heeft met op voor van er wij duurt biedt bevat dat dan "
             "jest są ma na z w do dla trwa mieści "
             "有 为 的 用 共 总 是 行 在 中 各 另 pieces gives test 期限 期 を に は が の で である 持 置 ある"),
)
# fmt: on


def _meanings() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for meaning, words in _WORDS:
        for word in words.split():
            found.setdefault(word, set()).add(meaning)
    return {word: frozenset(meanings) for word, meanings in found.items()}


MEANINGS: Mapping[str, frozenset[str]] = _meanings()
"""The possible meanings of each word in lower case: a word may have several, such as `red` of a network and of a fabric."""
LONGEST_EASTERN = 8
"""The largest number of characters of a word that is written without spaces."""
