"""A made web of pictures to try crawls for images, near texts and searches on (sources.md I)."""

from semcrawl.evaluation.imageweb.imageplans import ImagePlan, ImageWebSize
from semcrawl.evaluation.imageweb.imagestudies import IMAGE_STRATEGIES, image_webs
from semcrawl.evaluation.imageweb.madeimages import ImageWeb

__all__ = ["IMAGE_STRATEGIES", "ImagePlan", "ImageWeb", "ImageWebSize", "image_webs"]
