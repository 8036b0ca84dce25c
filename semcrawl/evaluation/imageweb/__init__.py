"""A made web of pictures to try crawls for images, near texts and searches on (sources.md I)."""

from semcrawl.evaluation.imageweb.imageplans import ImagePlan, ImageWebSize
from semcrawl.evaluation.imageweb.madeimages import ImageWeb

__all__ = ["ImagePlan", "ImageWeb", "ImageWebSize"]
