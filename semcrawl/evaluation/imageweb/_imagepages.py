"""The made web's pages as HTML."""

from __future__ import annotations

from html import escape
from random import Random

from semcrawl.evaluation.imageweb.habits import Habit, Texts
from semcrawl.evaluation.imageweb.imageplans import ImagePage, ImagePlan, Picture
from semcrawl.evaluation.imageweb.spelling import spelled
from semcrawl.evaluation.imageweb.subjects import sentence

LOGO, BANNER, SMALL = "/static/logo.png", "/static/banner{}.png", "/small"
#: banners that several sites show
BANNERS = 3
_BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="


def render(plan: ImagePlan, page: ImagePage) -> str:
    """Return a page's HTML."""
    random = Random(f"page {plan.seed} {page.number}")
    site = plan.sites[page.site]
    name = escape(plan.pages[site.home].title)
    title = escape(page.title)
    heading = name if site.habit.place == "page-title" else title
    shown = "".join(
        _shown(random, plan, site.habit, page, plan.pictures[number], texts)
        for number, texts in page.shown
    )
    far = [texts.far for _, texts in page.shown if texts.far]
    notes = "".join(f"<li>Fig. {n}: {escape(text)}</li>" for n, text in enumerate(far, 1))
    links = "".join(
        f"<li>{_link(random, plan, page, to, anchor)}</li>\n" for to, anchor in page.links
    )
    listed = "".join(_listed(random, plan, page, to, anchor) for to, anchor in page.listed)
    banner = BANNER.format(random.randrange(BANNERS))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><title>{title} – {name}</title></head><body>\n'
        f'<div id=top><a href="/"><img src="{LOGO}" alt="{name}"></a></div>\n'
        f"<h1>{heading}</h1>\n<p>{sentence(random)} {sentence(random)}</p>\n"
        f"<div class=works>\n{shown}</div>\n{f'<ol class=notes>{notes}</ol>' if notes else ''}"
        f"<div class=list>\n{listed}</div>\n<ul class=links>\n{links}</ul>\n"
        f'<div id=footer><img src="{banner}" alt=""><p>{name}</p></div></body></html>\n'
    )


def _link(random: Random, plan: ImagePlan, page: ImagePage, to: int, inside: str) -> str:
    here, there = plan.sites[page.site], plan.sites[plan.pages[to].site]
    href = spelled(random, here.habit.spelling, there.host, plan.pages[to].path, here.host)
    return f'<a href="{escape(href)}">{inside if inside[:1] == "<" else escape(inside)}</a>'


def _listed(random: Random, plan: ImagePlan, page: ImagePage, to: int, anchor: str) -> str:
    """A link to a page with pictures, with a small one of them if the site does that."""
    small = ""
    if plan.sites[page.site].habit.thumbnails and plan.pages[to].shown:
        picture = plan.pictures[plan.pages[to].shown[0][0]]
        image = f'<img src="{SMALL}{picture.path}" width=48 height=40 alt="">'
        small = _link(random, plan, page, to, image)
    return f"<p>{small} {_link(random, plan, page, to, anchor)}</p>\n"


def _shown(
    random: Random, plan: ImagePlan, habit: Habit, page: ImagePage, picture: Picture, texts: Texts
) -> str:
    """A picture with the texts around it, as the site lays pages out."""
    near = {place: escape(text) for place, text in texts.near.items()}
    host = plan.sites[picture.site].host
    source = picture.path if picture.site == page.site else f"http://{host}{picture.path}"
    image = _image(habit, source, picture, near)
    heading = f"<h3>{near['heading']}</h3>" if "heading" in near else ""
    below = near.get("caption", "")
    before, after = near.get("before", ""), near.get("after", "")
    paragraphs = [f"<p>{text}</p>" if text else "" for text in (before, after)]
    if habit.layout == "figure":
        caption = f"<figcaption>{below}</figcaption>" if below else ""
        return f"{heading}{paragraphs[0]}<figure>{image}{caption}</figure>{paragraphs[1]}\n"
    if below:
        below = f'<div class="caption">{below}</div>'
    if habit.layout == "row":
        return (
            f"{heading}<table><tr><td>{before}</td><td>{image}{below}</td><td>{after}</td></tr>"
            "</table>\n"
        )
    parts = f"{heading}{paragraphs[0]}{image}{below}{paragraphs[1]}"
    if habit.layout == "bare":
        return f"{parts}<hr>\n"
    tag = "div" if habit.layout == "card" else "section"
    return f"<{tag} class=work>{parts}</{tag}>\n"


def _image(habit: Habit, source: str, picture: Picture, near: dict[str, str]) -> str:
    words = f' alt="{near.get("alt", "")}"'
    if "title" in near:
        words += f' title="{near["title"]}"'
    size = f" width={picture.width} height={picture.height}"
    if habit.loading == "lazy":
        return f'<img class=lazy src="{_BLANK}" data-src="{source}"{words}{size}>'
    if habit.loading == "srcset" and picture.path in source[: len(picture.path)]:
        return f'<img src="{SMALL}{source}" srcset="{SMALL}{source} 48w, {source} 200w"{words}>'
    if habit.loading == "picture":
        return f'<picture><source srcset="{source}"><img src="{source}"{words}{size}></picture>'
    return f'<img src="{source}"{words}{size}>'
