"""Images of a page as links, with the texts near them as their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from semcrawl.images.imageplaces import ShownImage
from semcrawl.images.outcomes import TextKind
from semcrawl.links import Link
from semcrawl.links.model import NEAR_TEXT
from semcrawl.links.texts import fold, fold_end
from semcrawl.topics import TEXT, Document, Topic
from semcrawl.web.vocabulary import FoundBy, Kind

#: what the crawl's topic makes of the texts near an image, 0 to 1
NearTextJudge = Callable[[ShownImage], float]


def near_text_judge(topic: Topic) -> NearTextJudge:
    """Return a judge of images by a topic before they are fetched: by the texts near them.

    The title of the page is left out, as all its images share it, unless there is nothing else. A
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
    """Yield the links to images; with a ``judge``, as :attr:`Link.near_text` says."""
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
