"""Search of 10,000 images: time to index, time and memory to search.

python benchmarks/image_search.py [IMAGES]

Images are drawn at random, each with a caption, an alternative text, a heading and some sentences
of a made language of 20,000 words. A process of its own indexes, another one searches: half of the
queries have a misspelled word.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import numpy as np
import psutil
from PIL import Image as Picture
from sqlalchemy import insert

from semcrawl.images.schema import (
    THUMBNAILS,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    key_of,
    open_images,
    place_id,
)
from semcrawl.imagesearch import ImageSearch

QUERIES = 200
#: texts of an image: kind, tag, words
TEXTS = (
    ("caption", "figcaption", 6), ("alt", "img", 4), ("heading", "h2", 3), ("before", "p", 25),
    ("after", "p", 25), ("page-title", "title", 5), ("file-name", "img", 2),
)  # fmt: skip


def words(random: Random, count: int = 20_000) -> list[str]:
    """Make words up, the commonest first."""
    parts = [a + b for a in "b d f g k l m n p r s t v st br".split() for b in "a e i o u".split()]
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(random.choices(parts, k=random.randint(2, 4)))] = None
    return list(found)


def make(folder: Path, count: int) -> None:
    """Write a job folder."""
    random, draw = Random(1), np.random.default_rng(1)
    known = words(random)
    weights = [1 / (n + 3) for n in range(len(known))]
    (folder / THUMBNAILS).mkdir(parents=True)
    rows: dict[type, list[dict[str, object]]] = {
        kind: [] for kind in (Image, ImageAddress, Page, ImagePlace, NearText)
    }
    for number in range(1, count + 1):
        name = f"{number:064x}"
        small = draw.integers(0, 256, (6, 6, 3), np.uint8)
        picture = Picture.fromarray(small).resize((255, 255), Picture.Resampling.BICUBIC)
        picture.save(folder / THUMBNAILS / f"{name}.jpg", quality=85)
        url, page = f"http://images.example/{number}.png", f"http://images.example/{number}"
        rows[Image].append(
            {"id": number, "sha256": name, "perceptual_hash": "", "miniature": b"", "width": 640,
             "height": 480, "bytes": 9999, "media_type": "image/png", "frames": 1, "pages": 1,
             "grey_thumbnail": f"{name}.jpg", "colour_thumbnail": f"{name}.jpg", "dropped": False,
             "first_seen_at": 0.0}
        )  # fmt: skip
        rows[ImageAddress].append(
            {"id": key_of(url), "url": url, "final_url": url, "image_id": number, "width": 640,
             "outcome": "kept", "reason": "", "sha256": name, "height": 480, "fetched_at": 0.0}
        )  # fmt: skip
        title = " ".join(random.choices(known, weights, k=4))
        rows[Page].append(
            {"id": key_of(page), "domain_id": 1, "url": page, "title": title, "score": 0.0}
        )
        place = place_id(page, 0)
        rows[ImagePlace].append(
            {"id": place, "page_id": key_of(page), "position": 0, "image_url": url,
             "address_id": key_of(url), "image_id": number, "found_as": "img", "element": "img",
             "has_caption": True, "tag_path": ""}
        )  # fmt: skip
        rows[NearText] += (
            {"place_id": place, "text": " ".join(random.choices(known, weights, k=size)),
             "kind": kind, "tag": tag, "distance": 1, "level": 1}
            for kind, tag, size in TEXTS
        )  # fmt: skip
    engine = open_images(folder, make=True)
    with engine.begin() as connection:
        for table, values in rows.items():
            columns = {column.name for column in table.__table__.columns}
            kept = [{name: row[name] for name in row if name in columns} for row in values]
            connection.execute(insert(table), kept)
    engine.dispose()


def peak() -> float:
    """Return the most memory that this process has had, in MB."""
    process = psutil.Process()
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) / 1000
    return process.memory_info().rss / 1e6


def index(folder: Path) -> None:
    """Index, and say what it took."""
    start = time.perf_counter()
    with ImageSearch(folder) as search:
        print(
            f"indexed {len(search):,} images in {time.perf_counter() - start:.1f} s "
            f"({time.process_time():.1f} s of processors), "
            f"{peak():.0f} MB; {len(search.largest_classes(10_000))} query classes"
        )


def search(folder: Path) -> None:
    """Search, and say what it took."""
    random = Random(2)
    known = words(Random(1))[:5000]
    start = time.perf_counter()
    with ImageSearch(folder) as searching:
        opened = time.perf_counter() - start
        times: list[float] = []
        costs: list[float] = []  # which other programs of the machine change less
        for number in range(QUERIES):
            asked = random.choices(known, k=random.randint(1, 3))
            if number % 2:
                word = asked[0]
                asked[0] = word[:1] + word[2:3] + word[1:2] + word[3:]
            start, cpu = time.perf_counter(), time.process_time()
            searching.search(" ".join(asked))
            times.append(1000 * (time.perf_counter() - start))
            costs.append(1000 * (time.process_time() - cpu))
        like = []
        for number in range(1, 51):
            start = time.perf_counter()
            searching.like(number)
            like.append(1000 * (time.perf_counter() - start))
    times.sort()
    print(
        f"opened in {opened:.2f} s; {QUERIES} queries: median {statistics.median(times):.1f} ms, "
        f"95 % below {times[int(0.95 * QUERIES)]:.1f} ms, most {times[-1]:.1f} ms; "
        f"processor: median {statistics.median(costs):.1f} ms, most {max(costs):.1f} ms; "
        f"similar images: median {statistics.median(like):.1f} ms; {peak():.0f} MB"
    )


def main() -> None:
    """Make the images, then measure each step in a process of its own."""
    if len(sys.argv) == 3:
        {"index": index, "search": search}[sys.argv[1]](Path(sys.argv[2]))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job"
        make(job, count)
        for step in ("index", "search", "search"):
            subprocess.run([sys.executable, __file__, step, str(job)], check=True)


if __name__ == "__main__":
    main()
