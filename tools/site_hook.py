"""What the site needs beyond the pages in docs/: a front page, links out of docs/, and an anchor for each problem.

Called by mkdocs (see mkdocs.yml). Changes no file of the repository.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[1]
BLOB: Final = "https://github.com/clrevents/clrevents/blob/main/"
TREE: Final = "https://github.com/clrevents/clrevents/tree/main/"
_DOCS: Final = re.compile(r"https://github\.com/clrevents/clrevents/(?:blob|raw)/main/docs/")
_LINK: Final = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)\s#:]+)(#[^)\s]*)?(?=\)|$)", re.MULTILINE)
_FENCED: Final = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
# Bytes of a trace: which, where and of what stands after the fence's word.
_TITLED: Final = re.compile(r"^( *```)bytes (.*)$", re.MULTILINE)
_KIND: Final = re.compile(r"<td><code>([a-z-]+)</code></td>\s*<td>(?=note|payload|damage)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the front page, which is the README with its links to docs/ made relative."""
    text = (ROOT / "README.md").read_text("utf-8")
    files.append(File.generated(config, "index.md", content=_DOCS.sub("", text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to what is not a page of the site lead into the repository; dumps of bytes say where they are from."""
    folder = posixpath.dirname(page.file.src_uri)

    def link(found: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join("docs", folder, found[2]))
        if place.startswith("docs/") and (ROOT / place).is_file():
            return found[0]
        return f"{found[1]}{TREE if (ROOT / place).is_dir() else BLOB}{place}{found[3] or ''}"

    # What stands between fences is an example and no link.
    parts = _FENCED.split(markdown)
    return "".join(
        _TITLED.sub(r'\1text title="\2"', part) if index % 2 else _LINK.sub(link, part)
        for index, part in enumerate(parts)
    )


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The kinds of problems can be linked to: they are rows of a table, not headings."""
    if page.file.src_uri != "errors.md":
        return html
    return _KIND.sub(r'<td id="\1"><code>\1</code></td>\n<td>', html)
