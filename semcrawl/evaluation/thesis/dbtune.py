"""Domain 1: music data behind redirects, RDF without file extension, few pages, many dead ends.

Of 7,230 URLs 1,063 answer with a document. The names of things redirect to other hosts.
"""

from __future__ import annotations

from semcrawl.evaluation.built import BuiltWorld, Document, SiteBuilder

HOST = "dbtune.example"

_DATASETS = ("jamendo", "magnatune", "peel", "playcount", "classical", "henry", "brainz", "lastfm")
#: RDF documents linked from the datasets' own pages, by dataset.
_FRONT_RDF = (2, 2, 2, 1, 2, 1, 2, 1)
#: Pages of things in the directories: with RDF, without RDF, and without a document.
_WITH_RDF, _WITHOUT, _NO_PAGE = 89, 9, 180
#: Links to the RDF of those pages: by type (some with extension), by the text beside them.
_BY_TEXT, _TEXT_AND_PATH, _WITH_EXTENSION = 14, 4, 10
#: Links to pages that look like RDF: by the text beside them, by a word of the path.
_WRONG_BY_TEXT, _WRONG_BY_PATH = 63, 5
#: Links of type RDF without a document: redirects to other hosts, and errors.
_RDF_MOVED, _RDF_FAILS = 150, 68
#: Lists of the site: audio files, and names of things in each dataset.
_PLAYLISTS_THERE, _PLAYLIST_PAGES, _PLAYLISTS_GONE = 5, 1, 4
_NAMES_EACH = 500
_RDF = 106
_STATUS = {"success": 1063, "redirect": 5458, "refused": 25, "error": 684}


def build(seed: int = 0) -> BuiltWorld:
    """Build the site."""
    site = SiteBuilder(HOST, seed)
    home = site.page("/", "Music")
    datasets = [site.page(f"/{name}/", name.capitalize()) for name in _DATASETS]
    help_pages = [site.page(f"/help/{n}", f"Help {n}") for n in range(1, 5)]
    for page in (*datasets, *help_pages):
        site.link(home, page)

    browse: list[Document] = []
    things: list[Document] = []
    directories: list[Document] = []
    for page, name, count in zip(datasets, _DATASETS, _FRONT_RDF, strict=True):
        for number in range(count):
            site.alternate(page, site.rdf(f"/data/{name}/{number}"), title="RDF")
        featured = site.page(f"/{name}/page/1", f"{name.capitalize()} 1")
        directory = site.page(f"/{name}/directory", f"{name.capitalize()} directory")
        names = site.page(f"/{name}/names", f"{name.capitalize()} names")
        for linked in (featured, directory, names):
            site.link(page, linked)
        things.append(featured)
        directories.append(directory)
        browse.append(names)
    pages, without = _things(site, directories)
    _label(site, things + pages, sum(_FRONT_RDF))
    _mislead(site, help_pages, without)
    _fill(site, browse, help_pages)
    return site.build("dbtune")


def _things(
    site: SiteBuilder, directories: list[Document]
) -> tuple[list[Document], list[Document]]:
    """Fill the directories; return the pages with RDF and those without."""
    kinds = site.shuffled({"rdf": _WITH_RDF, "plain": _WITHOUT, "gone": _NO_PAGE})
    found: dict[str, list[Document]] = {"rdf": [], "plain": []}
    for number, kind in enumerate(kinds):
        directory = directories[number * len(directories) // len(kinds)]
        path = f"{directory.path.rpartition('/')[0]}/page/{number + 2}"
        if kind == "gone":
            how = "error" if number % 6 == 0 else "redirect"
            target = site.without_document(path, how, 500)
        else:
            target = site.page(path)
            found[kind].append(target)
        site.link(directory, target, f"Thing {number + 2}")
    return found["rdf"], found["plain"]


def _label(site: SiteBuilder, pages: list[Document], front: int) -> None:
    """Give the pages RDF and dead links, each cue as often as the rules' figure shows.

    The thesis's crawler found 89 documents; pages beyond that number share those of others.
    """
    documents = []
    own = _WITH_RDF - front
    by_text = set(site.random.sample(range(own), _BY_TEXT))
    in_path = set(site.random.sample(sorted(by_text), _TEXT_AND_PATH))
    plain = [n for n in range(own) if n not in by_text]
    extended = set(site.random.sample(plain, _WITH_EXTENSION))
    for number in range(own):
        name = pages[number % len(pages)].path.split("/")[1]
        if number in in_path:
            path = f"/{name}/rdf/{number}"
        elif number in by_text:
            path = f"/{name}/about/{number}"
        else:
            folder = f"/data/{name}" if number % 2 else f"/{name}/item"
            path = f"{folder}/thing-{number}{'.rdf' if number in extended else ''}"
        documents.append(site.rdf(path))
    for number, page in enumerate(pages):
        document = number % own
        if document in by_text:
            site.link(page, documents[document], "this thing", before="Also in RDF: ")
        else:
            site.alternate(page, documents[document], title="RDF")
    for number in range(_RDF_MOVED + _RDF_FAILS):
        page = pages[number % len(pages)]
        path = f"/{page.path.split('/')[1]}/item/live-{number}"
        how = "redirect" if number < _RDF_MOVED else "error"
        site.alternate(page, site.without_document(path, how, 500), title="RDF")


def _mislead(site: SiteBuilder, help_pages: list[Document], without: list[Document]) -> None:
    """Add links to pages that look like RDF, and playlists with an unknown extension."""
    for number in range(_WRONG_BY_TEXT):
        page = (*without, *help_pages)[number % (len(without) + len(help_pages))]
        target = site.page(f"/help/chapter/{number}{'.rdf' if number < 2 else ''}")
        site.link(page, target, f"chapter {number}", before="On RDF see ")
    for number in range(_WRONG_BY_PATH):
        target = site.page(f"/help/rdf/{number}", f"Chapter {number}")
        site.link(help_pages[number % len(help_pages)], target)
    kinds = ["there"] * _PLAYLISTS_THERE + ["page"] * _PLAYLIST_PAGES + ["gone"] * _PLAYLISTS_GONE
    for number, kind in enumerate(kinds):
        path = f"/playlist/{number}.m3u"
        if kind == "there":
            target = site.other(path, "audio/x-mpegurl")
        else:
            target = site.page(path) if kind == "page" else site.error(path)
        site.link(help_pages[number % len(help_pages)], target, f"Playlist {number}")


def _fill(site: SiteBuilder, browse: list[Document], help_pages: list[Document]) -> None:
    """List names of things, nearly all redirects, until each status has its count."""
    rdf_left = _RDF - _WITH_RDF
    missing = site.missing(_STATUS)
    missing["success"] -= rdf_left
    marks = site.shuffled(missing)
    count = _NAMES_EACH * len(browse)
    pages: list[Document] = []
    for number, mark in enumerate(marks[:count]):
        parent = browse[number // _NAMES_EACH]
        site.item(parent, f"{parent.path.rpartition('/')[0]}/name/{number}", mark, pages, 500)
    for number, mark in enumerate(marks[count:]):
        parent = pages[number % len(pages)]
        site.item(parent, f"/{parent.path.split('/')[1]}/tag/{number}", mark, status=500)
    for number in range(rdf_left):
        site.link(pages[-1 - number], site.rdf(f"/dump/part-{number}"), f"Part {number}")
