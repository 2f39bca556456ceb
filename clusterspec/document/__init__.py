"""YAML documents with the position of every key and value.

`load` reads a file and its bases, `parse` a text; `validate` checks a document against a JSON
Schema; `to_finding` turns problems into findings; `waivers.apply` removes waived findings;
`files.spec_paths` searches folders.
"""

from clusterspec.document.extends import CannotOpenError, load, load_source, marked_root, merged_value, project_root
from clusterspec.document.model import (
    LARGEST,
    Comment,
    Document,
    Place,
    Places,
    applied_edits,
    apply_edits,
    decode,
    encode,
    read_bytes,
    text_at,
    to_finding,
)
from clusterspec.document.parse import parse
from clusterspec.document.schema import intended_keys, load_violation_texts, nearest_words, validate
from clusterspec.document.values import dump

__all__ = [
    "LARGEST",
    "CannotOpenError",
    "Comment",
    "Document",
    "Place",
    "Places",
    "applied_edits",
    "apply_edits",
    "decode",
    "dump",
    "encode",
    "intended_keys",
    "load",
    "load_source",
    "load_violation_texts",
    "marked_root",
    "merged_value",
    "nearest_words",
    "parse",
    "project_root",
    "read_bytes",
    "text_at",
    "to_finding",
    "validate",
]
