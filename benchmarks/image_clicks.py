"""What clicks gain: precision of the ten best other images after clicks on right ones.

    image_clicks.py [SEED…]

The web of `semcrawl evaluate images`, 20 pages of each domain, 50 queries. A user clicks on the
first right images of an answer; these do not count, before nor after.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import fmean

from semcrawl.images.schema import image_addresses
from semcrawl.imagesearch.search import ImageSearch
from semcrawl.lab.imagefigures import index_pages, queries
from semcrawl.lab.imageworlds import image_webs

CLICKS = (0, 1, 3, 5)
PAGES, LOOKED_AT, FIRST = 20, 200, 10


def measure(seed: int) -> dict[int, float]:
    """Return the mean precision by number of clicks."""
    web = image_webs(seed)[0]
    pages = [web.url_of(number) for site in web.plan.sites for number in site.pages[:PAGES]]
    shares: dict[int, list[float]] = {number: [] for number in CLICKS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index_pages(web, pages, folder, lambda _: None)
        found = ((number, web.picture_at(url)) for number, url in image_addresses(folder))
        shows = {number: picture.subject for number, picture in found if picture is not None}
        with ImageSearch(folder) as search:
            for text, subject in queries(web, shows):
                answer = search.search(text, LOOKED_AT, remember=False)
                right = [hit.image for hit in answer.hits if shows.get(hit.image) == subject]
                chosen = right[: CLICKS[-1]]
                done = 0
                for number in CLICKS:
                    for image in chosen[done:number]:
                        search.clicked(answer.searched, image)
                    done = number
                    hits = search.search(text, LOOKED_AT, remember=False).hits
                    others = [hit.image for hit in hits if hit.image not in chosen][:FIRST]
                    shares[number].append(sum(shows.get(n) == subject for n in others) / FIRST)
    return {number: fmean(some) for number, some in shares.items()}


if __name__ == "__main__":
    for seed in map(int, sys.argv[1:] or ("0",)):
        print(seed, {clicks: round(share, 3) for clicks, share in measure(seed).items()})
