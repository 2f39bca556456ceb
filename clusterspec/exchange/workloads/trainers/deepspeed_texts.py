"""Texts of a configuration of DeepSpeed: JSON with remarks, and what a run prints into its log.

Source: deepspeedai/DeepSpeed, deepspeed/runtime/config.py (``print`` ends with ``json = {…}``, in which infinity is
``inf``).
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.import_result import FormatError, InputFile

_LAST_COMMA = re.compile(rb",(\s*[}\]])")
_REMARK = re.compile(rb"^[ \t]*(?:#|//)[^\n]*", re.MULTILINE)
"""DeepSpeed reads its configuration with hjson, which ignores remarks, and a comma before a closing bracket:
deepspeedai/DeepSpeed, deepspeed/runtime/config.py line 699."""
_PRINTED = re.compile(r"^[^\n{]{0,200}\bjson = (?P<json>\{\s*\n(?:[^\n]*\n){0,400}?\})[ \t]*$", re.MULTILINE)
_INFINITE = re.compile(r"(?<=: )-?inf\b", re.IGNORECASE)


def printed_configuration(file: InputFile) -> InputFile | None:
    """The printed configuration as a file with the same lines; None if the text prints none.

    Raises `FormatError` if the text prints several that differ.
    """
    printed = list(_PRINTED.finditer(file.text))
    if not printed:
        return None
    if len({match["json"] for match in printed}) > 1:
        raise FormatError("prints several configurations of DeepSpeed: give the log of one run")
    before = file.line_at(printed[0].start("json")) - 1
    text = "\n" * before + _INFINITE.sub("null", printed[0]["json"])
    return InputFile(file.name, text.encode(), file.part)


def plain_json(file: InputFile) -> Any:
    """The value of a configuration with remarks. Raises `FormatError` if it is not JSON."""
    return InputFile(file.name, _LAST_COMMA.sub(rb"\1", _REMARK.sub(b"", file.data)), file.part).json
