"""Turns the images of a page into links, with the texts near them as evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from semcrawl.images.imageplaces import ShownImage
from semcrawl.images.outcomes import TextKind
from semcrawl.links import Link
from semcrawl.links.model import NEAR_TEXT
from semcrawl.links.texts import fold, fold_end
from semcrawl.topics import TEXT, Document, Topic
from semcrawl.web.vocabulary import FoundBy, Kind

#: returns the relevance of the texts near an image to the crawl's topic, 0 to 1
NearTextJudge = Callable[[ShownImage], float]


def near_text_judge(topic: Topic) -> NearTextJudge:
    """Return a judge of images by the texts near them, before they are fetched.

    The title of the page, which all its images share, is used only if there is nothing else. A
    topic that reads no text gives 0.
    """
    if TEXT not in topic.needs:
        return lambda image: 0.0

    def judge(image: ShownImage) -> float:
        near = [text.text for text in image.texts if text.kind is not TextKind.PAGE_TITLE]
        text = " · ".join(dict.fromkeys(near)) or image.text(TextKind.PAGE_TITLE)
        return topic.judge(Document(image.url, Kind.OTHER, text=text)).relevance

    return judge


def image_links(shown: Iterable[ShownImage], judge: NearTextJudge | None = None) -> Iterator[Link]:
    """Yield the links to images; a ``judge`` gives their :attr:`Link.near_text`."""
    for position, image in enumerate(shown):
        anchor = image.text(TextKind.CAPTION) or image.text(TextKind.ALT)
        yield Link(
            image.url,
            element=image.element,
            anchor=fold(anchor or image.text(TextKind.DATA)),
            title=fold(image.text(TextKind.TITLE) or image.text(TextKind.LINK)),
            type="image/*",
            before=fold_end(image.text(TextKind.BEFORE)),
            after=fold(image.text(TextKind.AFTER)),
            tag_path=image.tag_path,
            position=position,
            cues="" if judge is None else f"{NEAR_TEXT}{judge(image):.4f}",
            found_by=FoundBy.RDF if image.element == "rdf" else FoundBy.LINK,
        )
