"""What a pipeline cannot write counts as lost: the command says so, and exits with status 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from semcrawl.crawl.failures import ItemNotWritten, lost_results
from semcrawl.images.imageitems import ImagePage
from semcrawl.items import FetchedFile, RdfDocument, TopicPage
from semcrawl.pipelines.files import FilesPipeline
from semcrawl.pipelines.images import ImagesPipeline
from semcrawl.pipelines.quads import EmbeddedQuadsPipeline
from semcrawl.pipelines.topicpages import PagesPipeline

URL = "http://d.example/"
LINES = f"<{URL}> <{URL}p> <{URL}o> <{URL}> .\n".encode()


@pytest.mark.parametrize(
    ("pipeline", "item"),
    [
        (EmbeddedQuadsPipeline, RdfDocument(URL, format="embedded", quads=1, nquads=LINES)),
        (PagesPipeline, TopicPage(URL, title="A page")),
        (ImagesPipeline, ImagePage(URL, "A page")),
        (FilesPipeline, FetchedFile(URL, b"1", content_hash="1")),
    ],
)
async def test_an_item_that_is_not_written_is_lost(
    pipeline: Any, item: object, tmp_path: Path
) -> None:
    """Of each kind that a crawl may be after."""
    (tmp_path / "file").touch()
    settings = {
        "SEMCRAWL_JOBDIR": str(tmp_path / "file" / "job"),
        "SEMCRAWL_TARGETS": "html,images,text/csv",
        "SEMCRAWL_EMBEDDED": "json-ld",
    }
    crawler = get_crawler(settings_dict=settings)
    with pytest.raises(ItemNotWritten):
        await pipeline.from_crawler(crawler).process_item(item)
    assert lost_results([crawler]) == 1
