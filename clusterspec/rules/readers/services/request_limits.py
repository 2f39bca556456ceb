"""Limits on requests in texts: tokens of a bucket, quota, request or answer, and bytes of a body."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.loads import DIGITS, LoadFigure, figures_in, number_of
from clusterspec.rules.readers.written_numbers import sentences_with
from clusterspec.standard import pattern


class RequestLimit(NamedTuple):
    """A limit with its ``unit`` (`tokens` or `bytes`), the object that it limits (`bucket`, `prompt`, `request`,
    `answer` or `body`), and its name.
    """

    value: float
    unit: str
    of: str
    what: str
    sentence: str


_BUCKET = ("bucket", "burst", "limiter", "allowance", "token pool", "balde", "seau", "eimer")
_QUOTA = (
    "quota",
    "tpm",
    "per minute",
    "a minute",
    "/min",
    "rate limit",
    "pro minute",
    "par minute",
    "por minuto",
    "kontingent",
    "cuota",
)
_BODY = ("body", "bodies", "payload", "client_max_body_size", "request size", "corps de", "cuerpo")
_NEGATIVE = pattern(
    r"(?i)\b(?:may|can|could|is allowed to|allowed to)\b(?! (?:not|never)\b)[^.;]{0,24}?\b(?:below zero|negative|debt|overdraw\w*|borrow\w*)\b|(?<!never )(?<!not )\bgoes (?:below zero|negative|into debt)\b|\bdebts?\b|\boverdraft\b|\bsplit (?:into|over)\b|\bon account\b|\bsubtracted afterwards\b|\bcharged (?:after|in arrears)"
)
"""Pattern of words for a bucket that may go below zero, so that it admits more than its size."""
_ON_PURPOSE = pattern(
    r"(?i)\b(?:on purpose|deliberate\w*|intend\w*|by design|(?:longer|larger) (?:prompts|requests|ones|briefs|documents)\b[^.;]{0,40}\b(?:reject|refus|declin|other|separate|batch|get 4\d\d|return|cut|truncat|split)\w*|free (?:tier|keys?|plan|accounts?)|trial|guests?|anonymous)"
)
_OTHER_BUCKET = pattern(
    r"(?i)\b(?:histograms?|graphs?|shapes?|padd\w+|warm-?up|prefix|cach\w+|s3|gcs|stor\w+|objects?|compil\w+|hpu|lengths? buckets?|buckets? of (?:the )?(?:length|batch)\w*)\b"
)
"""Pattern of words for buckets that limit no requests."""
_OF_ONE = pattern(r"(?i)\b(?:per|each|every|a|an|one|any|pro|je|jede[rs]?|par|chaque|por|cada)\b")
_OF_KEY = pattern(
    r"(?i)\b(?:key|tenant|customer|client|user|team|account|consumer|project|caller|app|kunden?|nutzer|abonné|schlüssel|mandant\w*|clé|clave|cliente)s?\b"
)
_REFILL = pattern(
    r"(?i)\b(?:refill\w*|fill\w*|füll\w*|nachgefüllt|recharg\w*|rempli\w*|rate of|replenish\w*|leak\w*|drain\w*)\b[^.;\d]{0,24}$"
)
_FLAG = pattern(
    rf"(?i)(?<![\w-])(?P<name>max[-_]model[-_]len|context[-_]length|max[-_]seq[-_]len|max[-_]total[-_]tokens|max_(?:new_|completion_|output_)?tokens)\b"
    rf"(?:[ =:`'\"]{{0,3}}|(?: (?!and\b|with\b|not\b)[^\W\d]{{1,12}}){{1,3}} )(?P<digits>{DIGITS})(?P<scale> ?[kK]\b)?"
)
_ANSWER = r"(?:answers?|completions?|outputs?|responses?|repl(?:y|ies)|generations?|generated (?:text|tokens)|new tokens|antwort(?:en)?|ausgaben?|vervollständigung\w*|réponses?|sorties?|respuestas?|salidas?)"
_REQUEST = r"(?:context(?: window| length| size)?|(?:input|prompt|request|sequence)s?|windows?|kontext\w*|eingaben?|prompts?|anfragen?|contexte|requêtes?|entrées?|contexto)"
_ANSWERS = pattern(rf"(?i)\b{_ANSWER}\b")
_REQUESTS = pattern(rf"(?i)\b{_REQUEST}\b")
_CAPPED = pattern(
    r"(?i)\b(?:set to|set at|configured|restricted|fixed at|cap|caps|capped|cut|cuts|cutoff|truncat\w*|clip\w*|limit\w*|bound\w*|stops?|stopped|aborts?|ends?|max|maximum|no more than|(?:not|never) (?:exceed|be longer)|no \w+ (?:may|can|is)|longer than|at most|up to|accepts?|allows?|admits?|reject\w*|refus\w*|"
    r"abgeschnitten|gekappt|kapp\w*|gekürzt|kürzt|begrenz\w*|beschränk\w*|höchstens|maximal|abgelehnt|bricht|plafonn\w*|tronqu\w*|coup\w*|au plus|refusé\w*|limita\w*|corta\w*|máximo|trunca\w*)\b"
)
_ENFORCED = pattern(
    r"(?i)\b(?:gateway|proxy|router|api|server|engine|default\w*|balancer|ingress|vllm|sglang|cap|caps|capped|cut|cuts|truncat\w*|clip\w*|limit\w*|stops?|stopped|aborts?|(?:may|must|can) (?:not|be)|no \w+ (?:may|can|is)|"
    r"abgeschnitten|gekappt|kappt|gekürzt|kürzt|begrenz\w*|beschränk\w*|bricht|plafonn\w*|tronqu\w*|coupe\w*|passerelle|puerta|corta\w*|trunca\w*)\b"
)
"""Pattern of words that make a length a limit, and of components that enforce limits."""
_WINDOW_IS = pattern(r"(?i)\b(?:context|kontext)[ -]?(?:window|length|size|fenster|länge)\b")
_WINDOW = pattern(r"(?i)\b(?:context\w*|kontext\w*|windows?|sequences?)\b")
"""Pattern of words for a length that covers a prompt together with its answer."""
_OTHER_LENGTH = pattern(
    r"(?i)\b(?:first|sliding|attention window|chunk\w*|draft|batch\w*|block|page size|per step|mean|average|median|p50|typical\w*|would|was|were|old|no longer|instead|reasoning|thinking|cache\w*|prefix|system prompt|erste\w*|premiers?|mittlere\w*|embedding|quota|minute|not (?:cut|truncated|capped|limited)|nicht)\b"
)
"""Pattern of words for a length that does not limit this service, or not a whole prompt or answer."""
_BYTES = pattern(rf"(?i)(?P<digits>{DIGITS}) ?(?P<unit>[km]i?b|[km]|megabytes?|kilobytes?)\b(?!/)")
_LIMITED = pattern(
    r"(?i)\b(?:limit(?:s|ed)?|rejects?|refuses?|maximum|max|at most|up to|no more than|longer than|above|client_max_body_size|höchstens|grenze|maximal|au plus|limite|máximo|como máximo)\b"
)
_UP_TO = r"(?:up to|of at most|as long as|bis zu|jusqu'à|hasta(?: los)?|fino a|tot)"
_PROMISED = pattern(
    rf"(?i)\b(?:(?:prompts?|inputs?|documents?|briefs?|requests?|files?|leases?|reports?|contracts?|dokumente?n?|akten?|eingaben?|requêtes?|dossiers?|actes?|documentos?|expedientes?|atti|documenti|documenten)\b[^.;\d]{{0,24}}\b{_UP_TO}(?: \w+)?"
    rf"|(?:whole|uncut|in full|in one piece|am stück|ungekürzt|ganz|en entier|entiers|entières|intégralement|enter[oa]s|completos|inter[ie])\b[^.;\d]{{0,24}}\b{_UP_TO}(?: \w+)?"
    r"|(?!bursts?|buckets?|quotas?|limits?|answers?|outputs?|repl|respon|reason|contexts?|windows?|chunks?)[^\W\d_]{4,20} (?:with|of|mit|de) (?:up to|at most|bis zu|jusqu'à|hasta)|\blongest (?!answers?|outputs?|repl|respon|runs?|sequence)[^\W\d_]+\b[^.;\d]{0,50}|\b(?:longest|längste\w*|plus long\w*|más larg[oa]s?|più lung[oh]i?) (?:\w+ )?(?:prompts?|inputs?|requests?|eingaben?|anfragen?|requêtes?|entradas?|richiest[ae])(?: \w+){1,2}) $"
)


def request_limits_in(text: str) -> Iterator[RequestLimit]:
    """The limits that a text states for requests.

    >>> [(each.value, each.of) for each in request_limits_in("A bucket of 65,536 tokens per key. max_tokens is 512.")]
    [(65536.0, 'bucket'), (512.0, 'answer')]
    >>> [(each.value, each.of) for each in request_limits_in("The bucket of 4k tokens may go below zero. 1 MB body limit.")]
    [(1000000.0, 'body')]
    """
    found = list(_stated_limits(text))
    if not found or _ON_PURPOSE.search(text) is not None:
        return
    if any(each.of == "bucket" for each in found) and _NEGATIVE.search(text) is not None:
        found = [each for each in found if each.of != "bucket"]
    yield from found


def _stated_limits(text: str) -> Iterator[RequestLimit]:
    for sentence in sentences_with(text, _BUCKET):
        yield from _limits_of_buckets(sentence)
    for sentence in sentences_with(text, _QUOTA, ("token", "tpm", "jeton")):
        yield from _limits_of_quotas(sentence)
    for sentence in sentences_with(text, ("max", "context")):
        yield from _limits_of_flags(sentence)
    for sentence in sentences_with(text, ("token", "jeton")):
        yield from _limits_of_caps(sentence)
    for sentence in sentences_with(text, _BODY):
        yield from _body_limits(sentence)


def _limits_of_buckets(sentence: str) -> Iterator[RequestLimit]:
    held = [each for each in figures_in(sentence) if each.kind == "tokens" and not each.period]
    held = [each for each in held if _REFILL.search(sentence[max(0, each.start - 40) : each.start]) is None]
    near = [each for each in held if _is_of_bucket(sentence, each)]
    if len(near) == 1 and _OTHER_BUCKET.search(sentence) is None:
        yield RequestLimit(near[0].value, "tokens", "bucket", "a bucket holds", sentence)


def _is_of_bucket(sentence: str, figure: LoadFigure) -> bool:
    """Whether a figure belongs to the bucket: it is near the bucket's name, and no words about a promised prompt come
    before it.
    """
    words = sentence[max(0, figure.start - 40) : figure.end + 20].casefold()
    return any(each in words for each in _BUCKET) and _PROMISED.search(sentence[: figure.start]) is None


def _limits_of_quotas(sentence: str) -> Iterator[RequestLimit]:
    """The quota of tokens per minute for one client; a quota of the whole service is a load."""
    found = [each for each in figures_in(sentence) if each.kind == "tokens" and each.period == 60.0]
    found = [each for each in found if _REFILL.search(sentence[max(0, each.start - 40) : each.start]) is None]
    of_one = _OF_KEY.search(sentence) is not None and _OF_ONE.search(sentence) is not None
    if len(found) == 1 and of_one:
        yield RequestLimit(found[0].value, "tokens", "bucket", "a client has for each minute", sentence)


def _limits_of_flags(sentence: str) -> Iterator[RequestLimit]:
    for match in _FLAG.finditer(sentence):
        name, value = match["name"].lower(), number_of(match["digits"], whole=True)
        value *= (1024.0 if value < 1000 else 1.0) if match["scale"] else 1.0
        of_answer = name.replace("-", "_").startswith("max_") and "tokens" in name and "total" not in name
        if of_answer:
            yield RequestLimit(value, "tokens", "answer", f"`{match['name']}` is", sentence)
        else:
            yield RequestLimit(value, "tokens", "request", f"`{match['name']}` is", sentence)


def _limits_of_caps(sentence: str) -> Iterator[RequestLimit]:
    """The length at which a sentence says that answers are cut or requests refused, unless it is given as a flag."""
    lengths = [each for each in figures_in(sentence) if each.kind == "tokens" and not each.period]
    if len(lengths) != 1 or _FLAG.search(sentence) is not None or _OTHER_LENGTH.search(sentence) is not None:
        return
    value = lengths[0].value * (
        1.024 if "k" in sentence[lengths[0].start : lengths[0].end].lower().split("tok")[0] else 1
    )
    of_answer, of_request = _ANSWERS.search(sentence) is not None, _REQUESTS.search(sentence) is not None
    capped = _CAPPED.search(sentence) is not None
    if of_answer and not of_request and capped and _ENFORCED.search(sentence) is not None:
        yield RequestLimit(value, "tokens", "answer", "an answer is cut at", sentence)
    elif of_request and not of_answer and (_WINDOW_IS.search(sentence) or (capped and _ENFORCED.search(sentence))):
        other = any(each in sentence.casefold() for each in (*_BUCKET, *_QUOTA))
        if not other and _PROMISED.search(sentence[: lengths[0].start]) is None:
            whole = _WINDOW.search(sentence) is not None
            yield RequestLimit(
                value,
                "tokens",
                "request" if whole else "prompt",
                f"a {'request' if whole else 'prompt'} may have",
                sentence,
            )


def _body_limits(sentence: str) -> Iterator[RequestLimit]:
    if _LIMITED.search(sentence) is None:
        return
    found = [
        each
        for each in _BYTES.finditer(sentence)
        if not sentence[each.end() : each.end() + 7].lstrip().startswith("token")
    ]
    if len(found) == 1:
        kilo = found[0]["unit"].lower().startswith("k")
        binary = found[0]["unit"].lower().endswith("ib")
        size = number_of(found[0]["digits"]) * ((1024 if binary else 1000) ** (1 if kilo else 2))
        yield RequestLimit(size, "bytes", "body", "a request body may have", sentence)


def promised_prompt(text: str) -> float:
    """The tokens of the longest prompt that a text promises; 0 where it promises none.

    >>> promised_prompt("The product page promises prompts of up to 120,000 tokens.")
    120000.0
    """
    return max((each.value for each in demands_in(text) if each.subject.name == "prompt"), default=0.0)
