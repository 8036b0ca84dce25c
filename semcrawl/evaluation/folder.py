"""Serves a folder of files as a host."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from semcrawl.errors import UsageError
from semcrawl.evaluation.world import Answer
from semcrawl.web.hosts import host_of
from semcrawl.web.urls import normalise, path_of
from semcrawl.web.vocabulary import Kind

#: Content types by extension, as a plain web server sends them.
RDF_TYPES: Mapping[str, str] = {
    ".rdf": "application/rdf+xml",
    ".owl": "application/rdf+xml",
    ".rdfs": "application/rdf+xml",
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".n3": "text/n3",
    ".jsonld": "application/ld+json",
    ".trig": "application/trig",
    ".nq": "application/n-quads",
}
OTHER_TYPES: Mapping[str, str] = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".xml": "application/xml",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".zip": "application/zip",
    ".gz": "application/gzip",
    ".ico": "image/x-icon",
    ".md": "text/markdown",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".webp": "image/webp",
    ".mp4": "video/mp4",
}
HTML_FILES: frozenset[str] = frozenset({".html", ".htm", ".xhtml", ".shtml", ".php"})
INDEX_FILES = ("index.html", "index.htm", "index.xhtml", "default.htm", "Overview.html")
HTML_TYPE = "text/html; charset=utf-8"

_HEAD = 6000  # bytes by which a file's type is detected


@dataclass(frozen=True)
class FolderSite:
    """How a folder is served. URLs with paths outside the folder answer 404."""

    host: str
    root: Path
    #: path prefix of the folder on its host
    base: str = "/"
    #: start page below ``base``
    start: str = ""
    #: pairs of a ``host/path`` prefix and the folder inside ``root`` that it serves
    aliases: tuple[tuple[str, str], ...] = ()
    #: content types by extension, with its dot, that replace the usual ones
    types: Mapping[str, str] = field(default_factory=dict)
    robots: str = ""


class FolderWorld:
    """A folder of files as a world. Files are read on each request; contents are not cached.

    A directory answers with its index file, after a redirect to the address with a slash. A name
    without a file answers with the ``.html`` file of that name. Query strings are ignored.
    ``https`` links to its own hosts are served as ``http``.
    """

    def __init__(self, site: FolderSite, name: str = "") -> None:
        if not site.root.is_dir():
            raise UsageError(f"no such folder: {site.root}")
        self.site = site
        self.name = name or site.host
        self._root = os.path.realpath(site.root)
        base = site.base.strip("/")
        self._base = f"/{base}/" if base else "/"
        self._aliases = sorted(site.aliases, key=lambda alias: -len(alias[0]))
        self._own = {site.host.lower(), f"www.{site.host.lower()}"}
        self._hosts = frozenset(
            self._own | {prefix.split("/")[0].lower() for prefix, _ in self._aliases}
        )
        names = b"|".join(re.escape(host.encode()) for host in sorted(self._hosts))
        self._https = re.compile(rb"https://(" + names + rb")(?=[/\"'<\s#?)])", re.IGNORECASE)
        self._kinds: dict[str, tuple[Kind, str]] = {}

    @property
    def hosts(self) -> frozenset[str]:
        """The host, its ``www.`` twin and the aliases' hosts."""
        return self._hosts

    @property
    def starts(self) -> tuple[str, ...]:
        """The start page."""
        url = normalise(f"http://{self.site.host}{self._base}{self.site.start}")
        return (url,) if url is not None else ()

    def robots(self, host: str) -> str:
        """Return the one robots.txt of all its hosts."""
        return self.site.robots

    def fetch(self, url: str) -> Answer:
        """Answer as a plain file server does."""
        host, path = host_of(url), path_of(url)
        relative = self._relative(host, path)
        if relative is None:
            return Answer(404, "text/html")
        file, slash = self._resolve(relative)
        if slash:
            return Answer(301, location=f"http://{host}{path}/")
        if file is None:
            return Answer(404, "text/html")
        kind, content_type = self._kind(file)
        return Answer(200, content_type, kind, document=os.path.relpath(file, self._root))

    def body(self, url: str) -> bytes:
        """Return the URL's file; ``https`` links to own hosts become ``http`` in pages."""
        relative = self._relative(host_of(url), path_of(url))
        file, slash = (None, False) if relative is None else self._resolve(relative)
        if file is None or slash:
            return b""
        data = Path(file).read_bytes()
        if self._kind(file)[0] is Kind.HTML:
            data = self._https.sub(rb"http://\1", data)
        return data

    def _relative(self, host: str, path: str) -> str | None:
        """Return the path inside the folder; ``None`` for other addresses."""
        address = host + path
        for prefix, folder in self._aliases:
            if address.startswith(prefix) or f"{address}/" == prefix:
                return folder + unquote(address[len(prefix) :].lstrip("/"))
        if host in self._own:
            if path.startswith(self._base):
                return unquote(path[len(self._base) :])
            if f"{path}/" == self._base:
                return ""
        return None

    def _resolve(self, relative: str) -> tuple[str | None, bool]:
        """Return the file, and whether the address needs a slash first."""
        relative = re.sub("/+", "/", relative).lstrip("/")
        if "\0" in relative:
            return None, False
        path = os.path.normpath(os.path.join(self._root, relative))
        inside = path == self._root or path.startswith(self._root + os.sep)
        if not inside or f"{os.sep}.git{os.sep}" in path + os.sep:
            return None, False
        if os.path.isfile(path):
            return path, False
        if os.path.isdir(path):
            for index in INDEX_FILES:
                file = os.path.join(path, index)
                if os.path.isfile(file):
                    return file, bool(relative) and not relative.endswith("/")
        elif os.path.isfile(f"{path}.html") and not relative.endswith("/"):
            return f"{path}.html", False
        return None, False

    def _kind(self, file: str) -> tuple[Kind, str]:
        """Return a file's kind and the content type it is served with."""
        known = self._kinds.get(file)
        if known is None:
            extension = os.path.splitext(file)[1].lower()
            with open(file, "rb") as stream:
                kind, content_type = tell_kind(extension, stream.read(_HEAD))
            known = kind, self.site.types.get(extension, content_type)
            self._kinds[file] = known
        return known


def tell_kind(extension: str, head: bytes) -> tuple[Kind, str]:
    """Return a file's kind and usual content type, by its extension and first bytes.

    >>> tell_kind(".ttl", b"@prefix x: <urn:x> .")
    (<Kind.RDF: 'rdf'>, 'text/turtle')
    """
    head = head.lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    page = head.startswith((b"<!doctype html", b"<html"))
    page = page or (head.startswith(b"<?xml") and b"<html" in head)
    if page or extension in HTML_FILES:
        return Kind.HTML, HTML_TYPE
    xml = b"<rdf:rdf" in head
    turtle = head.startswith(b"@prefix")
    if extension in (".owl", ".rdf"):
        rdf = xml or turtle or b"rdf-syntax-ns" in head or b"@prefix" in head
        return (Kind.RDF if rdf else Kind.OTHER), RDF_TYPES[".ttl" if turtle else extension]
    if extension in RDF_TYPES:
        return Kind.RDF, RDF_TYPES[extension]
    if extension == ".json" and b'"@context"' in head:
        return Kind.RDF, OTHER_TYPES[extension]
    if extension == ".xml" and xml:
        return Kind.RDF, OTHER_TYPES[extension]
    if extension not in OTHER_TYPES and (xml or turtle):
        return Kind.RDF, RDF_TYPES[".rdf" if xml else ".ttl"]
    return Kind.OTHER, OTHER_TYPES.get(extension, "application/octet-stream")
