"""A report as pages of PDF.

This module needs fpdf2 and matplotlib, whose fonts it uses: they have the letters of most languages.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from fpdf import FPDF
from fpdf.enums import TableBordersLayout, XPos, YPos
from fpdf.fonts import FontFace

from jobs.show.report.content import document
from jobs.show.report.document import (
    Answers,
    Block,
    Commands,
    Document,
    Grid,
    Paragraph,
    Picture,
    Points,
    Remark,
    Section,
)
from jobs.show.report.formats.figures import PAPER, WIDE, draw
from jobs.show.report.gathering import Evidence
from langford.machine.outputs import mark
from langford.words import plain, shortened

MARGIN, LINE, SIZE = 16.0, 4.9, 9.5
"""Millimetres, millimetres, points."""
SMALL = 8.0
FIGURE_DPI = 220
SOFT, LINK = (84, 93, 104), (11, 92, 173)


def content(evidence: Evidence) -> bytes:
    return bytes(_Pdf(document(evidence), evidence).output())


class _Pdf(FPDF):
    def __init__(self, report: Document, evidence: Evidence) -> None:
        super().__init__(format="A4")
        self._evidence = evidence
        folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        for family, file in (("text", "DejaVuSans"), ("code", "DejaVuSansMono")):
            self.add_font(family, "", folder / f"{file}.ttf")
        self.add_font("text", "B", folder / "DejaVuSans-Bold.ttf")
        self.set_margin(MARGIN)
        self.set_auto_page_break(True, MARGIN + 4)
        self.set_title(f"{report.title}: {plain(report.answer)}")
        self.set_lang("en")
        self.set_creator(mark("report"))
        self._made = report.made
        self.add_page()
        self._text(report.title, 13, bold=True)
        self._text(report.answer, 18, bold=True)
        self._text(report.subtitle, SIZE, SOFT)
        for section in report.sections:
            self._heading(section)
            for block in section.blocks:
                self._block(block)

    def footer(self) -> None:
        self.set_y(-MARGIN)
        self.set_font("text", "", 7)
        self.set_text_color(*SOFT)
        self.cell(0, 6, f"{plain(self._made)}   Page {self.page_no()} of {{nb}}", align="C")

    def _heading(self, section: Section) -> None:
        first = section.blocks[0]
        if self.will_page_break(90 if isinstance(first, Picture) else 30):
            self.add_page()
        self.ln(4)
        self.start_section(section.title)
        self._text(section.title, 12.5, bold=True)
        self.ln(1)

    def _text(
        self, text: str, size: float = SIZE, colour: tuple[int, int, int] = (0, 0, 0), *, bold: bool = False
    ) -> None:
        self.set_font("text", "B" if bold else "", size)
        self.set_text_color(*colour)
        self.multi_cell(0, LINE * size / SIZE, plain(text), align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def _block(self, block: Block) -> None:
        match block:
            case Paragraph(text, source):
                self._text(text)
                if source is not None:
                    self.set_font("text", "", SMALL)
                    self.set_text_color(*LINK)
                    self.multi_cell(
                        0, LINE, f"{source[0]}, {source[1]}", link=source[1], align="L", new_x=XPos.LMARGIN
                    )
            case Remark(text, bad):
                self._text(text, colour=(179, 38, 30) if bad else (26, 107, 55), bold=True)
            case Points(texts):
                for text in texts:
                    self._text(f"•  {text}")
            case Answers(rows):
                self._table([[name, value] for name, value in rows], [1, 3], 0, head=False)
            case Grid(caption, head, rows, numbers):
                self._text(caption, SMALL, SOFT)
                self._table([head, *rows], _widths([head, *rows]), numbers)
            case Commands(lines):
                self.set_font("code", "", SMALL)
                self.set_text_color(0, 0, 0)
                self.set_fill_color(244, 245, 247)
                text = "\n".join(map(plain, lines))
                self.multi_cell(0, LINE, text, fill=True, align="L", padding=1, new_x=XPos.LMARGIN)
            case Picture(name, caption):
                self._picture(name, caption)
        self.ln(2)

    def _table(
        self, rows: Sequence[Sequence[str]], widths: Sequence[float], numbers: int, *, head: bool = True
    ) -> None:
        columns = len(widths)
        align = ["LEFT"] * (columns - numbers) + ["RIGHT"] * numbers
        self.set_font("text", "", SMALL)
        self.set_text_color(0, 0, 0)
        self.set_draw_color(200, 204, 210)
        with self.table(
            borders_layout=TableBordersLayout.HORIZONTAL_LINES,
            col_widths=widths,
            text_align=align,
            line_height=LINE * 0.86,
            padding=0.6,
            first_row_as_headings=head,
            headings_style=FontFace(emphasis="BOLD"),
            align="LEFT",
        ) as table:
            for cells in rows:
                row = table.row()
                for place, cell in enumerate(cells):
                    bold = FontFace(emphasis="BOLD") if not head and place == 0 else None
                    row.cell(shortened(plain(cell)), style=bold)

    def _picture(self, name: str, caption: str) -> None:
        bitmap = io.BytesIO()
        figure = draw(name, self._evidence, PAPER, WIDE)
        figure.savefig(bitmap, format="png", dpi=FIGURE_DPI)
        width = self.epw
        tall = width * figure.get_figheight() / figure.get_figwidth()
        if self.will_page_break(tall + 12):
            self.add_page()
        self.image(bitmap, w=width, alt_text=caption)
        self._text(caption, SMALL, SOFT)


def _widths(rows: Sequence[Sequence[str]]) -> list[float]:
    return [min(max(max(len(row[place]) for row in rows), 8), 32) for place in range(len(rows[0]))]
