"""Text: YAML as written, with a place for every key and value.

`load` reads a file and its bases, `parse` a text; `validate` holds a document against a JSON
Schema; `settle` turns problems into findings; `apply_waivers` takes out what the author waived.
"""

from clusterspec.document.edits import apply_edits
from clusterspec.document.extends import merge, project_root
from clusterspec.document.load import CannotOpenError, load, read_bytes
from clusterspec.document.model import Comment, Document, Place
from clusterspec.document.parse import parse
from clusterspec.document.places import settle

__all__ = [
    "CannotOpenError",
    "Comment",
    "Document",
    "Place",
    "apply_edits",
    "load",
    "merge",
    "parse",
    "project_root",
    "read_bytes",
    "settle",
]
