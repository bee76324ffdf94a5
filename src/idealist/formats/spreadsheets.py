"""Spreadsheets: a sheet of an Excel file (.xlsx), with names in its first row."""

from __future__ import annotations

import io
import shlex
import zipfile
from typing import Any, NoReturn

from idealist.errors import Faults, UsageError, nearest

#: The first bytes of any zip; what a workbook begins with, and what it holds.
ZIP, FIRST, INSIDE = (
    b"PK\x03\x04",
    (b"[Content", b"_rels/", b"xl/", b"docProps/"),
    "xl/workbook.xml",
)
#: How many bytes it may hold when unpacked; a million rows of ten columns are fewer.
MOST = 2**30
#: Excel keeps 15 digits of a number: a longer id is no longer what it was.
EXACT = 10**15


def may_be_workbook(head: bytes) -> bool:
    """Whether a file's first bytes are those of a workbook."""
    return head.startswith(ZIP) and head[30:].startswith(FIRST)


def of_file(
    content: bytes, name: str, sheet: str, faults: Faults
) -> tuple[dict[str, list[Any]], list[int]] | None:  # fmt: skip
    """Return the columns of a sheet and the number of each row; None if this is no workbook.

    A number is whole where it can be, as a spreadsheet knows no others; an empty cell is None.
    """
    if not may_be_workbook(content) or not _is_workbook(content, faults):
        return None
    calamine = _calamine()
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        chosen = sheet or (book.sheet_names[0] if len(book.sheet_names) == 1 else "")
        if chosen not in book.sheet_names:
            _refuse(name.removesuffix(f"#{sheet}"), sheet, book.sheet_names, faults)
        rows = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
    except (calamine.CalamineError, OSError, ValueError) as error:
        words = (str(error) or type(error).__name__).splitlines()[0][:80]
        hint = "save the file again, without a password; or save the sheet as CSV"
        faults.fail("damaged", f"the data cannot be read: {words}", hint)
    return _columns(rows, faults)


def _is_workbook(content: bytes, faults: Faults) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return False
    if sum(part.file_size for part in parts) > MOST:
        faults.fail("overlong", "it is larger than 1 GiB when unpacked", "save the sheet as CSV")
    return INSIDE in [part.filename for part in parts]


def _calamine() -> Any:
    try:
        import python_calamine
    except ImportError:
        message = "Excel files need a package that is not installed"
        raise UsageError(message, "pip install 'idealist[xlsx]', or save it as CSV") from None
    return python_calamine


def _refuse(path: str, sheet: str, sheets: list[str], faults: Faults) -> NoReturn:
    if sheet:
        faults.fail("no-file", f"there is no sheet {sheet!r}", nearest(sheet, sheets))
    message = f"this file has {len(sheets)} sheets: {', '.join(sheets)}"
    faults.fail("no-file", message, f"name one of them: {shlex.quote(f'{path}#{sheets[0]}')}")


def _columns(rows: list[list[Any]], faults: Faults) -> tuple[dict[str, list[Any]], list[int]]:
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(c != "" for c in row)]
    if not filled:
        faults.fail("empty", "the sheet is empty", "give another sheet, or another file")
    (first, header), *body = filled
    names = [str(cell).strip() for cell in header]
    for name in names:
        if name and names.count(name) > 1:
            faults.fail("columns", f"two columns are called {name!r}", "rename one of them", first)
    columns = {
        name: [_cell(row[i]) for _, row in body] for i, name in enumerate(names) if name
    }  # fmt: skip
    return columns, [number for number, _ in body]


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell or None
    whole = type(cell) is float and cell.is_integer() and abs(cell) < EXACT
    return int(cell) if whole else cell
