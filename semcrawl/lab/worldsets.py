"""Loads worlds by name: ``thesis``, ``topic``, a folder, a site list, a recorded crawl.

A site list is JSON that names several folders, or archives of them, as worlds.
"""

from __future__ import annotations

import getpass
import json
import os
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.lab.recorded import RecordedWorld
from semcrawl.lab.thesis import thesis_worlds
from semcrawl.lab.topicworlds import (
    KEYWORD_STRATEGIES,
    TOPIC_STRATEGIES,
    keyword_webs,
    literal_figures,
    topic_web,
)
from semcrawl.lab.worlds import FolderSite, FolderWorld, World
from semcrawl.pipelines.warcrecords import find_recording

_SITE_LIST = "sites.json"
#: file in the folder of every harvest
_RECORDS = "crawl.db"


@dataclass(frozen=True)
class WorldSet:
    """Worlds with one name, whose figures are averaged."""

    name: str
    worlds: Sequence[World]
    #: run as in the thesis: without our departures, and at most 500 links per page
    thesis: bool = False
    #: default strategies to run on them; empty = the usual ones
    strategies: tuple[str, ...] = ()
    #: makes the same worlds for another seed, if they are generated: each repetition has its own
    again: Callable[[int], WorldSet] | None = None
    #: repetitions, unless the user chose their number
    repeat: int = 1
    #: takes other measurements, as plain data; calls its argument with the pages read so far
    measure: Callable[[Callable[[int], None]], dict[str, Any]] | None = None


def load_worlds(name: str, seed: int = 0) -> WorldSet:
    """Return the worlds with a name.

    ``thesis`` (or ``thesis:deri`` for one domain) · ``topic`` · ``keywords`` · ``images`` · a site
    list (``sites.json``) or its folder · a folder, served as ``localhost`` or, given as
    ``http://host/base/=FOLDER``, as that host · the folder or file of a recorded crawl. Raises
    ``UsageError`` for anything else.
    """
    make = _MADE.get("thesis" if name.startswith("thesis:") else name)
    if make is not None:
        return replace(make(name, seed), again=partial(make, name))
    address, equals, folder = name.rpartition("=")
    if equals and address.startswith(("http://", "https://")):
        return WorldSet(name, [_folder(Path(folder), address)])
    path = Path(name)
    if path.suffix == ".json":
        return WorldSet(path.stem, load_sites(path))
    recording = find_recording(path)
    if recording:
        return WorldSet(name, [RecordedWorld.load(recording)])
    if (path / _SITE_LIST).is_file():
        return WorldSet(name, load_sites(path / _SITE_LIST))
    if (path / _RECORDS).is_file():
        raise UsageError(
            f"{name} is a harvest without its responses; `semcrawl harvest --record` keeps them"
        )
    if path.is_dir():
        return WorldSet(name, [_folder(path, f"http://localhost/{path.resolve().name}/")])
    raise UsageError(
        f"no such world: {name} (thesis, topic, keywords, images, a folder, a sites.json or a "
        "recorded crawl)"
    )


def image_worlds(name: str, seed: int) -> WorldSet:
    """Return the generated web of ``evaluate images`` (I), once for each of three queries.

    Raises ``UsageError`` without the extra that makes the images.
    """
    try:
        from semcrawl.lab.imageworlds import IMAGE_STRATEGIES, image_webs  # draws with Pillow
    except ModuleNotFoundError as error:
        hint = install_hint("images")
        raise UsageError(f"{error.name} is not installed: {hint}") from None
    webs = image_webs(seed)

    def measure(report: Callable[[int], None]) -> dict[str, Any]:
        from semcrawl.lab.imagefigures import image_figures

        return image_figures(webs[0], report)

    return WorldSet(name, webs, strategies=IMAGE_STRATEGIES, repeat=3, measure=measure)


def keyword_worlds(name: str, seed: int) -> WorldSet:
    """Return the webs of ``evaluate keywords``, one for each query of K."""
    webs = keyword_webs(seed)

    def measure(report: Callable[[int], None]) -> dict[str, Any]:
        return {"literal": literal_figures(webs, report)}

    return WorldSet(name, webs, strategies=KEYWORD_STRATEGIES, repeat=5, measure=measure)


def _thesis(name: str, seed: int) -> WorldSet:
    worlds = thesis_worlds(seed)
    wanted = name.partition(":")[2]
    if wanted:
        chosen = [world for world in worlds if world.name == wanted]
        if not chosen:
            domains = ", ".join(world.name for world in worlds)
            raise UsageError(f"the thesis has no domain {wanted!r}; there are: {domains}")
        return WorldSet(name, chosen, thesis=True, repeat=5)

    def measure(report: Callable[[int], None]) -> dict[str, Any]:
        from semcrawl.lab.frameworks import framework_figures

        return framework_figures(thesis_worlds(seed, linked=True), report)

    return WorldSet(name, worlds, thesis=True, repeat=5, measure=measure)


#: name → generated webs, for a name and a seed
_MADE: Mapping[str, Callable[[str, int], WorldSet]] = {
    "thesis": _thesis,
    # of S, with the crawlers that are compared on it
    "topic": lambda name, seed: WorldSet(
        name, [topic_web(seed)], strategies=TOPIC_STRATEGIES, repeat=3
    ),
    "keywords": keyword_worlds,
    "images": image_worlds,
}


def _folder(folder: Path, address: str) -> FolderWorld:
    parts = urlsplit(address)
    if not parts.hostname:
        raise UsageError(f"{address} names no host")
    site = FolderSite(host=parts.hostname, root=folder, base=parts.path or "/")
    return FolderWorld(site, name=folder.resolve().name or parts.hostname)


def load_sites(path: Path) -> list[FolderWorld]:
    """Read a JSON site list with one world per entry of ``sites``.

    Keys: ``host``; ``root`` (folder) or ``archive`` (tar file, unpacked once per user); ``base``,
    ``start``, ``aliases`` (``"host/path/=folder/"``), ``types``, ``robots``. Paths are relative
    to the file. Raises ``UsageError`` for a file that cannot be used.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    entries = data.get("sites") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise UsageError(f'{path} is not a list of sites: {{"sites": [{{"host": …}}, …]}}')
    worlds = []
    for number, entry in enumerate(entries, 1):
        try:
            worlds.append(_load_site(_checked(entry), path.parent))
        except OSError as error:
            reason = f"{error.filename or path}: {error.strerror or error}"
            raise UsageError(f"{path}, site {number}: {reason}") from None
        except (UsageError, ValueError, tarfile.TarError) as error:
            reason = str(error).partition("\n")[0].rstrip(":")
            raise UsageError(f"{path}, site {number}: {reason}") from None
    return worlds


def _checked(entry: object) -> Mapping[str, Any]:
    """Return an entry of a site list; raise ``UsageError`` for missing or wrong fields."""
    if not isinstance(entry, dict):
        raise UsageError("not an object")
    for name in ("host", "root", "archive", "base", "start", "robots"):
        if not isinstance(entry.get(name) or "", str):
            raise UsageError(f"{name!r} must be a string")
    if not entry.get("host"):
        raise UsageError("'host' is missing")
    if not entry.get("root") and not entry.get("archive"):
        raise UsageError("'root' (a folder) or 'archive' (a tar file) is missing")
    aliases, types = entry.get("aliases") or [], entry.get("types") or {}
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise UsageError("'aliases' must be a list of strings")
    if not isinstance(types, dict) or not all(isinstance(kind, str) for kind in types.values()):
        raise UsageError("'types' must be an object of strings")
    return entry


def _load_site(entry: Mapping[str, Any], folder: Path) -> FolderWorld:
    archive = entry.get("archive")
    root = _unpack(folder / archive) if archive else folder / entry["root"]
    pairs = (alias.partition("=") for alias in entry.get("aliases") or ())
    site = FolderSite(
        host=entry["host"].lower(),
        root=root,
        base=entry.get("base") or "/",
        start=entry.get("start") or "",
        aliases=tuple((prefix, inside) for prefix, _, inside in pairs),
        types=dict(entry.get("types") or {}),
        robots=entry.get("robots") or "",
    )
    name = Path(archive).name.split(".tar")[0] if archive else root.name
    return FolderWorld(site, name=name or site.host)


def _unpack(archive: Path) -> Path:
    """Unpack an archive once into the user's temporary folder; return the folder."""
    stat = archive.stat()
    stem = archive.name.split(".tar")[0]
    top = Path(tempfile.gettempdir()) / f"semcrawl-sites-{getpass.getuser()}"
    top.mkdir(mode=0o700, exist_ok=True)
    if top.is_symlink() or (hasattr(os, "getuid") and top.stat().st_uid != os.getuid()):
        raise UsageError(f"{top} belongs to somebody else")
    target = top / f"{stem}-{stat.st_size}-{stat.st_mtime_ns}"
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=top) as part:
            with tarfile.open(archive) as tar:
                _extract(tar, part)
            try:
                os.replace(part, target)
            except OSError:
                if not target.is_dir():  # otherwise another process was faster
                    raise
            os.makedirs(part, exist_ok=True)  # the context manager removes it
    inner = target / stem
    return inner if inner.is_dir() else target


def _extract(tar: tarfile.TarFile, folder: str) -> None:
    """Extract the files that stay inside the folder, without devices and the like."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(folder, filter="data")
        return
    # Python before 3.11.4 has no filters
    inside = [
        member
        for member in tar
        if (member.isfile() or member.isdir())
        and not member.name.startswith("/")
        and ".." not in member.name.split("/")
    ]
    tar.extractall(folder, inside)  # noqa: S202 - plain files and folders inside only
