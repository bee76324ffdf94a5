"""Excel files made by hand: only what a reader needs to find the cells."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
Row = Sequence[str | float | bool | None]


def workbook(sheets: Mapping[str, Sequence[Row]]) -> bytes:
    """Write sheets of rows; None is an empty cell."""
    file, numbers = io.BytesIO(), range(1, len(sheets) + 1)
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for n in numbers
    )
    book = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
        f"<sheets>{book}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f"{links}</Relationships>",
        **{
            f"xl/worksheets/sheet{n}.xml": _sheet(rows)
            for n, rows in zip(numbers, sheets.values(), strict=True)
        },
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), f'<?xml version="1.0"?>{text}')
    return file.getvalue()


def _sheet(rows: Sequence[Row]) -> str:
    made = "".join(
        f'<row r="{n}">{"".join(_cell(cell, n, i) for i, cell in enumerate(row))}</row>'
        for n, row in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{made}</sheetData></worksheet>'


def _cell(cell: str | float | bool | None, row: int, column: int) -> str:
    if cell is None:
        return ""
    place = f"{chr(ord('A') + column)}{row}"
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    kind = ' t="b"' if isinstance(cell, bool) else ""
    return f'<c r="{place}"{kind}><v>{int(cell) if isinstance(cell, bool) else cell}</v></c>'
