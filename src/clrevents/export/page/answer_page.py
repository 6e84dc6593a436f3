"""One answer → one HTML page: its facts, caveats and charts, and its tables, which can be sorted and searched.

The section that the page of a whole trace has of it, alone. Works nothing out.
"""

from __future__ import annotations

from typing import Any, Final

from clrevents.analysis.framework.model.answer import Answer
from clrevents.analysis.framework.render.show import question_text
from clrevents.export.page.page_assembly import assembled_page, page_texts_of
from clrevents.export.page.page_charts import page_charts
from clrevents.export.page.page_sections import page_sections
from clrevents.export.page.page_texts import PageTexts, shown_text

_SCRIPTS: Final = ("page_parts.js", "page_tables.js", "page_section.js", "answer.js")


def answer_page(found: Answer[Any], most: int) -> bytes:
    """The page; no table has more than `most` rows. Bulk tables are counted only."""
    texts = PageTexts()
    (section,) = page_sections({found.name: found}, {found.name: page_charts(found)}, most, texts)
    data = {"about": shown_text(question_text(found.question)), "section": section, "texts": texts.all}
    return assembled_page("answer.html", page_texts_of(("page.css",)), page_texts_of(_SCRIPTS), data)
