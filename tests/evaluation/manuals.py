"""Manuals of Debian packages behind a portal, and topics whose pages these manuals list."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

from semcrawl.lab.worlds import FolderSite, FolderWorld
from tests.evaluation.portal import Portal

_DOC = Path("/usr/share/doc")
_REFERENCE = Path("/usr/share/debian-reference")
#: package → host, folder, start page, name on the portal
MANUALS = {
    "python3.11-doc": ("python.example", _DOC / "python3.11/html", "index.html", "Python"),
    "postgresql-doc-15": (
        "postgresql.example", _DOC / "postgresql-doc-15/html", "index.html", "PostgreSQL",
    ),
    "sqlite3-doc": ("sqlite.example", _DOC / "sqlite3", "docs.html", "SQLite"),
    "octave-doc": ("octave.example", _DOC / "octave/octave.html", "index.html", "GNU Octave"),
    "apache2-doc": (
        "httpd.example", _DOC / "apache2-doc/manual", "en/index.html", "Apache HTTP Server",
    ),
    "debian-reference-de": ("de.example", _REFERENCE, "index.de.html", "Debian-Referenz"),
    "debian-reference-ja": ("ja.example", _REFERENCE, "index.ja.html", "Debian リファレンス"),
}  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A topic, and where its manual lists the pages that are about it."""

    about: str
    package: str
    #: pages of the manual that list them: a section's contents, the index
    lists: tuple[str, ...]
    #: paths of what is listed
    pattern: str
    #: relevance from which a page is kept
    threshold: float = 0.5
    #: least share of what is kept that is listed
    precision: float = 0.8

    def documents(self) -> set[str]:
        """Return the section's pages, by the names that the portal's documents have.

        Pages of another language under this one's name are left out.
        """
        host, root, _, _ = MANUALS[self.package]
        paths = set(self.lists)
        for page in self.lists:
            text = (root / page).read_text("utf-8", "replace")
            folder = posixpath.dirname(page)
            hrefs = re.findall(r"""href=["']([^"'#?:]+)""", text)
            paths |= {posixpath.normpath(posixpath.join(folder, href)) for href in hrefs}
        return {
            f"{host} {path}"
            for path in paths
            if re.fullmatch(self.pattern, path)
            and (root / path).is_file()
            and not (root / path).is_symlink()
        }


SECTIONS = {
    "asyncio": Section(
        "keywords:asyncio", "python3.11-doc", ("library/asyncio.html",), r"library/asyncio.*"
    ),
    "text search": Section(
        "keywords:tsvector,tsquery,text search", "postgresql-doc-15",
        ("textsearch.html", "bookindex.html"), r".*textsearch.*",
    ),
    "PL/pgSQL": Section(
        "keywords:PL/pgSQL,plpgsql", "postgresql-doc-15", ("plpgsql.html",), r"plpgsql.*"
    ),
    "C interface": Section(
        "keywords:C/C++ Interface For SQLite,sqlite3 object,C interface", "sqlite3-doc",
        ("c3ref/objlist.html", "c3ref/constlist.html", "c3ref/funclist.html"), r"c3ref/.*",
        # "SQLite C Interface" stands on each page of the section, which is most of what is read of
        # the host, and so counts as the site's own; other pages of the manual are about it as well
        precision=0.6,
    ),
    "réécriture": Section(
        "keywords:réécriture", "apache2-doc",
        ("fr/rewrite/index.html", "fr/sitemap.html"), r"fr/(rewrite/.*|mod/mod_rewrite\.html)",
        0.75,
    ),
    # (each module of the manual says what of it may stand in a virtual host)
    "バーチャルホスト": Section(
        "keywords:バーチャルホスト", "apache2-doc", ("ja/vhosts/index.html",), r"ja/vhosts/.*", 0.9
    ),
}  # fmt: skip


def missing() -> list[str]:
    """Packages that are not installed."""
    return [name for name, (_, root, start, _) in MANUALS.items() if not (root / start).is_file()]


def portal() -> Portal:
    """All manuals as one world."""
    worlds = [
        FolderWorld(FolderSite(host, root, start=start))
        for host, root, start, _ in MANUALS.values()
    ]
    return Portal("manuals", worlds, [name for *_, name in MANUALS.values()], "Manuals")
