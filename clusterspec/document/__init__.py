"""Text: YAML as written, with a place for every key and value.

`load` reads a file and its bases, `parse` a text; `validate` holds a document against a JSON
Schema; `places.settle` turns problems into findings; `waivers.apply` takes out what the author
waived; `find.specs` searches folders.
"""

from clusterspec.document.dump import dump
from clusterspec.document.edits import apply_edits, made_edits
from clusterspec.document.extends import merge, project_root
from clusterspec.document.load import CannotOpenError, load, load_source
from clusterspec.document.model import Comment, Document, Place
from clusterspec.document.nearest import nearest
from clusterspec.document.parse import parse
from clusterspec.document.places import settle, text_at
from clusterspec.document.schema import meant_keys, validate
from clusterspec.document.text import LARGEST, decode, read_bytes

__all__ = [
    "LARGEST",
    "CannotOpenError",
    "Comment",
    "Document",
    "Place",
    "apply_edits",
    "decode",
    "dump",
    "load",
    "load_source",
    "made_edits",
    "meant_keys",
    "merge",
    "nearest",
    "parse",
    "project_root",
    "read_bytes",
    "settle",
    "text_at",
    "validate",
]
