"""The files of the pages, read once: a running server serves the version with which it started."""

from __future__ import annotations

import hashlib
import html
from dataclasses import dataclass
from pathlib import Path
from string import Template

from starlette.responses import HTMLResponse, Response

FOLDER = Path(__file__).parent
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    # Nothing from elsewhere, no script or style inside a page, no frame around it, and no text that becomes markup.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Asset:
    content: bytes
    media_type: str
    tag: str

    def answer(self, known: str) -> Response:
        """Status 304 when the browser has it; ``known``: the header If-None-Match."""
        headers = HEADERS | {"ETag": self.tag, "Cache-Control": "no-cache"}
        if self.tag in known:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)


class Documents:
    def __init__(self) -> None:
        contents = {path.name: path.read_bytes() for path in sorted((FOLDER / "static").iterdir())}
        self._templates = {path.stem: path.read_text("utf-8") for path in sorted((FOLDER / "templates").iterdir())}
        self.assets = {
            name: Asset(content, TYPES[Path(name).suffix], f'"{_digest(content)}"')
            for name, content in contents.items()
        }
        self.version = _digest(*contents.values(), *(text.encode() for text in self._templates.values()))

    def page(self, name: str, root: str, status: int = 200, **texts: str) -> Response:
        """A page; ``texts`` are shown literally, whatever they contain.

        ``root``: the relative path from the page to the server's first page.
        """
        fields = {field: html.escape(text) for field, text in texts.items()}
        text = Template(self._templates[name]).substitute(fields, root=html.escape(root), version=self.version)
        return HTMLResponse(text, status, HEADERS | {"Cache-Control": "no-store"})


def _digest(*contents: bytes) -> str:
    return hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]
