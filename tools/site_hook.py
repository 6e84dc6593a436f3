"""What the site has beyond the pages in docs/: a front page, what is made of declarations and docstrings, and links.

Made here and not kept in the repository are the list of public names, that of all reports with their tables, columns
and metrics, the JSON schema of each report, the questions that reports answer, and their places in the menu. Links out
of docs/ lead into the repository, and `clrevents schema NAME` to what it prints.

Called by mkdocs (see mkdocs.yml). Changes no file of the repository.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any, Final

from derived import api, reports
from mkdocs.structure.files import File, Files

from clrevents.analysis.framework.model.json_schema import report_schema
from clrevents.analysis.framework.run.asking import find_report, report_names

ROOT: Final = Path(__file__).resolve().parents[1]
BLOB: Final = "https://github.com/clrevents/clrevents/blob/main/"
TREE: Final = "https://github.com/clrevents/clrevents/tree/main/"
_DOCS: Final = re.compile(r"https://github\.com/clrevents/clrevents/(?:blob|raw)/main/docs/")
_LINK: Final = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)\s#:]+)(#[^)\s]*)?(?=\)|$)", re.MULTILINE)
_FENCED: Final = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
# Bytes of a trace: which, where and of what stands after the fence's word.
_TITLED: Final = re.compile(r"^( *```)bytes (.*)$", re.MULTILINE)
_SCHEMA: Final = re.compile(r"`clrevents schema ([a-z]+)`")
_KIND: Final = re.compile(r"<td><code>([a-z-]+)</code></td>\s*<td>(?=note|payload|damage)")


def on_config(config: Any) -> Any:
    """Puts the pages of reports into the menu, by topic, and all notebooks and recipes."""
    menu = {title: pages for section in config.nav for title, pages in section.items()}
    menu["Answers"][:0] = [
        {topic.title(): [f"{name}.md" for name in names]} for topic, names in reports.by_topic().items() if names
    ]
    for title, pattern in (("Notebooks", "notebooks/*.ipynb"), ("Cookbook", "cookbook/[!R]*.md")):
        menu[title] += sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").glob(pattern))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made, and the front page, which is the README with its links to docs/ made relative."""
    made = {"index.md": _DOCS.sub("", (ROOT / "README.md").read_text("utf-8"))}
    made |= {"api.md": api.page(), "reports.md": reports.page()}
    for name in report_names():
        schema = report_schema(find_report(name))
        made[f"schemas/{name}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to what is not a page of the site lead into the repository; dumps of bytes say where they are from.

    What the repository can only name, the site links or shows: schemas, and the questions of reports.
    """
    if page.file.generated_by is not None:
        return markdown
    folder = posixpath.dirname(page.file.src_uri)

    def link(found: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join("docs", folder, found[2]))
        if place.startswith("docs/") and (ROOT / place).is_file():
            return found[0]
        return f"{found[1]}{TREE if (ROOT / place).is_dir() else BLOB}{place}{found[3] or ''}"

    def schema(found: re.Match[str]) -> str:
        return f"[{found[0]}](reports.md#{found[1]})" if found[1] in report_names() else found[0]

    # What stands between fences is an example and no link.
    parts = _FENCED.split(markdown)
    return "".join(
        _TITLED.sub(r'\1text title="\2"', part) if index % 2 else _SCHEMA.sub(schema, _LINK.sub(link, part))
        for index, part in enumerate(parts)
    ).replace("<!-- reports -->", "\n".join(reports.questions()))


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The kinds of problems can be linked to: they are rows of a table, not headings."""
    if page.file.src_uri != "errors.md":
        return html
    return _KIND.sub(r'<td id="\1"><code>\1</code></td>\n<td>', html)
