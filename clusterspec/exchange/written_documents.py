"""Configurations in here-documents of scripts (``cat > cluster.yaml <<EOF``) and in fenced blocks of pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from textwrap import dedent

from clusterspec.exchange.import_result import FormatError, InputFile, SeveralParts
from clusterspec.exchange.pages import fenced_blocks, is_page_or_script
from clusterspec.exchange.shell import variables_of

MOST_DOCUMENTS = 50
"""Maximum number of documents of a text that are considered."""
_OPENING = re.compile(r"<<-?[ \t]{0,9}([\"']?)(?P<end>\w{1,40})\1")
"""The start of a here-document, with the word that ends it. If the word is quoted, the shell does not expand
variables.
"""
_VARIABLE = re.compile(r"\$(?:\{(?P<held>[A-Za-z_]\w{0,60})\}|(?P<name>[A-Za-z_]\w{0,60}))")
_PLAIN = re.compile(r"[\w./:@-]{1,200}")
_LANGUAGES = frozenset({"", "yaml", "yml", "json"})


def here_documents(text: str) -> Iterator[tuple[int, str, bool]]:
    """The closed here-documents of a script: index of the first line, text, and whether variables are expanded.

    >>> list(here_documents("cat <<EOF > a\\nx: $N\\nEOF\\ncat <<'E'\\ny\\nE\\n"))
    [(1, 'x: $N', True), (4, 'y', False)]
    """
    end, first, filled, body = "", 0, True, list[str]()
    for number, line in enumerate(text.split("\n")):
        if end and line.strip() == end:
            yield first, "\n".join(body), filled
            end = ""
        elif end:
            body.append(line)
        elif opening := _OPENING.search(line):
            end, first, filled, body = opening["end"], number + 1, not opening[1], []


def document_within(
    file: InputFile, matches: Callable[[InputFile], bool], read: Callable[[InputFile], object]
) -> InputFile | None:
    """The document of a page or script that a format matches and can read, with its line numbers. If it can read none
    of them, the first that it matches; None if it matches none.

    Raises `SeveralParts` if there are several and none is chosen.
    """
    if not is_page_or_script(file.text) and "<<" not in file.text:
        return None
    matching = [each for each in islice(_documents_in_place(file), MOST_DOCUMENTS) if matches(each)]
    if not matching:
        return None
    found = [each for each in matching if _is_readable(each, read)] or matching[:1]
    if len(found) == 1:
        return InputFile(file.name, found[0].data, file.part)
    starts = ", ".join(str(len(each.data) - len(each.data.lstrip(b"\n")) + 1) for each in found[:12])
    if file.part is None:
        raise SeveralParts(f"holds {len(found)} documents, on lines {starts}: choose one with --part N")
    if not 1 <= file.part <= len(found):
        raise FormatError(f"has {len(found)} documents, and --part {file.part} is none of them")
    return found[file.part - 1]


def _is_readable(file: InputFile, read: Callable[[InputFile], object]) -> bool:
    try:
        read(file)
    except SeveralParts:
        return True
    except FormatError:
        return False
    return True


def _documents_in_place(file: InputFile) -> Iterator[InputFile]:
    """The documents of a text, each as a file with empty lines before it, so that line numbers are kept."""
    lines, values = file.text.split("\n"), None
    blocks = [] if file.text.startswith("#!") else fenced_blocks(lines)
    for language, start, end in blocks:
        if language in _LANGUAGES and end < len(lines):
            yield _file_at(file.name, start, "\n".join(lines[start:end]))
    for first, body, filled in here_documents(file.text):
        if filled and "$" in body and values is None:
            values = _plain_variables(file.text)
        yield _file_at(file.name, first, _with_variables(body, values) if filled and values else body)


def _file_at(name: str, before: int, text: str) -> InputFile:
    return InputFile(name, ("\n" * before + dedent(text)).encode())


def _plain_variables(text: str) -> dict[str, str]:
    """The variables of a script whose value is a plain word and does not depend on a branch."""
    held = variables_of(text).items()
    return {name: word.text for name, word in held if not word.branch and _PLAIN.fullmatch(word.text)}


def _with_variables(text: str, values: dict[str, str]) -> str:
    """A text with the known variables filled in.

    >>> _with_variables("n: ${N}, m: $M", {"N": "2"})
    'n: 2, m: $M'
    """
    return _VARIABLE.sub(lambda match: values.get(match["held"] or match["name"], match[0]), text)
