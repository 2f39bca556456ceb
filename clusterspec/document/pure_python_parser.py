"""PyYAML's parser in Python, for platforms without libyaml. Plain texts are read without PyYAML."""

from __future__ import annotations

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class PurePythonParser(Reader, Scanner, Parser):
    """Yields the same events as ``CParser``, a hundred times slower."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
