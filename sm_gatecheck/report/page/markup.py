"""Text that comes from a tree, as HTML and as data in a page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from typing import Any

from sm_gatecheck.report.clean import visible


def text(value: str) -> str:
    """Text of one line, harmless in an element and in a quoted attribute."""
    return html.escape(visible(value), quote=True)


def code(value: str) -> str:
    return f"<code>{text(value)}</code>"


def data(value: Any) -> str:
    """JSON that may stand in a ``<script>`` of data: nothing in it ends the element or begins another."""
    plain = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def anchor(*parts: str) -> str:
    """The name of a place in the page, without white space: ``page_size=64@120``."""
    return re.sub(r"\s+", "_", visible("".join(parts))) or "_"


def policy_hash(source: str) -> str:
    """What a content security policy calls an inline script or style by."""
    digest = base64.b64encode(hashlib.sha256(source.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
