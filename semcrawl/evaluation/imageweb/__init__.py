"""A made web of pictures to try crawls for images, near texts and searches on (sources.md I)."""

from semcrawl.evaluation.imageweb.imageplans import ImagePlan, ImageWebSize
from semcrawl.evaluation.imageweb.madeimages import IMAGE_STRATEGIES, ImageWeb, image_webs

__all__ = ["IMAGE_STRATEGIES", "ImagePlan", "ImageWeb", "ImageWebSize", "image_webs"]
