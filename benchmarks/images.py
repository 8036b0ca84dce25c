"""Ten thousand images: a crawl's time and memory, and searches of what it kept.

    python benchmarks/images.py [--images 10000] [--folder JOB]

``crawl`` fetches pages of four images each, drawn as they are asked for, from a server in this
process, as users run it (``semcrawl harvest --targets images``). The memory is the sum of the
greatest resident sizes of the crawl's process and of those that decode its images, shared pages
counted in each. ``write`` is the store alone: what the crawl found, written again into an empty
database. With ``--folder`` the job folder is kept, or used again if it has images.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw
from rich.console import Console
from rich.table import Table
from sqlalchemy.orm import Session

from semcrawl.images.imageitems import Decoded, FetchedImage, ImagePage
from semcrawl.images.outcomes import ImageOutcome
from semcrawl.images.placelearning import learn_places
from semcrawl.images.places import image_places
from semcrawl.images.schema import Image as StoredImage
from semcrawl.images.schema import ImageAddress, Page, Visit, count_images, open_images
from semcrawl.images.store import ImageStore
from semcrawl.imagesearch.search import ImageSearch
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream

PER_PAGE = 4
HOST = "http://pictures.example"
COLOURS = "red green blue yellow purple orange black brown pink grey".split()
SHAPES = "circle square cross stripes".split()


def drawn(number: int) -> bytes:
    """A picture of some hundred pixels a side, a PNG or a JPEG."""
    made = random.Random(number)
    size = made.randrange(150, 500), made.randrange(150, 500)
    picture = Image.new("RGB", size, tuple(made.randrange(256) for _ in range(3)))
    pencil = ImageDraw.Draw(picture)
    for _ in range(made.randrange(1, 6)):
        x, y, side = made.randrange(size[0]), made.randrange(size[1]), made.randrange(30, 150)
        shape, colour = made.choice(SHAPES), made.choice(COLOURS)
        if shape == "circle":
            pencil.ellipse((x, y, x + side, y + side), fill=colour)
        elif shape == "square":
            pencil.rectangle((x, y, x + side, y + side), fill=colour)
        elif shape == "cross":
            pencil.line((x, y, x + side, y + side), fill=colour, width=9)
            pencil.line((x, y + side, x + side, y), fill=colour, width=9)
        else:
            for at in range(0, side, 12):
                pencil.line((x + at, y, x + at, y + side), fill=colour, width=5)
    file = BytesIO()
    picture.save(file, "JPEG" if number % 3 else "PNG")
    return file.getvalue()


def words(number: int) -> str:
    """A caption."""
    made = random.Random(-number)
    return f"{made.choice(COLOURS)} {made.choice(SHAPES)} with a {made.choice(COLOURS)} corner"


def page(number: int, pages: int) -> bytes:
    """A page with its images, and links to some others."""
    links = "".join(f"<a href=/p/{n % pages}>page</a> " for n in range(number * 9, number * 9 + 12))
    images = "".join(
        f"<figure><img src=/i/{n}.jpg alt='number {n}'><figcaption>{words(n)}</figcaption></figure>"
        for n in range(number * PER_PAGE, (number + 1) * PER_PAGE)
    )
    return f"<title>Page {number}</title><h1>Pictures {number}</h1>{images}{links}".encode()


@contextmanager
def served(pages: int) -> Iterator[str]:
    """The address of a proxy that leads to the pages."""

    async def site(request: Request, out: Stream) -> None:
        kind, _, rest = request.path.strip("/").partition("/")
        if kind == "i":
            body, media_type = drawn(int(rest.partition(".")[0])), "image/jpeg"
        elif kind == "robots.txt":
            body, media_type = b"", "text/plain"
        else:
            body, media_type = page(int(rest or 0), pages), "text/html"
        await out.whole(200, [("Content-Type", media_type)], body)

    with serve(DemoWeb(), handlers={"pictures.example": site}) as server:
        yield server.proxy_url


def peaks(root: int) -> dict[int, int]:
    """Greatest resident sizes so far, in bytes, of a process and of its children."""
    found: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if int(folder.name) != root and parent != root:
                continue
            for line in (folder / "status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    found[int(folder.name)] = 1024 * int(line.split()[1])
        except (OSError, ValueError):  # it has ended
            continue
    return found


def crawled(images: int, folder: Path) -> tuple[float, int, float]:
    """Harvest the pages; return seconds, bytes of memory and CPU seconds."""
    with served(images // PER_PAGE) as proxy:
        arguments = ["harvest", f"{HOST}/p/0", "--targets", "images", "--fast", "--out", folder]
        arguments += ["-s", "SEMCRAWL_SITEMAPS=never", "-s", "SEMCRAWL_WELL_KNOWN="]
        begun = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "semcrawl", *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "http_proxy": proxy},
        )
        memory: dict[int, int] = {}
        while process.poll() is None:
            for pid, size in peaks(process.pid).items():
                memory[pid] = max(size, memory.get(pid, 0))
            time.sleep(0.2)
        used = os.times()
    if process.returncode:
        raise SystemExit(f"the harvest ended with status {process.returncode}")
    return time.monotonic() - begun, sum(memory.values()), used.children_user


def written(folder: Path, images: int) -> float:
    """Write what the crawl found into a new database, in batches of 50; return the seconds."""
    items: list[ImagePage | FetchedImage] = []
    engine = open_images(folder)
    with Session(engine) as session:
        for number, url, attempt in session.query(Page.id, Page.url, Visit.id).join(
            Visit, Visit.page_id == Page.id
        ):
            found = image_places(page(int(url.rpartition("/")[2]), images // PER_PAGE), url)
            links = found.links
            items.append(ImagePage(url, "", found.shown, len(links), links, 200, "", attempt))
            del number
        for address, image in session.query(ImageAddress, StoredImage).join(
            StoredImage, ImageAddress.image_id == StoredImage.id
        ):
            decoded = Decoded(
                *(ImageOutcome.KEPT, "", image.media_type, image.width, image.height, 1),
                *(image.perceptual_hash, image.miniature, b"grey", b"colour"),
            )
            items.append(FetchedImage(address.url, decoded, address.url, 1, address.sha256))
    engine.dispose()
    random.Random(0).shuffle(items)
    with tempfile.TemporaryDirectory() as other:
        engine = open_images(Path(other), make=True)
        store = ImageStore(engine, Path(other))
        begun = time.monotonic()
        for start in range(0, len(items), 50):
            store.write(items[start : start + 50])
        seconds = time.monotonic() - begun
        engine.dispose()
    return seconds


def searched(folder: Path, queries: int = 60) -> tuple[float, float]:
    """Return the seconds that the index takes, and a query in nineteen cases of twenty.

    The second are seconds of processors, which other programs of the machine change less.
    """
    begun = time.monotonic()
    with ImageSearch(folder) as search:
        opened = time.monotonic() - begun
        times = []
        for number in range(queries):
            begun = time.process_time()
            search.search(words(number), remember=False)
            times.append(time.process_time() - begun)
    return opened, sorted(times)[queries * 19 // 20]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    table = Table("what", "images", "seconds", "images/s", "memory (MB)", "CPU s")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "job"
        if not count_images(folder)[0]:
            seconds, memory, cpu = crawled(options.images, folder)
            count, places = count_images(folder)
            table.add_row(
                "crawl", f"{count:,} in {places:,} places", f"{seconds:.0f}",
                f"{options.images / seconds:.0f}", f"{memory / 1e6:.0f}", f"{cpu:.0f}",
            )  # fmt: skip
        seconds = written(folder, options.images)
        rate = options.images / seconds
        table.add_row("write", f"{options.images:,}", f"{seconds:.0f}", f"{rate:.0f}", "", "")
        engine = open_images(folder)
        begun = time.monotonic()
        best = learn_places(engine)
        engine.dispose()
        table.add_row(f"best places {best}", "", f"{time.monotonic() - begun:.1f}", "", "", "")
        opened, query = searched(folder)
        table.add_row("index", "", f"{opened:.1f}", "", "", "")
        table.add_row("search", "", "", "", "", f"{query:.4f}")
    Console().print(table)


if __name__ == "__main__":
    main()
