"""Worlds by their names: ``thesis``, ``topic``, a folder, a site list, a recorded crawl."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from semcrawl.errors import UsageError
from semcrawl.evaluation.folder import FolderSite, FolderWorld
from semcrawl.evaluation.imageweb import IMAGE_STRATEGIES, image_webs
from semcrawl.evaluation.recording import RecordedWorld, find_recording
from semcrawl.evaluation.sitelist import load_sites
from semcrawl.evaluation.thesis import thesis_worlds
from semcrawl.evaluation.topicweb import (
    KEYWORD_STRATEGIES,
    TOPIC_STRATEGIES,
    keyword_webs,
    topic_web,
)
from semcrawl.evaluation.world import World

_SITE_LIST = "sites.json"
#: what every harvest leaves in its folder
_RECORDS = "crawl.db"


@dataclass(frozen=True)
class WorldSet:
    """Worlds that are named together and averaged together."""

    name: str
    worlds: Sequence[World]
    #: run as the thesis ran: without our departures, at most 500 links of a page
    thesis: bool = False
    #: strategies to run on them, unless the user says otherwise; empty = the usual ones
    strategies: tuple[str, ...] = ()
    #: measures more than crawls, as plain data; calls its argument with the pages read so far
    measure: Callable[[Callable[[int], None]], dict[str, Any]] | None = None


def load_worlds(name: str, seed: int = 0) -> WorldSet:
    """Make the worlds of a name.

    ``thesis`` (or ``thesis:deri`` for one domain) · ``topic`` · ``keywords`` · ``images`` · a site
    list (``sites.json``) or its folder · a folder, served as ``localhost`` or, given as
    ``http://host/base/=FOLDER``, as that host · the folder or file of a recorded crawl. Raises
    ``UsageError`` for anything else.
    """
    if name in _MADE:
        return _MADE[name](seed)
    if name == "thesis" or name.startswith("thesis:"):
        return _thesis(name, seed)
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


def topic_worlds(seed: int) -> WorldSet:
    """The made web of ``evaluate topic`` (S), with the crawlers that are compared on it."""
    return WorldSet("topic", [topic_web(seed)], strategies=TOPIC_STRATEGIES)


def keyword_worlds(seed: int) -> WorldSet:
    """The made webs of ``evaluate keywords`` (K), one for each query, with K's two crawlers."""
    return WorldSet("keywords", keyword_webs(seed), strategies=KEYWORD_STRATEGIES)


def image_worlds(seed: int) -> WorldSet:
    """The made web of ``evaluate images`` (I), once for each of three queries."""
    webs = image_webs(seed)

    def measure(report: Callable[[int], None]) -> dict[str, Any]:
        from semcrawl.evaluation.imageweb.imagefigures import image_figures

        return image_figures(webs[0], report)

    return WorldSet("images", webs, strategies=IMAGE_STRATEGIES, measure=measure)


#: the made webs by their names
_MADE: Mapping[str, Callable[[int], WorldSet]] = {
    "topic": topic_worlds,
    "keywords": keyword_worlds,
    "images": image_worlds,
}


def _thesis(name: str, seed: int) -> WorldSet:
    worlds = thesis_worlds(seed)
    wanted = name.partition(":")[2]
    if wanted:
        chosen = [world for world in worlds if world.name == wanted]
        if not chosen:
            domains = ", ".join(world.name for world in worlds)
            raise UsageError(f"the thesis has no domain {wanted!r}; there are: {domains}")
        return WorldSet(name, chosen, thesis=True)
    return WorldSet(name, worlds, thesis=True)


def _folder(folder: Path, address: str) -> FolderWorld:
    parts = urlsplit(address)
    if not parts.hostname:
        raise UsageError(f"{address} names no host")
    site = FolderSite(host=parts.hostname, root=folder, base=parts.path or "/")
    return FolderWorld(site, name=folder.resolve().name or parts.hostname)
