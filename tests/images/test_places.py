"""Images of pages are found with the texts near them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.images.neartexts import file_name_words
from semcrawl.images.outcomes import FoundAs, TextKind
from semcrawl.images.places import PlaceOptions, ShownImage, image_places

BASE = "http://example.org/x/"


def shown(html: str, **options) -> tuple[ShownImage, ...]:
    return image_places(html.encode(), BASE, "text/html", PlaceOptions(**options)).shown


def texts(image: ShownImage) -> dict[str, str]:
    return {near.place: near.text for near in image.texts}


@pytest.mark.parametrize(
    ("html", "address", "found_as"),
    [
        ("<img src=a.png>", "a.png", FoundAs.IMG),
        ("<img src=a.png srcset='b.png 2x'>", "b.png", FoundAs.SRCSET),
        ("<img src=a.png data-srcset='b.png 200w'>", "b.png", FoundAs.SRCSET),
        ("<picture><source srcset=b.webp><img src=a.png></picture>", "b.webp", FoundAs.PICTURE),
        (
            "<picture><source type=image/svg+xml srcset=b.svg><img src=a.png></picture>",
            "a.png",
            FoundAs.IMG,
        ),
        ("<img src=wait.gif data-src=a.png>", "a.png", FoundAs.LAZY),
        ("<img src='data:image/gif;base64,R0' data-original=a.png>", "a.png", FoundAs.LAZY),
        ("<noscript><img src=a.png></noscript>", "a.png", FoundAs.NOSCRIPT),
        ("<a href=big.jpg><img src=a.png></a>", "big.jpg", FoundAs.LINKED),
        ("<a href='/wiki/File:Big.jpg'><img src=a.png></a>", "a.png", FoundAs.IMG),
        ("<link rel=image_src href=a.png>", "a.png", FoundAs.IMAGE_SRC),
        ("<meta property='og:image' content=a.png>", "a.png", FoundAs.META),
        ("<meta name='twitter:image' content=a.png>", "a.png", FoundAs.META),
        ("<video poster=a.png></video>", "a.png", FoundAs.POSTER),
        ("<object data=a.png></object>", "a.png", FoundAs.OBJECT),
        ("<input type=image src=a.png>", "a.png", FoundAs.OBJECT),
        ("<svg><image xlink:href=a.png></image></svg>", "a.png", FoundAs.OBJECT),
        ("<table background=a.png></table>", "a.png", FoundAs.BACKGROUND),
        ('<p style="background: url(a.png)">x</p>', "a.png", FoundAs.BACKGROUND),
        ("<base href='/x/'><img src=a.png>", "a.png", FoundAs.IMG),
    ],
)
def test_an_image_is_found_in_its_best_form(html: str, address: str, found_as: FoundAs) -> None:
    """In small pages and in large ones, whose trees are others."""
    for page in (html, html + "<p>much else</p>" * 6000):
        (image,) = shown(page)
        assert (image.url, image.found_as) == (BASE + address, found_as)


@pytest.mark.parametrize(
    "html",
    [
        "<img>",
        "<img src=''>",
        "<img src='data:image/png;base64,AAAA'>",
        "<img src=logo.svg>",
        "<img src='javascript:alert(1)'>",
        "<img src='http://[bad'>",
        "<script>'<img src=a.png>'</script>",
        "<template><img src=a.png></template>",
        "<object data=film.swf></object>",
        "<img srcset='nonsense nonsense, ,'>",
        "",
    ],
)
def test_what_is_no_image_to_fetch_is_no_place(html: str) -> None:
    assert shown(html) == ()


def test_what_is_left_out_is_counted() -> None:
    page = image_places(
        b"<img src='data:image/png,x'><img src=a.svg><img src=b.png width=10 height=10>"
        b"<img src=c.png width=10% height=10><img srcset='nonsense nonsense, ,'>"
        b"<picture><source srcset='a.png -1x'></picture><img srcset='data:image/png,x 2x'>",
        BASE,
        options=PlaceOptions(min_width=20, min_height=20),
    )
    assert (page.data_urls, page.drawings, page.too_small, page.bad_srcset) == (1, 1, 1, 2)
    assert [image.url for image in page.shown] == [BASE + "c.png"]


def test_links_are_counted_as_they_stand_and_normalised() -> None:
    page = image_places(b"<a href=/p>1</a><a href='/p#x'>2</a><a href=q.png>3</a><a name=y>", BASE)
    assert (page.links_seen, page.links) == (2, ("http://example.org/p",))


CARD = "<div class=card><img src={0}.png><p>{0} caption</p></div>"


def test_each_image_of_a_gallery_has_the_text_of_its_own_card() -> None:
    images = shown("<h1>All</h1>" + "".join(CARD.format(word) for word in ("one", "two", "three")))
    assert [texts(image)["after:p:1"] for image in images] == [
        "one caption",
        "two caption",
        "three caption",
    ]
    assert all(text.text.split()[0] != "one" for text in images[1].texts)


def test_texts_have_their_tag_distance_and_level() -> None:
    (image,) = shown(
        "<title>The page</title><h2>Shapes</h2><div><p>before</p>"
        "<a title=hint href=/more><img src=Red_circle.png alt='a circle' title=red></a>"
        "<div><em>after</em></div></div>"
    )
    found = {(t.kind, t.tag, t.distance, t.level): t.text for t in image.texts}
    assert found == {
        (TextKind.ALT, "alt", 0, 0): "a circle",
        (TextKind.TITLE, "title", 0, 0): "red",
        (TextKind.FILE_NAME, "src", 0, 0): "Red circle",
        (TextKind.LINK, "title", 1, 1): "hint",
        (TextKind.BEFORE, "p", 3, 2): "before",
        (TextKind.AFTER, "em", 4, 2): "after",
        (TextKind.HEADING, "h2", 4, 3): "Shapes",
        (TextKind.PAGE_TITLE, "title", 0, 0): "The page",
    }


@pytest.mark.parametrize(
    "html",
    [
        "<figure><img src=a.png><figcaption>the <i>text</i></figcaption></figure>",
        "<figure><figcaption>the text</figcaption><div><img src=a.png></div></figure>",
        "<div><img src=a.png><p class='wp-caption-text'>the text</p></div>",
        "<table><caption>the text</caption><tr><td><img src=a.png></table>",
        "<img src=a.png aria-describedby=d><p>other</p><p id=d>the text</p>",
    ],
)
def test_captions_are_known_by_element_name_or_reference(html: str) -> None:
    (image,) = shown(html)
    assert image.has_caption
    assert image.text(TextKind.CAPTION) == "the text"


def test_a_caption_in_another_row_is_the_one_of_the_images_column() -> None:
    first, second = shown(
        "<table><tr><td><img src=a.png><td><img src=b.png></tr><tr><td>one<td>two</tr></table>"
    )
    assert (texts(first)["after:td:3"], texts(second)["after:td:3"]) == ("one", "two")


def test_texts_are_cut_and_long_before_texts_keep_their_end() -> None:
    (image,) = shown("<p>" + "far " * 99 + "near</p><img src=a.png>", max_text=50)
    before = texts(image)["before:p:1"]
    assert len(before) <= 50
    assert before.endswith("near")


def test_a_page_has_so_many_places_at_most() -> None:
    html = "".join(f"<img src={n}.png>" for n in range(50))
    assert len(shown(html, max_places=20)) == 20


def test_the_same_image_twice_on_a_page_has_two_places() -> None:
    html = "<p>one<img src=a.png></p><p>two<img src=a.png></p>"
    assert [texts(image)["before:p:1"] for image in shown(html)] == ["one", "two"]


def test_an_image_beside_its_lazy_form_is_one_place() -> None:
    (image,) = shown("<img data-src=a.png><noscript><img src=a.png></noscript>")
    assert image.found_as is FoundAs.LAZY


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://x/red-circle_2.png", "red circle"),
        ("http://x/RedCircle-300x200.jpg?v=1", "Red Circle"),
        ("http://x/DSC_0042.JPG", ""),
        ("http://x/0f3e9a8b77c1.png", ""),
        ("http://x/caf%C3%A9.png", "café"),
        ("http://x/", ""),
        ("http://x/thumb-of-apple.png", "of apple"),
    ],
)
def test_words_of_file_names_that_say_something(url: str, words: str) -> None:
    assert file_name_words(url) == words


TAGS = st.sampled_from(
    ["<div>", "</div>", "<p>", "<img src=a.png>", "<td>", "<tr>", "<table>", "</table>", "text",
     "<a href=b.jpg>", "</a>", "<figure>", "<figcaption>", "<br>", "<noscript>", "<!-- c -->",
     "<picture>", "<source srcset=','>", "<h1>", "\x00", "<img srcset='x 2x' id=a>", "&amp;"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(TAGS, max_size=60))
def test_any_markup_gives_places_in_bounds(parts: list[str]) -> None:
    for image in shown("".join(parts), max_text=40):
        assert image.url.startswith("http://")
        assert len(image.texts) <= 30
        for near in image.texts:
            assert near.text
            assert near.distance >= near.level >= 0


@pytest.mark.slow
def test_a_page_of_many_images_and_deep_markup_takes_time_in_proportion() -> None:
    deep = "<div>" * 3000 + "<img src=a.png>" + "text" * 1000
    assert len(shown(deep)) == 1
    wide = "".join(f"<img src={n}.png> some text " for n in range(20_000))
    assert len(shown(wide)) == 1000
