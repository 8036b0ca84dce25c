"""The study on the made web of pictures: three crawls, each after the pictures of one subject."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from semcrawl.evaluation.imageweb.imageplans import ImagePlan, ImageWebSize
from semcrawl.evaluation.imageweb.madeimages import ImageWeb
from semcrawl.evaluation.imageweb.subjects import SUBJECTS

#: I has the second and third
IMAGE_STRATEGIES = ("breadth-first", "weighted-pagerank", "domain-score", "learned")
#: crawls, and the requests of each
_CRAWLS, _REQUESTS = 3, 600


def image_webs(
    seed: int = 0, size: ImageWebSize | None = None, requests: int = _REQUESTS
) -> Sequence[ImageWeb]:
    """Make one web, and a crawl of it for each of three subjects that several sites are rich in."""
    plan = ImagePlan(seed, size)
    several = [subject for subject in SUBJECTS if len(plan.rich_in(subject)) > 1]
    chosen = Random(f"image queries {seed}").sample(several, _CRAWLS)
    return [ImageWeb(plan, subject, requests) for subject in chosen]
