"""Judgments in tables and Parquet files, read by the kernel where nothing about them is unusual."""

from __future__ import annotations

from idealist import kernel
from idealist.data import Qrels
from idealist.formats import contents
from idealist.formats.frame_runs import frame_run
from idealist.formats.reading import ReadOptions
from idealist.formats.source import Source
from idealist.formats.text_layouts import layout_of
from idealist.formats.text_runs import TextRun


def kernel_qrels(source: Source, options: ReadOptions) -> Qrels | None:
    """Let the kernel read judgments; None if Python has to.

    It neither renumbers grades nor merges judges, nor does it know grades that only a user says.
    """
    module = kernel.native()
    if module is None or options.scale is not None or options.merge or options.judgments:
        return None
    if contents.may_be_frame(source):
        frame = frame_run(source, options, "grade")
        found, remarks = (None, ()) if frame is None else (frame.judgments(module), frame.remarks)
    else:
        layout = layout_of(source, options, "grade")
        text = None if layout is None else TextRun(source, layout)
        found, remarks = (None, ()) if text is None else (text.judgments(module), text.remarks)
    return None if found is None else Qrels.of_kernel(found, None, source.name, remarks)
