"""Parts of texts that say that something was turned down, or why."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.rules.readers.clauses import refers_to_before
from clusterspec.standard import pattern

_PAST = (
    r"rejected|declined|refused|dismissed|discarded|dropped|withdrawn|turned down|ruled out",
    r"abgelehnt|verworfen|ausgeschlagen|abgewiesen|zurückgewiesen",
    r"(?:refus|rejet|écart|déclin|abandonn)ée?s?",
    r"(?:descart|rechaz|desech|declin|desestim)(?:ó|aron|amos|ad[oa]s?)",
    r"(?:rifiut|scart|declin)(?:ò|arono|ammo|at[oaei])|respint[oaei]|respinse(?:ro)?",
    r"afgewezen|verworpen|geweigerd|afgeslagen",
    r"(?:rejeit|recus|descart|declin)(?:ou|aram|ámos|amos|ad[oa]s?)",
    r"odrzuc\w+",
)
"""Words of what was turned down, by language: English, German, French, Spanish, Italian, Dutch, Portuguese, Polish."""
_EASTERN = (
    r"却下|不採用|見送|断った|断られ|辞退|退けた|否决|放弃|未采纳|未采用|拒绝|谢绝|婉拒|被拒|기각|거절|반려|사양했"
)
_EN, _DE, _FR, _ES, _IT, _NL, _PT, _PL = _PAST
_SEPARABLE = (
    r"turned (?:it|them|that|this) down|(?:lehnte|wies|schlug)(?:n|en)? [^.;]{1,80}? (?:ab|aus|zurück)|"
    r"(?:wees|wezen|sloeg|sloegen) [^.;]{1,80}? af|(?:verwarf|verwierp)(?:en)?"
)
_TURNED_DOWN = pattern(rf"(?i)\b(?:{'|'.join(_PAST)}|{_SEPARABLE})\b|{_EASTERN}")
"""Words in the past: what is refused in future is a demand."""
_EXCLUDED = pattern(
    r"(?i)\b(?:excluded|disqualified|ausgeschlossen|disqualifiziert|exclue?s?|disqualifiée?s?|excluid[oa]s?|esclus[oaie]|uitgesloten|excluíd[oa]s?|wykluczon\w+)\b"
)
_OFFER = pattern(
    r"(?i)\b(?:offers?|bids?|bidders?|suppliers?|vendors?|providers?|angebote?|bieter|anbieter|lieferant\w*|offres?|soumissionnaires?|fournisseurs?|ofertas?|licitador\w*|proveedor\w*|offert[ae]|offerent\w*|fornitor\w+|"
    r"aanbod|offertes?|leverancier\w*|inschrijver\w*|propostas?|fornecedor\w*|concorrentes?|oferent\w*|dostawc\w*)\b"
)
"""Words of an exclusion, and of what a tender excludes: cooling is excluded from a figure."""
_WORDS = r"(?:[^\W\d]+ ){0,3}?"
_OF_BEFORE = pattern(
    rf"(?i)\bturned (?:it|them|that|this) down\b|\b(?:{_EN}) (?:it|them|that|this)\b|"
    rf"^\W*(?:(?:and|but|so|which|that|it|this|they|therefore) ){{0,3}}(?:was|were|had been|has been) {_WORDS}(?:{_EN})\b|"
    rf"\b(?:sie|es|ihn|das|dies) {_WORDS}(?:{_DE})\b|\b(?:lehnten?|wiesen?|schlugen?) {_WORDS}(?:sie|es|ihn|das|dies) {_WORDS}(?:ab|aus|zurück)\b|"
    rf"^\W*(?:(?:und|aber) )?(?:sie |es |er |das )?(?:wurde|ist) {_WORDS}(?:{_DE})\b|"
    rf"\b(?:l['’]|les )(?:avons|a|ont) {_WORDS}(?:{_FR})(?!\w)|^\W*(?:(?:et|mais|elle|il|elles|ils) ){{0,2}}(?:a|ont|fut|furent) {_WORDS}(?:{_FR})(?!\w)|"
    rf"\b(?:la|lo|las|los) {_WORDS}(?:{_ES})\b|^\W*(?:(?:y|pero) )?(?:se (?:la |lo )?|fue |fueron |quedó ){_WORDS}(?:{_ES})\b|"
    rf"\b(?:l['’]|la |lo )(?:abbiamo |ha |hanno )?{_WORDS}(?:{_IT})\b|^\W*(?:(?:e|ma) )?(?:è stat[ao]|fu|venne) {_WORDS}(?:{_IT})\b|"
    rf"\b(?:die|dat|het|deze) (?:is|werd|hebben) {_WORDS}(?:{_NL})\b|^\W*(?:(?:en|maar) )?(?:is|werd) {_WORDS}(?:{_NL})\b|\b(?:wees|wezen|sloegen) {_WORDS}(?:die|dat|het|deze|haar) {_WORDS}af\b|"
    rf"^\W*(?:(?:e|mas) )?(?:foi|foram) {_WORDS}(?:{_PT})\b|\b(?:rejeit|recus|descart)(?:ou|aram|ámos|amos)-[ao]s?\b|"
    rf"^\W*(?:i )?(?:została|zostało|został) {_WORDS}(?:{_PL})\b"
)
"""Words of a part that say that what the part before it names was turned down."""
_REASON = pattern(
    r"(?i)^\W*(?:(?:and|und|et|y|e|en) )?(?:because|since|as|for|due to|it|they|this one|that one|weil|denn|da|sie|es|er|parce qu\w*|car|puisque|elles?|ils?|porque|pues|ya que|exigía|"
    r"perché|poiché|in quanto|omdat|want|aangezien|zij|ze|die|deze|pois|já que|bo|ponieważ|gdyż|ona|ono)(?=\W)"
)
"""The first words of a part that gives a reason, or goes on about what the part before it names."""
_OF_THIS = pattern(
    r"(?i)\b(?:we|our|ours|us|wir|unser\w*|uns|nous|notre|nos|nosotros|nuestr\w+|noi|nostr\w+|wij|ons|onze|nós|noss\w+|nasz\w*)\b"
)


_REQUESTED = pattern(
    r"(?i)\b(?:applied for|(?:was|were|had|been|originally|first) (?:requested|asked for)|beantragt\w*|angefordert\w*|angemeldet|demandée?s?|sollicitée?s?|solicit(?:ad[oa]s?|ó|aron|amos)|pedid[oa]s?|pedimos|"
    r"richiest[oaie]|chiest[oaie]|aangevraagd|wniosk\w+)\b|申请|申請|신청"
)
"""Words of what was requested, which somebody else may grant in part."""
_CUT = pattern(
    r"(?i)\b(?:(?<!to )(?<!be )(?:cut|struck|crossed out|deleted|reduced|halved|trimmed)|strich(?:en)?|gestrichen|kürzten?|gekürzt|halbierten?|ray(?:é\w*|a)|biff(?:é\w*|a)|supprim(?:é\w*|a)|rédui(?:te?s?|sit)|retranch\w+|"
    r"tach(?:ó|ad[oa]s?)|recort(?:ó|aron|ad[oa]s?)|suprimi(?:ó|d[oa]s?)|redujo|reducid[oa]s?|tagli(?:ò|at[oaie])|ridott[oaie]|ridusse|geschrapt|schrapte|gekort|cort(?:ou|ad[oa]s?)|reduzi(?:u|d[oa]s?)|skreśli\w+|obci\w+)(?!\w)|削减|削減|砍|核减|削られ|削った|삭감"
)
"""Words of a request that was granted in part."""


def is_cut_request(sentence: str, behind: str) -> bool:
    """Whether a sentence says what was requested, and it or the next one that a part of it was struck.

    >>> is_cut_request("Two racks were applied for", "the committee struck one"), is_cut_request("We want two racks", "")
    (True, False)
    """
    found = _REQUESTED.search(sentence) is not None
    return found and (_CUT.search(sentence) is not None or _CUT.search(behind) is not None)


def turns_down(text: str) -> bool:
    """Whether a text says that something was turned down.

    >>> [turns_down(each) for each in ("Se descartó una oferta", "Wir lehnten das Angebot ab", "A node above 60 kW is returned.")]
    [True, True, False]
    """
    if _TURNED_DOWN.search(text) is not None:
        return True
    return _EXCLUDED.search(text) is not None and _OFFER.search(text) is not None


def turns_down_what_is_before(part: str) -> bool:
    """Whether a part of a text says that what the part before it names was turned down.

    >>> [turns_down_what_is_before(each) for each in ("and we turned it down", "y la descartamos", "and a larger hall was turned down")]
    [True, True, False]
    """
    return _OF_BEFORE.search(part) is not None


def goes_on(part: str) -> bool:
    """Whether a part of a text gives the reason for the part before it, or goes on about what it names.

    >>> [goes_on(each) for each in (", because it asks for a year", "(weil es ein Jahr verlangt", ", and our hall gives 60 kW")]
    [True, True, False]
    """
    return _REASON.match(part) is not None


def kept_sentences(sentences: Sequence[str]) -> list[str]:
    """Sentences without those about what the next one turns down, without requests of which a part was struck, and without
    those that begin with a pronoun for what the one before turns down.

    >>> kept_sentences(["An offer demanded a year.", "We turned it down.", "It covered two years.", "We pay 9."])
    ['We turned it down.', 'We pay 9.']
    """
    return [
        each
        for before, each, behind in zip(("", *sentences), sentences, (*sentences[1:], ""), strict=False)
        if not turns_down_what_is_before(behind)
        and not is_cut_request(each, behind)
        and not (refers_to_before(each) and turns_down(before) and _OF_THIS.search(each) is None)
    ]
