"""A generated web of pictures to test image crawls, near texts and searches (sources.md I)."""

from semcrawl.evaluation.imageweb.imageplans import ImagePlan, ImageWebSize
from semcrawl.evaluation.imageweb.madeimages import IMAGE_STRATEGIES, ImageWeb, image_webs

__all__ = ["IMAGE_STRATEGIES", "ImagePlan", "ImageWeb", "ImageWebSize", "image_webs"]
