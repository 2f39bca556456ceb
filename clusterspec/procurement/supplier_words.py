"""The words of suppliers in other languages, by their meaning in English, in which the patterns of quotes are."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_MEANINGS = """
hours: uur stunden stunde heures heure horas uren timmar timme timer tunnit tuntia tuntien godzin godziny godzina
    hodin
month: monat mês mese maand månad måned kuukausi miesiąc
months: monate monaten mois meses mesi maanden månader måneder kuukautta miesięcy miesiące měsíců
year: jahr année año anno jaar vuosi rok
years: jahre jahren ans années años anos anni jaren år vuotta lata lat roku roky roků
weeks: wochen semaines semanas settimane weken veckor viikkoa tygodni
week: woche semaine semana settimana vecka viikko tydzień týdnu týdne týden tygodniu uke uge
days: tage tagen jours días dias giorni dagen dagar dager dage päivää dni
monthly: monatlich monatliche mensuel mensuelle mensuels mensuelles mensual mensuales mensal mensais mensile mensili
    maandelijks maandelijkse månatlig månatligt månedlig månedligt kuukausittain miesięcznie miesięczny miesięczna
yearly: jährlich jährliche annuel annuelle annuels annuelles anuales annuale annuali jaarlijks jaarlijkse årlig årligt
    årligen vuosittain rocznie roczny roczna
per: je par por
spare: yedek ersatz ersatzteil ersatzmodul ersatzteile rechange rechanges repuesto repuestos recambio recambios
    reposição sobressalente sobressalentes ricambio ricambi scorta reserveonderdeel reserveonderdelen reservdel
    reservdelar reservedel reservedele reservedeler varaosa varaosat varaosia zapasowy zapasowe zapasowa zapasowych
    náhradní
support: supporto destek desteği soporte suporte assistenza asistencia tuki wsparcie wsparcia podpora
maintenance: wartung entretien mantenimiento manutenção manutenzione onderhoud underhåll vedligehold vedlikehold
    ylläpito huolto serwis
license: lizenz lizenzen licencia licencias licença licenças licenza licenze licentie licenties licens licenser lisens
    lisenser lisenssi lisenssit licencja licencje licencji
subscription: abonnement abonnements abonnemang suscripción subscrição assinatura abbonamento abbonamenti subskrypcja
    tilaus
rental: miete mietrate mieten loyer loyers alquiler arrendamiento aluguel aluguer canone canoni noleggio huur hyra
    leie vuokra najem dzierżawa czynsz
contracted: kontrahiert kontrahierte kontrahiertes vertraglich vertragliche contractuel contractuelle souscrite
    contratada contratado contrattuale impegnata gecontracteerd gecontracteerde kontrakterad kontrahert umowna
power: leistung puissance potencia potência potenza vermogen effekt teho moc mocy
colocation: kolokation colocación colocação colocazione kolokacja kapasitetsleie serverhousing
acceptance: abnahme abnahmetest recette réception recepción aceptación aceitação aceite collaudo acceptatie
    godkännande godkendelse godkjenning hyväksyntä odbiór odbioru
old: alte altes alten ancien ancienne anciens vieux antiguo antigua viejo antigo antiga vecchio vecchia oude gammal
    gamla gammel gamle gammelt stary stare starego staré starý starého vanha vanhan
returned: zurückgegeben zurückgibt restitué restituée rendu devuelto devuelta devolvido restituito teruggegeven
    återlämnas tilbageleveres returneres zwrócony vrátí vrací palautetaan
order: bestellung pedido orden ordine bestelling beställning bestilling zamówienie zamówienia objednávka objednávku
    encomenda
migration: migrace migratie migrazione migración migração migrering migracja siirto
migrated: migriert gemigreerd migrados migrati migrées
installation: einbau aufbau montage installazione instalación instalação installatie installering asennus instalacja
    montaż
training: schulung formación formazione formação opleiding utbildning opplæring uddannelse koulutus szkolenie
freight: fracht flete frete trasporto vracht frakt fragt rahti
rack: kast schrank serverschrank baie armadio armário bastidor skåp szafa szafy
racks: schränke baies bastidores armadi armários szaf
storage: speicher stockage almacenamiento armazenamento archiviazione opslag lagring tallennus úložiště úložný úložného
    úložné úložných
usable: nutzbar nutzbare utilisable utilisables utilizable utilizables utilizzabile utilizzabili utilizável
    utilizáveis bruikbaar användbar anvendelig käytettävissä użyteczna użytkowa
raw: bruto bruts brutes brutto grezzo grezzi lordo
accelerator: beschleuniger accélérateur acelerador acceleratore akselerator akcelerátor
server: serveur servidor palvelin serwer sunucu
servers: serveurs servidores servrar servrarna serverne serverna servere palvelinta palvelimet palvelimen serwery
    serwerów
node: knoten rechenknoten nœud nodo nó węzeł uzel
nodes: noder noderna nodene noderne solmua solmut nœuds nodos nodi nós węzły węzłów uzly uzlů
bridges: pontes ponts puentes ponti brücken bruggen bryggor broer mostki můstky
bridge: ponte puente brücke brug mostek
protection: zabezpečení schutz protección proteção protezione bescherming ochrona beskyttelse skydd
switch: anahtar anahtarı varakytkin commutateur conmutador comutador kytkin przełącznik
switches: commutateurs conmutadores comutadores kytkimet przełączniki przełączników
cable: kablo kablosu kabel câble cavo cabo kaapeli przewód cordon bretella latiguillo
cables: kabels kabler câbles cavi cabos kaapelit przewody cordons bretelle latiguillos
fiber: glasfaser glasfasern faser fasern vezels fibrer fibra fibras glasvezel kuitu światłowód światłowodowy
transceiver: transceptor ricetrasmettitore lähetinvastaanotin
transceivers: transceptores ricetrasmettitori
memory: arbeitsspeicher mémoire memória geheugen hukommelse muisti pamięć
expansion: agrandissement expansão expansión espansione ampliación ampliação ampliamento uitbreiding utbyggnad
    utvidelse udvidelse laajennus rozbudowa erweiterung genişletme rozšíření
offer: angebot offerte oferta teklif nabídka tilbud anbud tarjous
valid: gültig gültige valable valables válida válido válidas válidos valida valido geldig geldige giltig giltigt gyldig
    gyldigt platí ważna ważny ważne voimassa
signs: unterzeichnet unterschreibt signe assina ondertekent undertecknar underskriver podepíše podpisuje podpisze
signed: unterschrieben signée firmado firmada assinado assinada firmato ondertekend undertecknad underskrevet podepsaná
    podepsána podpisana podpisany allekirjoitettu
approves: genehmigt approuve aprueba aprova approva keurt godkänner godkender schválí zatwierdza zatwierdzi hyväksyy
binding: wiążące wiążąca bindend verbindlich vinculante geçerli platná platné
contract: vertrag contrat contrato contratto avtal kontrakt sopimus umowa umowy smlouva sözleşme
new: nuovo nuova nuevo nueva novo nova nouveau nouvelle neue neuer neues nieuwe nya nytt uusi nowy nowa nowe yeni
period: periodo período période zeitraum periode kausi okres období dönem
insurance: versicherung assurance seguro assicurazione verzekering försäkring forsikring vakuutus ubezpieczenie
    sigorta
customs: zoll douane aduana aduanas alfândega dogana tull toll tulli cło gümrük
expires: wygasa wygasają expira vence scade vervalt upphör utløper udløber päättyy ausläuft abläuft
current: mevcut obecna obecny obecne bestehender bestehende bestehendes laufender laufende nuværende nuvarande
    nåværende huidige huidig attuale atual actuel actuelle nykyinen
used: gebraucht gebrauchte usado usados usato usati begagnad begagnade brugt brukt käytetty używany używane
discount: rabatt descuento desconto sconto korting alennus rabat zniżka
warranty: garantie garantía garantia garanzia garanti takuu gwarancja
electricity: strom électricité electricidad eletricidade elettricità elektriciteit elektrisitet sähkö prąd
cabling: verkabelung glasfaserverkabelung câblage cableado cablaggio cabeamento bekabeling kablage kabling kaapelointi
    okablowanie
lot: forfait pauschal pauschale forfettario
power cord: netzkabel stromkabel strømkabel strömkabel nettkabel virtajohto virtakaapeli netsnoer
power cords: strømkabler strömkablar netzleitungen
network: netz netzwerk réseau rede rete netwerk nätverk nettverk netværk verkko sieć
optics: optik optiken optikken ottico ottici optique optiques óptica ópticas ottica ottiche optiek optyka
cooling: kühlung refroidissement refrigeración refrigeração raffreddamento koeling kylning kjøling køling jäähdytys
    chłodzenie
"""
"""English words, each with the words of other languages that mean it. The latter do not include English words."""
_SUFFIXES = """
hours: stunden timmar timmer uren timer tuntia
months: monate månader måneder maanden kuukautta
years: jahre jahren jaren vuotta lata år
cable: kabel kablar kabler
server: servrar palvelin
license: lizenz lizenzen licens licentie lisenssi
maintenance: wartung
warranty: garantie
acceptance: godkännande godkendelse godkjenning abnahme
storage: speicher
node: knoten
rack: schrank kast kasten skåp schränke
"""
"""The ends of compounds, which carry the meaning of the whole word."""
_SCRIPTS = """
gpu hours: gpu时 gpu時 gpu小时 gpu小時 gpu時間 gpu시간
24x7: 24時間365日 24时间365天 24小时365天 7x24小时 365일24시간
hours: 時間 小时 小時 시간
months: か月 ヶ月 カ月 个月 個月 개월
years: 年間 年间 년간
monthly: 月額 每月 毎月 月租
managed: 관리형
management: 관리 管理
yearly: 年額 每年 毎年 연간
spare: 予備 备件 備件 备用 備用 예비
support: サポート 지원
maintenance: 保守 维保 維保 維護 维护 유지보수
license: ライセンス 许可证 許可 授權 授权 라이선스
subscription: サブスクリプション 订阅 訂閱 구독
rental: レンタル リース 租金 租赁 租賃 租用 임대
power: 電力 전력
contracted: 契約 合同 계약
colocation: コロケーション 托管 코로케이션
acceptance: 検収 验收 驗收 검수
migration: 移行 迁移 遷移 이전
installation: 設置 安装 安裝 설치
training: 研修 培训 培訓 교육
freight: 輸送 运输 運輸 운송
rack: ラック 机柜 機櫃 랙
storage: ストレージ 存储 儲存 스토리지
file system: ファイルシステム 文件系统 파일시스템
usable: 実効 可用 가용
server: サーバー サーバ 伺服器 服务器 서버
node: ノード 节点 節點 노드
leaf: リーフ 리프
spine: スパイン 스파인
frontend: フロントエンド 前端 프런트엔드 프론트엔드
switch: スイッチ 交换机 交換器 交換機 스위치
cable: ケーブル 线缆 線纜 线材 線材 电缆 케이블
fiber: 光ケーブル 光纤 光纖 光ファイバ 광케이블
transceiver: 光モジュール トランシーバー トランシーバ 光模块 光模組 收发器 광모듈 광트랜시버 émetteur-récepteur
    émetteurs-récepteurs
memory: メモリ 内存 記憶體 메모리
used: 中古 二手 중고
old: 旧 기존 구형
returned: 返却 返還 归还 歸還 반납 반환
lot: 一式 일식
network: ネットワーク 网络 網路 네트워크
cabling: 配線 布线 佈線 배선
end of support: 保守終了 サポート終了 停止维护 지원종료
end of sale: 販売終了 停售 판매종료
discount: 値引 折扣 할인
warranty: 保証 质保 保固 보증
cooling: 冷却 冷卻 制冷 냉각
per unit: 単位 单位
per gpu: gpuごと gpu毎 gpu당
per node: 台ごと 台あたり 노드당 서버당
next business day: 翌営業日 次工作日 익영업일
liquid cooled: flüssiggekühlt flüssiggekühlte wassergekühlt wassergekühlte vätskekyld
air cooled: luftgekühlt luftgekühlte luftkyld
"""
"""English words for words that texts write without spaces around them, or with punctuation inside."""
_PHRASES = """
gpu hours: gpu 时 | gpu 小时 | gpu 時間 | gpu 시간
24x7: 365일 24시간 | 24시간 365일
file system: 파일 시스템 | système de fichiers | sistema de archivos | sistema de ficheros | sistema de arquivos
transceiver: 광 모듈
end of support: 지원 종료
end of sale: 판매 종료
per gpu: gpu 単位 | gpu 1 基ごと | gpu 기준
next business day: volgende werkdag | nächster arbeitstag | siguiente día hábil
second feed: tweede voeding | zweite einspeisung | deuxième alimentation | segunda alimentación | segunda alimentação
    | seconda alimentazione | andra matningen
on site: op locatie | sur site | vor ort | en sitio | in loco | på plats | på stedet | na miejscu | paikan päällä
current: in essere | en vigueur | en vigor | in vigore
"""
"""Translations of phrases of several words: the meaning in English, and the phrases separated by vertical bars."""
_WORD = re.compile(r"[^\W\d_]+")
_NO_LATIN = re.compile(r"[^\x00-\u024f]")
_FIGURE = re.compile(r"(?<=[^\W\d_a-z])(?<=[^\x00-\u024f])(?=\d)")
"""The position between a letter of a non-Latin script and a digit."""
_OCTETS = re.compile(
    r"(?<=\d)( ?[gp])o(?![^\W_])|"
    r"(?<=\d)( ?t)o(?= ?(?:[,;.)/+]|$|(?:soit|bruts?|brutes|utiles?|raw|usable|de|par|en|ddr\d?|nvme|ssd|hbm\d?\w?)\b))"
)
"""Octets, as French and Romanian call bytes: `15,36 To`; the English `to` has another word after it."""
_MONTH_NAMES = """
january januar janvier enero janeiro gennaio januari ledna stycznia tammikuuta
february februar février febrero fevereiro febbraio februari února lutego helmikuuta
march märz mars marzo março maart března marca maaliskuuta
april avril abril aprile dubna kwietnia huhtikuuta
may mai mayo maio maggio mei maj května maja toukokuuta
june juni juin junio junho giugno června czerwca kesäkuuta
july juli juillet julio julho luglio července lipca heinäkuuta
august août agosto augustus augusti srpna sierpnia elokuuta
september septembre septiembre setembro settembre září września syyskuuta
october oktober octobre octubre outubro ottobre října października lokakuuta
november novembre noviembre novembro listopadu listopada marraskuuta
december dezember décembre diciembre dezembro dicembre prosince grudnia joulukuuta
"""
"""The names of the months in the languages of suppliers, January first."""
_LETTERS_OF_MONTH = 9
_MONTHS_OF_YEAR = 12
_YEAR = re.compile(r"\b20\d\d\b")
_NO_MARKS = str.maketrans("łøæđıß", "loadis")
_SHORTEST_PLAIN = 4
"""Smallest number of letters of a word that many write without its accents."""
_SHORTEST_STEM = 2
"""Smallest number of letters of a compound before its end."""


@cache
def _month_numbers() -> dict[str, int]:
    """The number of each month by the beginning of its name without accents."""
    lines = enumerate(_MONTH_NAMES.strip().splitlines(), start=1)
    return {_without_marks(name)[:_LETTERS_OF_MONTH]: number for number, line in lines for name in line.split()}


@cache
def _meaning_of_words() -> dict[str, str]:
    """The English meaning of each word."""
    found: dict[str, str] = {}
    for meaning, words in _word_entries(_MEANINGS):
        found |= dict.fromkeys(words.split(), meaning)
    plain = {_without_marks(word): meaning for word, meaning in found.items() if len(word) >= _SHORTEST_PLAIN}
    return plain | found


def _without_marks(word: str) -> str:
    """A word without accents, as many keyboards write it."""
    letters = unicodedata.normalize("NFD", word.translate(_NO_MARKS))
    return "".join(each for each in letters if not unicodedata.combining(each))


@cache
def _meaning_of_phrases() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of all phrases, the longest first, and their meanings."""
    pairs = [(word, meaning) for meaning, words in _word_entries(_SCRIPTS) for word in words.split()]
    pairs += [(phrase.strip(), meaning) for meaning, words in _word_entries(_PHRASES) for phrase in words.split("|")]
    found = dict(pairs)
    named = sorted(found, key=len, reverse=True)
    parts = [re.escape(each) if _NO_LATIN.search(each) else rf"\b{re.escape(each)}\b" for each in named]
    return re.compile("|".join(parts)), found


@cache
def _meaning_of_suffixes() -> tuple[tuple[str, str], ...]:
    """The ends of compounds with their meanings, the longest first."""
    pairs = [(suffix, meaning) for meaning, words in _word_entries(_SUFFIXES) for suffix in words.split()]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


def _word_entries(table: str) -> list[tuple[str, str]]:
    """The entries of a table as pairs of meaning and words. A line with a leading space continues the line before."""
    lines = table.strip().replace("\n ", " ").splitlines()
    return [(meaning, words) for meaning, _, words in (line.partition(": ") for line in lines)]


def english_text(text: str) -> str:
    """A text in lower case with the words that suppliers of other languages use for parts, periods and services in
    English; all other words stay.

    >>> english_text("h200 gpu-timmar, 24x7 wartung"), english_text("kw-måneder (300 x 36)")
    ('h200 gpu-hours, 24x7 maintenance', 'kw-months (300 x 36)')
    >>> english_text("valable jusqu'au 30 novembre 2026"), english_text("order by December 14, 2026")
    ("valid jusqu'au 2026-11-30", 'order by 2026-12-14')
    >>> english_text("platí do 31. 12. 2026"), english_text("do 5 stycznia 2027")
    ('valid do 2026-12-31', 'do 2027-01-05')
    >>> english_text("fermé du 5 au 30 avril 2027"), english_text("from 28 december to 8 january 2027")
    ('fermé du 2027-04-05 au 2027-04-30', 'from 2026-12-28 to 2027-01-08')
    >>> english_text("예비 광모듈"), english_text("opslagkast, kastjaren"), english_text("spare cable")
    ('spare transceiver', 'storage rack, rack years', 'spare cable')
    """
    phrases, meanings = _meaning_of_phrases()
    text = phrases.sub(lambda match: _meaning_with_spaces(match, meanings[match[0]]), text)
    if _NO_LATIN.search(text) is not None:
        text = _FIGURE.sub(" ", text)
    if _YEAR.search(text) is not None:
        text = _DATE_IN_FIGURES.sub(_iso_date_of_figures, _date_in_words().sub(_iso_date, text))
        text = _first_day_of_span().sub(_iso_date_of_first, text)
    text = _OCTETS.sub(lambda match: f"{match[1] or match[2]}b", text)
    return _WORD.sub(lambda match: _english_word(match[0]), text)


_DATE_IN_FIGURES = re.compile(r"(?<![\d./])([0-3]?\d)(?:\. ?([01]?\d)\. ?|/([01]?\d)/)(20\d\d)(?![\d/-])")
"""A date by its day, month and year with points or slashes between them."""


def _iso_date_of_figures(match: re.Match[str]) -> str:
    """A numeric date in ISO 8601; a date that no calendar has is unchanged.

    >>> [_iso_date_of_figures(each) for each in _DATE_IN_FIGURES.finditer("31. 12. 2026, 8/1/2027, 1.13.2027")]
    ['2026-12-31', '2027-01-08', '1.13.2027']
    """
    day, month, year = int(match[1]), int(match[2] or match[3]), int(match[4])
    return f"{year}-{month:02}-{day:02}" if 1 <= month <= _MONTHS_OF_YEAR and day else match[0]


def _iso_date_of_first(match: re.Match[str]) -> str:
    """The first day of a time in ISO 8601, by the month and the year of its last day."""
    year, month = int(match["year"]), int(match["month"])
    began = _month_numbers()[_without_marks(match["name"])[:_LETTERS_OF_MONTH]] if match["name"] else month
    return f"{match['ahead']} {year - (began > month)}-{began:02}-{int(match['day']):02}"


def _iso_date(match: re.Match[str]) -> str:
    """A date in words as ISO 8601 writes it: `30 november 2026`, `november 30, 2026`, `1er décembre 2026`."""
    month = _month_numbers()[_without_marks((match[2] or match[3]).lower())[:_LETTERS_OF_MONTH]]
    return f"{match[5]}-{month:02}-{int(match[1] or match[4]):02}"


def _meaning_with_spaces(match: re.Match[str], meaning: str) -> str:
    """The English meaning of a matched phrase, with a space on each side that adjoins a letter or digit."""
    text, (start, end) = match.string, match.span()
    before = " " if start and text[start - 1].isalnum() else ""
    behind = " " if end < len(text) and text[end].isalnum() else ""
    return f"{before}{meaning}{behind}"


def _english_word(word: str) -> str:
    if (meaning := _meaning_of_words().get(word)) is not None:
        return meaning
    for suffix, meaning in _meaning_of_suffixes():
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM and word != meaning:
            stem = word.removesuffix(suffix)
            return f"{_meaning_of_words().get(stem, stem)} {meaning}"
    return word


@cache
def _date_in_words() -> re.Pattern[str]:
    """The pattern of a date with the name of its month."""
    named = "|".join(sorted(set(_MONTH_NAMES.split()), key=len, reverse=True))
    day = r"([0-3]?\d)(?:st|nd|rd|th|er|\.|º)?"
    return re.compile(rf"(?i)\b(?:{day}(?: of| de)? ({named})|({named}) {day}),?(?: de| del)? (20\d\d)\b")


@cache
def _first_day_of_span() -> re.Pattern[str]:
    """Pattern of the first day of a time of which only the last has a year: `from 28 march to 2027-04-09`."""
    named = "|".join(sorted(set(_MONTH_NAMES.split()), key=len, reverse=True))
    ahead = r"\b(?P<ahead>from|vom|von|du|del|dal|van|od|do|de|between|zwischen|entre|tra) "
    first = rf"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|º|\b)\.?(?: (?:de )?(?P<name>{named})\b)?"
    until = r"(?:to|until|through|and|bis|bis zum|und|au|et|al?|y|e|tot|tot en met|do|até|ao)"
    return re.compile(rf"{ahead}{first}(?= {until} (?P<year>20\d\d)-(?P<month>\d\d)-\d\d\b)")
