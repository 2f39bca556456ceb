"""Bytes of data that the quoted storage systems can store, by their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.procurement.offered import Offered
from clusterspec.quantity import Quantity
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.quotes.parts import BYTES, SAME, OtherFigure
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, products_in
from clusterspec.spec.model import NetworkSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

SAME_SIZE = 0.05
"""Relative difference up to which two sizes of a storage system are the same."""
STORE = pattern(
    r"\b(?:storage|file ?system|flash|store|appliance|lustre|gpfs|ceph|beegfs|exascaler|wekapod|nvme (?:shel(?:f|ves)|enclosures?)|jbofs?|\w*speicher|stockage|almacenamiento|armazenamento|opslag\w*|"
    r"lagring\w*|archiviazione|tallennus\w*|system plik\w*|dateisystem\w*|sistema (?:de|di) (?:archivos|ficheros|arquivos|file)|"
    r"système de fichiers|bestandssysteem|filsystem\w*|tiedostojärjestelmä)\b|ストレージ|存储|스토리지|파일 ?시스템|ファイルシステム|文件系统"
)
"""Pattern of words in a line that sells a storage system."""
_RATE = rf"{NUMBER} ?(g|t)(?:i?b|o)/s"
_RATES = pattern(_RATE)
_PAIR = pattern(r"(?<![\w.])(\d{1,4}) ?/ ?(?=\d{1,4} ?([gt])(?:i?b|o)/s)")
"""Pattern of the first of two rates of a storage system that share a unit, as in `450/200 GB/s`."""
_READ = r"(?:(?:read|lese|odczyt|läs|読み|读)\w{0,20}|lettura|lecture|lectura|leitura|읽기)"
_WRITE = r"(?:(?:writ|schreib|zapis|skriv|書き|写)\w{0,20}|scrittura|écriture|escritura|escrita|gravação|쓰기)"
_OF_KIND = {
    kind: (
        pattern(
            rf"{_RATE}[ ]?(?:(?:sustained|sequential|seq\.?|aggregate|in|en|im|em|i|na|beim|de|al|à la) ){{0,2}}{words}"
        ),
        pattern(rf"{words}:? {_RATE}"),
    )
    for kind, words in (("read", _READ), ("write", _WRITE))
}
"""For reading and writing, the patterns of a rate in bytes per second before and after the word."""
_SIZE = pattern(rf"{NUMBER} ?(tb|tib|pb|pib|gb|gib)\b(?!/s| ?(?:ram|ddr|of ram|memory|cache|per|hbm))")
_USABLE = pattern(
    rf"{NUMBER} ?(tb|tib|pb|pib),? \(?(?:usable|effective|net|netto|nutzbar|utiles?|útiles?|utilisables?|bruikbaar|"
    r"utilizáveis|utilizável|utilizables?|utilizzabili)\b"
)
_CODE = pattern(r"(?<![\w.])(\d{1,2}) ?\+ ?(\d)(?![\w.])")
"""Pattern of an erasure code: its numbers of data and parity fragments."""
_RESERVED = pattern(
    r"(?<![\d.,])(\d{1,2}) ?% (?:[a-z]+ ){0,2}?(?:reserved?|rezerv\w*|reserva|réserve|reserviert|riserva|reserverad|headroom|free space|overhead|spare space)\b"
)
"""Pattern of the percentage of a storage system that is kept free."""
_PROTECTION = pattern(r"(?i)\b(?:erasure|protection|parity|coding|raid|ec)\b")
_DRIVES = pattern(
    r"(?<![\w.,])(\d{1,4}) ?(?:(?:drives?|disks?|ssds?|nvme|laufwerke|platten|disques?|discos|unidades|dischi|schijven|diskar) ?)?"
    rf"(?:[x×]|(?<=[a-z] )(?:of|de|von|van|da|di|à|av)\b) ?{NUMBER} ?(tb|tib)\b"
)
"""Pattern of the drives of a storage system: their number and the size of one."""
_COUNTED = pattern(
    r"(?<![\w.,])(\d{1,4}) ?(?:months?|monate?n?|mois|mes(?:es)?|mesi|maanden|nodes?|appliances?|enclosures?|chassis|controllers?|knoten|"
    r"nœuds|nodos|nodi|nós|servers?|servidores)\b(?! ?[x×])"
)
"""Pattern of the number of months of a storage system, or of the nodes or enclosures that form it."""
_PER_CAPACITY = pattern(r"(?:\bper|\bje|\bpar|\bpor|\bal|/) ?(?:raw |usable |net )?[gt]i?b\b(?!/)")


def states_size(text: str) -> bool:
    """Whether a text states the size of a storage system or of its drives."""
    return _SIZE.search(text) is not None


def _stated_protection(sentences: Sequence[str]) -> str:
    """The first sentence about the protection of stored data; empty if there is none."""
    return next((each for each in sentences if _PROTECTION.search(each) is not None), "")


def erasure_code(text: str, stated: str) -> re.Match[str] | None:
    """The erasure code of a storage system whose text states drives or a raw size, but no usable size; else None."""
    raw = "raw" in text or _DRIVES.search(text) is not None
    return (_CODE.search(text) or _CODE.search(stated)) if raw and _USABLE.search(text) is None else None


def bytes_for_data(text: str, stated: str = "") -> float:
    """The bytes of data that a storage system can store by its text: the usable size, else the largest size or that of
    all drives, less the parity of its erasure code. The code may also be ``stated`` elsewhere.

    >>> bytes_for_data("2 pb raw, erasure code 8+2"), bytes_for_data("12 pb usable, 15 pb raw"), bytes_for_data("3 pb")
    (1600000000000000.0, 1.2e+16, 3000000000000000.0)
    >>> bytes_for_data("node with 24 x 15 tb nvme", "4+2 protection")
    240000000000000.0
    >>> bytes_for_data("1.23 pb (raw), 16d+4p, 0.89 pb (usable)")
    890000000000000.0
    """
    usable = _USABLE.findall(text)
    drives = [int(count) * _bytes_of_size((number, unit)) for count, number, unit in _DRIVES.findall(text)]
    size = max([*map(_bytes_of_size, usable or _SIZE.findall(text)), *(() if usable else drives)])
    code = erasure_code(text, stated)
    return float(size) * int(code[1]) / (int(code[1]) + int(code[2])) if code is not None else size


def stores_of_line(text: str, quantity: float | None, *, periodic: bool = False) -> float:
    """The number of storage systems of the size that a text states: the quantity, or 1 if the size covers all of them.

    It covers all systems in three cases: it equals the drives of one system times the quantity; the quantity counts
    nodes, months or terabytes; the line is ``periodic``.

    >>> stores_of_line("24 x 15.36 tb each (3.686 pb raw in all)", 10), stores_of_line("24 x 15.36 tb nvme", 10)
    (1.0, 10.0)
    >>> stores_of_line("24 ssd de 15,36 tb, total 4,42 pb raw", 12)
    1.0
    >>> texts = ("flash 10 pb usable, 20 nodes", "flash 10 pb, per tb usable", "flash 10 pb, 36 months")
    >>> [stores_of_line(text, 20) for text in texts], stores_of_line("file storage 1 pb", 36, periodic=True)
    ([1.0, 1.0, 20.0], 1.0)
    """
    count = 1.0 if quantity is None else float(quantity)
    counted = {float(number) for number in _COUNTED.findall(text)}
    if periodic or count in counted or _PER_CAPACITY.search(text) is not None:
        return 1.0
    drives = sum_of(int(number) * _bytes_of_size((size, unit)) for number, size, unit in _DRIVES.findall(text))
    largest = max(map(_bytes_of_size, _SIZE.findall(text)), default=0.0)
    return 1.0 if drives and count > 1 and abs(largest / (drives * count) - 1) < SAME_SIZE else count


def _bytes_of_size(figure: tuple[str, str]) -> float:
    """Bytes of a number and its unit."""
    return number_in_text(figure[0]) * BYTES[figure[1]]


def slower_stores(lines: Sequence[tuple[Offered, str]], store: NetworkSpec) -> Iterator[OtherFigure]:
    """The fastest line for a storage system, if every such line states a rate and even the fastest is below the rate of
    the design. The rate of a line is multiplied by its quantity.
    """
    sold = sold_stores(lines)
    if not sold or any(_RATES.search(text) is None for _, text in sold):
        return
    for kind, key, stated in (("write", "bandwidth", store.bandwidth), ("read", "read", store.read)):
        rates = [
            (rate * (1.0 if line.counts_periods else max(1.0, float(line.line.quantity or 1.0))), line)
            for line, text in sold
            if (rate := rate_of_store(text, kind))
        ]
        if stated is None or not rates or len(rates) < len(sold):
            continue
        fastest, line = max(rates, key=lambda pair: pair[0])
        if fastest < stated.value * (1 - SAME_SIZE):
            yield OtherFigure(line, f"{display(fastest, 'B/s')} to {kind}", f"networks.storage.{key}", stated.written)
            return


def rate_of_store(text: str, kind: str) -> float:
    """The read or write rate in B/s that a lowercase text states for a storage system; 0 if there is none. If no word
    separates two rates, the larger is for reading.

    >>> [rate_of_store("2 pb, 150 gb/s read, 90 gb/s write", kind) / 1e9 for kind in ("read", "write")]
    [150.0, 90.0]
    >>> [rate_of_store("store of 200/90 gb/s", kind) / 1e9 for kind in ("read", "write")], rate_of_store("60 gb/s write", "read")
    ([200.0, 90.0], 0.0)
    """
    text = _PAIR.sub(r"\1 \2b/s ", text)
    before, behind = _OF_KIND[kind]
    told = any(each.search(text) is not None for pair in _OF_KIND.values() for each in pair)
    found = (before.findall(text) or behind.findall(text)) if told else _RATES.findall(text)
    rates = [number_in_text(number) * (1e12 if unit == "t" else 1e9) for number, unit in found]
    return (min if kind == "write" and not told and len(rates) == 2 else max)(rates, default=0.0)


def small_store(
    lines: Sequence[tuple[Offered, str]], capacity: Quantity | None, texts: PurchaseTexts
) -> Iterator[OtherFigure]:
    """Storage systems whose stated sizes total less than the capacity of the design."""
    sold = sold_stores(lines)
    if capacity is None or not sold:
        return
    stated = _stated_protection(texts.sentences)
    reserved = _RESERVED.search(texts.description) if _CODE.search(stated) is not None else None
    kept = 1 - int(reserved[1]) / 100 if reserved is not None else 1.0
    total = kept * sum_of(_data_of_line(line, text, stated) for line, text in sold)
    files = [(line, text) for line, text in sold if _OBJECTS.search(text) is None]
    if files and total > capacity.value * (1 + SAME_SIZE):  # the capacity is not that of both kinds
        sold, total = files, kept * sum_of(_data_of_line(line, text, stated) for line, text in files)
    if total < capacity.value * (1 - SAME):
        coded = any(erasure_code(text, stated) for _, text in sold)
        less = f", less {reserved[1]} % of reserve" if reserved is not None else ""
        states = f"{display(total, 'B')}{' for data by the erasure code' if coded else ''}{less}"
        yield OtherFigure(sold[0][0], states, "networks.storage.capacity", capacity.written)


_OBJECTS = pattern(
    r"\b(?:object (?:storage|stores?)|s3|(?:objekt|object)(?:speicher|opslag|lagring)\w*|stockage objet|almacenamiento de objetos)\b"
)
"""Pattern of words for object storage, which is not a file system."""
_UNIT_OF_PERIOD = pattern(r"\b([gtp]i?b)[- ](?:years?|months?)\b")
LICENSE = pattern(r"\b(?:licen[cs]es?|licensed?|subscriptions?)\b")


def small_license(
    lines: Sequence[tuple[Offered, str]], capacity: Quantity | None, sentences: Sequence[str]
) -> Iterator[OtherFigure]:
    """Licenses for less capacity than both the quoted storage systems and the design. One of the ``sentences`` may
    state the protection of the data.
    """
    licensed = [(line, text) for line, text in lines if LICENSE.search(text) is not None]
    if capacity is None or not licensed:
        return
    yield from _raw_license(lines, licensed, sentences)
    stated = _stated_protection(sentences)
    stores = [(line, text) for line, text in sold_stores(lines) if LICENSE.search(text) is None]
    held = sum_of(_data_of_line(line, text, stated) for line, text in stores)
    sizes = [licensed_sizes(text) for _, text in licensed]
    total = sum_of(number * BYTES[unit] for each in sizes for number, unit in each)
    one_each = all(len(each) == 1 for each in sizes)
    if one_each and 0 < total < min(held, capacity.value) * (1 - SAME_SIZE):
        states = f"a license for {display(total, 'B')}"
        yield OtherFigure(licensed[0][0], states, "networks.storage.capacity", capacity.written)


_RAW = pattern(r"\b(?:raw|hrub\w*|brut(?:to|e|a|o)?|rohkapazit\w*|bruta)\b")
_BY_CAPACITY = pattern(r"\bper (?:raw )?([tp]i?b)\b")


def _raw_license(
    lines: Sequence[tuple[Offered, str]], licensed: Sequence[tuple[Offered, str]], sentences: Sequence[str]
) -> Iterator[OtherFigure]:
    """A license for raw capacity that covers less than the drives of the quoted storage systems."""
    raw = sum_of(
        raw_bytes(text) * float(line.line.quantity or 1) for line, text in lines if LICENSE.search(text) is None
    )
    counted_raw = any(LICENSE.search(each) is not None and _RAW.search(each) is not None for each in sentences)
    for line, text in licensed if raw else ():
        unit, sizes = _BY_CAPACITY.search(text), licensed_sizes(text)
        total = sum_of(number * BYTES[each] for number, each in sizes)
        if unit is not None and not sizes:
            total = float(line.line.quantity or 0) * BYTES[unit[1]]
        if (counted_raw or _RAW.search(text) is not None) and 0 < total < raw * (1 - SAME_SIZE):
            states = f"a license for {display(total, 'B')} of raw capacity"
            yield OtherFigure(line, states, "procurement.quote", f"of drives with {display(raw, 'B')}")
            return


def licensed_sizes(text: str) -> list[tuple[float, str]]:
    """The sizes in the text of a license, as numbers with units; without one, the capacity factor of a price per unit
    and period.

    >>> licensed_sizes("file system license, 3.3 pb raw"), licensed_sizes("license, tib-years (2 000 x 5)")
    ([(3.3, 'pb')], [(2000.0, 'tib')])
    """
    found = [(number_in_text(number), unit) for number, unit in _SIZE.findall(text)]
    unit = _UNIT_OF_PERIOD.search(text)
    if unit is not None and not found:
        found = [(float(product.factors[0]), unit[1]) for product in products_in(text)]
    return found


def raw_bytes(text: str) -> float:
    """The bytes of all drives that the text of a storage system counts; 0 if it counts none.

    >>> raw_bytes("storage node, 16 x 30.72 tb nvme")
    491520000000000.0
    """
    return sum_of(int(count) * _bytes_of_size((number, unit)) for count, number, unit in _DRIVES.findall(text))


def sold_stores(lines: Sequence[tuple[Offered, str]]) -> list[tuple[Offered, str]]:
    """The lines that sell a storage system and state its size."""
    return [(line, text) for line, text in lines if line.kind == "other" and STORE.search(text) and states_size(text)]


def _data_of_line(line: Offered, text: str, stated: str) -> float:
    """The bytes of data that all storage systems of a line can store."""
    return stores_of_line(text, line.line.quantity, periodic=line.counts_periods) * bytes_for_data(text, stated)
