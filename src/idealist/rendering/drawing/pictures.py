"""Pictures: figures as PDF and PNG, through the optional package typst."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from idealist.errors import UsageError
from idealist.rendering.drawing import svg
from idealist.rendering.figure import Figure
from idealist.rendering.result import FORMS

#: The forms of pictures, by the suffixes of files.
SUFFIXES = (".svg", ".pdf", ".png")

#: Dots an inch of a PNG, as printers want them.
_DOTS = 300.0

#: The length of a PNG's signature and header, which all else follows.
_HEADER = 33

#: A page as large as the picture; what it shows is in the file for those who do not see it.
_PAGE = (
    b"#set page(width: auto, height: auto, margin: 0pt)\n"
    b"#set document(title: sys.inputs.title, date: none)\n"
    b'#image(bytes(sys.inputs.picture), format: "svg", alt: sys.inputs.says)'
)


def picture(figure: Figure, path: str | Path) -> bytes | None:
    """Return what a file of this name holds if it is a picture; nothing if it is another form."""
    suffix = Path(path).suffix.lower()
    if suffix == ".svg":
        return f"{svg.draw(figure)}\n".encode()
    if suffix in SUFFIXES:
        return _typeset(figure, suffix)
    if suffix and not any(suffix in suffixes for suffixes in FORMS.values()):
        raise UsageError(f"figures are not written as {suffix}", f"try {', '.join(SUFFIXES)}")
    return None


def _typeset(figure: Figure, suffix: str) -> bytes:
    try:
        typst = import_module("typst")
    except ImportError:
        hint = "pip install 'idealist[figures]', or write .svg"
        raise UsageError(f"writing {suffix} needs a package that is not installed", hint) from None
    if figure.look.theme == "auto":  # paper has no theme to follow
        figure = replace(figure, look=replace(figure.look, theme="light"))
    words = {"title": figure.title, "says": figure.says}
    known = {name: text.encode(errors="replace").decode() for name, text in words.items()}
    given = {"picture": svg.draw(figure), **known}
    form, dots = suffix.removeprefix("."), _DOTS if suffix == ".png" else None
    drawn = bytes(typst.compile(_PAGE, format=form, ppi=dots, sys_inputs=given))
    return drawn if dots is None else _with_resolution(drawn, dots)


def _with_resolution(png: bytes, dots: float) -> bytes:
    """Say in a PNG how many dots an inch has, after its header: else it is taken for a screen's."""
    a_metre = round(dots / 0.0254)
    chunk = b"pHYs" + struct.pack(">IIB", a_metre, a_metre, 1)
    said = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:_HEADER] + said + png[_HEADER:]
