"""The glossary holds the technical terms of messages, and the abbreviations of pages and report templates.

Each word of a message is in the glossary or in the list of plain English words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import clusterspec
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import module
from tests.effort import each

DOCS = Path(clusterspec.__file__).parents[1] / "docs"
PLAIN = frozenset((Path(__file__).parent / "plain_words.txt").read_text("utf-8").split())
"""Words of messages that are no terms of the field; a new word goes there or, where it is a term, to the glossary."""
NOT_WORDS = re.compile(r"`[^`]*`|[a-z_]+\.[a-z_.]+|\w+_\w+|[A-Za-z]+=[^ ]*")
WORD = re.compile(r"[A-Za-z][A-Za-z\-]*[A-Za-z]")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| \[[^\]]+\]\([^)]+\) \|$")


def glossary() -> list[tuple[str, str]]:
    lines = (DOCS / "glossary.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| term ")]
    found = [ROW.match(line) for line in rows]
    assert all(found), "a row needs a term, one line and one reference"
    return [(match[1], match[2]) for match in found if match]


TERMS = frozenset(word.lower() for term, _ in glossary() for word in WORD.findall(term))
KNOWN = PLAIN | TERMS
EXPLAINED = {part.upper() for row in glossary() for word in WORD.findall(" ".join(row)) for part in word.split("-")}
"""The words of all terms and of their lines, as an abbreviation is written."""


def texts(name: str) -> Iterator[str]:
    """The literal parts of the messages and remedies of a rule."""
    tree = ast.parse(Path(module(name).__file__ or "").read_text("utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.ClassDef):
            documentation = ast.get_docstring(function, clean=False)
            for node in ast.walk(function):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and " " in text and text != documentation:
                    yield NOT_WORDS.sub("", text)


def known(word: str) -> bool:
    """Whether a word, or its singular, is plain or a term."""
    forms = {word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ves$", "f", word)}
    return not forms.isdisjoint(KNOWN) or ("-" in word and all(known(part) for part in word.split("-")))


@each("name", [name for name in RULES if RULES[name][1]])
def test_the_terms_of_a_message_are_in_the_glossary(name: str) -> None:
    words = {word.lower() for text in texts(name) for word in WORD.findall(text)}
    assert {word for word in words if not known(word)} == set()


CORE_TERMS = (
    "all-gather all-reduce all-to-all bisection bubble bus collective domain duplex exposed fabric gemm gradient leaf"
    " micro-batch nic overlap oversubscription pipeline rail recomputation replica shard spine tensor tier"
)
"""Terms that a reader outside the field does not know, so that none of them may count as plain English."""


def test_no_core_term_passes_as_plain_english() -> None:
    core = set(CORE_TERMS.split())
    assert core & PLAIN == set()
    assert core - TERMS == set()
    assert not known("zorkmid")


def test_the_glossary_is_in_order_and_names_each_term_once() -> None:
    names = [term.lower() for term, _ in glossary()]
    assert names == sorted(names) and len(names) == len(set(names))
    assert not TERMS & PLAIN


NAMES = {
    "EXAONE",
    "GLM",
    "IREN",
    "JAX",
    "ROLL",
    "VDURA",
    "XLA",
    *("A4X", "AI", "AMD", "AWS", "BLOOM", "DGX", "GCP", "GPT", "HGX", "IEEE", "ISO", "L40S", "LLM", "LM", "MI250X"),
    *(
        "MI300A",
        "MI300X",
        "MI325X",
        "MI350P",
        "MI355X",
        "MI455X",
        "CLIP",
        "GRPO",
        "ASUS",
        "HPE",
        "QCT",
        "Z9964F",
        "IP",
        "LD",
        "NC",
        "NIM",
        "NV",
        "OCI",
        "UTF",
        "VS",
        "PRO",
        "RTX",
        "TRL",
        "DJL",
        "LMI",
        "NQSV",
        "SN5600D",
        "OPT",
        "OSU",
        "SDK",
        "AICR",
        "NIM",
        "TRL",
        "VL",
        "ZB",
    ),
    *("ASTRA", "AWQ", "EAGLE", "GGUF", "GPTQ", "ATC", "CACM", "COMHPC", "ICLR", "JPDC", "TPDS", "VLDB"),
    *("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "DRAFT", "KIND", "SECURITY", "SPEC", "FILE", "LOG"),
    *("CSV", "HTML", "JSON", "PDF", "SARIF", "TOML", "XLSX", "XML", "YAML"),
    *(
        "BY",
        "CC",
        "CI",
        "EB",
        "FLIT",
        "GB",
        "GW",
        "IT",
        "MB",
        "ML",
        "MW",
        "LPX",
        "MPP",
        "OFL",
        "PB",
        "PFLOP",
        "SHA",
        "SI",
        "SN4600C",
        "TB",
        "TFLOP",
        "US",
    ),
}
"""Products, bodies, journals, files, formats and units: abbreviations of pages that are not terms of the field."""
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((DOCS / "rules").glob("*.md")), *sorted(DOCS.parent.glob("*.md"))]
TEMPLATES = sorted((DOCS.parent / "templates").glob("*.j2"))
OUTPUT = {
    "accuracy.md",
    "accuracy-notes.md",
    "board.md",
    "catalog.md",
    "commands.md",
    "constants.md",
    "documented-facts.md",
    "first-hour.md",
    "gallery.md",
}
"""Pages of program output and of catalog text, whose words are those of their sources."""
NOT_PROSE = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|https?://\S+|<[^>]*>|\{%.*?%\}|\{\{.*?\}\}|^## Sources.*", re.DOTALL | re.MULTILINE
)
ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9]*[A-Z](?=s?\b)")


@each("page", [*PAGES, *TEMPLATES])
def test_the_abbreviations_of_pages_and_templates_are_in_the_glossary(page: Path) -> None:
    text = "" if page.name in OUTPUT else NOT_PROSE.sub(" ", page.read_text("utf-8"))
    assert set(ABBREVIATION.findall(text)) - EXPLAINED - NAMES == set()
