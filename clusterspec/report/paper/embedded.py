"""JSON embedded in a page, for interactive figures."""

from __future__ import annotations

import json


def embedded(value: object) -> str:
    """JSON that cannot end its enclosing element: `<`, `>` and `&` are escaped.

    >>> embedded({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
