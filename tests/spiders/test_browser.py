"""Pages in a browser: what they may do there, and what a crawl makes of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio
from harvest.runs import Run, harvest, semcrawl
from loopback import web

from semcrawl.processes import is_alive

pytest.importorskip("playwright")

from semcrawl.crawl.browser import (
    Bounds,
    Browser,
    Part,
    Rendered,
    RenderingError,
    Wanted,
)

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium"),
]

PAGE = "http://site.example/page"
TIGHT = Bounds(seconds=15, processor=2, memory=300 << 20, most_asked=300, characters=100_000)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One for all tests of this file that need no other."""
    browser = Browser("semcrawl/test", TIGHT)
    yield browser
    await browser.close()


async def render(
    browser: Browser, body: str, parts: dict[str, Part] | None = None, url: str = PAGE
) -> Rendered:
    """Render a page whose further requests get ``parts``."""

    async def answer(wanted: Wanted) -> Part | None:
        return (parts or {}).get(wanted.url)

    return await browser.render(url, {"content-type": "text/html"}, body.encode(), answer)


@contextmanager
def listener(kind: socket.SocketKind) -> Iterator[tuple[int, Callable[[], int]]]:
    """A port on loopback, and how many connections or packets came to it."""
    heard = 0
    with closing(socket.socket(socket.AF_INET, kind)) as ear:
        ear.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            ear.listen()

        def listen() -> None:
            nonlocal heard
            while True:
                try:
                    if kind == socket.SOCK_STREAM:
                        ear.accept()[0].close()
                    else:
                        ear.recv(2000)
                except OSError:
                    return
                heard += 1

        threading.Thread(target=listen, daemon=True).start()
        yield ear.getsockname()[1], lambda: heard


#: whatever leads out of a page, each on its own; T and U are ports
WAYS_OUT = """
const at = "http://127.0.0.1:T/", tries = [
  () => fetch(at + "fetch"),
  () => fetch(at + "post", {method: "POST", body: "x", mode: "no-cors"}),
  () => { const x = new XMLHttpRequest(); x.open("GET", at + "xhr"); x.send(); },
  () => navigator.sendBeacon(at + "beacon", "x"),
  () => new WebSocket("ws://127.0.0.1:T/"),
  () => new EventSource(at + "events"),
  () => new WebTransport("https://127.0.0.1:U/"),
  () => new Worker(at + "worker"),
  () => new Worker(URL.createObjectURL(new Blob(["importScripts('" + at + "i'); fetch('" + at + "f')"]))),
  () => new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://127.0.0.1:T/')"]))),
  () => new SharedWorker(URL.createObjectURL(new Blob(["fetch('" + at + "shared')"]))),
  () => navigator.serviceWorker.register("/worker.js"),
  () => window.open(at + "window"),
  () => { const c = new RTCPeerConnection({iceServers: [{urls: ["stun:127.0.0.1:U", "turn:127.0.0.1:U?transport=udp"], username: "a", credential: "b"}, {urls: "turn:127.0.0.1:T?transport=tcp", username: "a", credential: "b"}]});
          c.createDataChannel("x"); return c.createOffer().then(o => c.setLocalDescription(o)); },
  () => { for (const [tag, name] of [["img", "src"], ["script", "src"], ["iframe", "src"], ["embed", "src"],
          ["object", "data"], ["video", "src"], ["audio", "src"], ["link", "href"]]) {
            for (const rel of tag == "link" ? ["stylesheet", "prefetch", "preconnect", "dns-prefetch",
              "modulepreload", "preload", "icon", "manifest", "prerender"] : [""]) {
              const e = document.createElement(tag); if (rel) e.rel = rel;
              e[name] = at + tag + rel; document.body.append(e); } } },
  () => { const s = document.createElement("script"); s.type = "speculationrules";
          s.textContent = JSON.stringify({prefetch: [{source: "list", urls: [at + "spec"]}],
            prerender: [{source: "list", urls: [at + "pre"]}]}); document.head.append(s); },
  () => { const f = document.createElement("form"); f.action = at + "form"; f.method = "post";
          document.body.append(f); f.submit(); },
  () => { const f = document.createElement("iframe"); f.srcdoc = "<img src=" + at + "srcdoc><script>fetch('" + at + "in')<\\/script>";
          document.body.append(f); },
  () => { const a = document.createElement("a"); a.href = at + "ping"; a.ping = at + "ping"; a.download = "x";
          document.body.append(a); a.click(); },
  () => document.body.append(Object.assign(document.createElement("div"), {style: "background:url(" + at + "css)"})),
  () => { const s = document.createElement("style");
          s.textContent = "@import url(" + at + "import); @font-face{font-family:x;src:url(" + at + "font)} body{font-family:x}";
          document.head.append(s); },
];
const failed = [];
for (const [n, one] of tries.entries()) { try { const p = one(); if (p && p.catch) p.catch(() => 0); } catch (e) { failed.push(n + e.name); } }
setTimeout(() => document.body.append("failed: " + failed.join()), 1500);
setTimeout(() => fetch("/last"), 400); setTimeout(() => fetch("/last"), 800); setTimeout(() => fetch("/last"), 1200);
"""  # noqa: E501


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("scheme", "failed"),
    [
        ("http", "6ReferenceError,7SecurityError,11TypeError,13ReferenceError"),
        ("https", "6ReferenceError,7SecurityError,13ReferenceError"),
    ],
)
async def test_nothing_leaves_the_browser(browser: Browser, scheme: str, failed: str) -> None:
    """Some ways are closed from the start; service workers are, beside that, only for TLS."""
    with (
        listener(socket.SOCK_STREAM) as (tcp, calls),
        listener(socket.SOCK_DGRAM) as (udp, packets),
    ):
        script = WAYS_OUT.replace(":T", f":{tcp}").replace(":U", f":{udp}")
        script = script.replace("http:", f"{scheme}:").replace("ws:", f"ws{scheme[4:]}:")
        page = await render(
            browser, f"<body><script>{script}</script>", url=f"{scheme}://site.example/"
        )
        assert f"failed: {failed}</body>" in page.html.rpartition("</script>")[2]
        assert (calls(), packets()) == (0, 0)


@pytest.mark.asyncio(loop_scope="module")
async def test_files_and_pages_of_the_browser_stay_closed(browser: Browser, tmp_path: Path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text("a secret")
    page = await render(
        browser,
        f"""<body><iframe src="{secret.as_uri()}"></iframe><iframe src="chrome://version"></iframe>
        <script>
        const to = "{secret.as_uri()}", say = text => document.body.append("[" + text + "]");
        fetch(to).then(r => r.text()).then(say, e => say("closed"));
        for (const f of document.querySelectorAll("iframe"))
            f.onload = () => say(f.contentDocument ? f.contentDocument.body.innerText : "foreign");
        location = to;
        </script>""",
    )
    shown = page.html.rpartition("</script>")[2]
    assert "[closed]" in shown
    assert "a secret" not in shown
    assert page.led_to == ""


ATTACKS = {
    "loop": "for (;;);",
    "alerts": "for (;;) alert(1);",
    "memory": "const all = []; for (;;) all.push(new Uint8Array(5e7).fill(7));",
    "nodes": "for (;;) document.body.append('x'.repeat(1e6));",
    "requests": "for (let i = 0; i < 1e5; i++) fetch('/' + i).catch(() => 0)",
}


@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_that_takes_too_much_is_stopped(browser: Browser) -> None:
    """The others, at the same time and afterwards, notice nothing."""
    good = "<script>setTimeout(() => document.write('all is well'), 100)</script>"

    async def attack(script: str) -> float:
        began = time.monotonic()
        with pytest.raises(RenderingError):
            await render(browser, f"<body>text<script>{script}</script>")
        return time.monotonic() - began

    *_, page = await asyncio.gather(*map(attack, ATTACKS.values()), render(browser, good))
    assert "all is well" in page.html.rpartition("</script>")[2]
    pid = browser.pid
    assert "all is well" in (await render(browser, good)).html.rpartition("</script>")[2]
    assert browser.pid == pid is not None


@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_stays_where_it_is(browser: Browser) -> None:
    """It cannot go away, close itself or open others; where it wants to go is told."""
    page = await render(
        browser,
        """<body>here<script>
        for (let i = 0; i < 20; i++) window.open("http://other.example/" + i);
        window.onbeforeunload = () => "stay"; window.close();
        setTimeout(() => { location.href = "/next" }, 50);
        </script>""",
    )
    assert page.html.startswith("<html><head></head><body>here<script>")
    assert page.led_to == "http://site.example/next"
    page = await render(browser, "<body>again<script>location.reload()</script>")
    assert (page.led_to, "again" in page.html) == ("", True)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_page_is_cut_off_where_it_is_too_long(browser: Browser) -> None:
    page = await render(browser, "<body><script>document.body.append('y'.repeat(3e6))</script>")
    assert len(page.html) == TIGHT.characters


@pytest.mark.asyncio(loop_scope="module")
async def test_other_origins_must_share_what_a_script_reads(browser: Browser) -> None:
    """As everywhere in browsers: the headers decide, and scripts cannot read the rest."""
    kind = {"content-type": "application/json"}
    page = await render(
        browser,
        """<body><script>
        for (const name of ["open", "closed"]) fetch("http://other.example/" + name)
          .then(r => r.json()).then(j => document.body.append(" got:" + j), () => 0);
        </script>""",
        {
            "http://other.example/open": Part(
                200, {**kind, "access-control-allow-origin": "*"}, b"1"
            ),
            "http://other.example/closed": Part(200, kind, b"2"),
        },
    )
    assert "got:1" in page.html
    assert "got:2" not in page.html


@pytest.mark.asyncio(loop_scope="module")
async def test_pages_share_nothing(browser: Browser) -> None:
    script = """<body><script>
    document.body.append("[" + document.cookie + localStorage.getItem("a") + "]");
    document.cookie = "a=1"; localStorage.setItem("a", "2");
    </script>"""
    await render(browser, script)
    assert "[null]" in (await render(browser, script)).html


@pytest.mark.asyncio(loop_scope="module")
async def test_a_browser_that_dies_is_started_again() -> None:
    browser = Browser("semcrawl/test", TIGHT)

    async def kill(wanted: Wanted) -> None:
        assert browser.pid is not None
        os.kill(browser.pid, signal.SIGKILL)

    try:
        with pytest.raises(RenderingError):
            await browser.render(
                PAGE, {"content-type": "text/html"}, b"<script src=/a.js></script>", kill
            )
        page = await render(browser, "<script>document.write('back')</script>")
        assert "back</body>" in page.html
        pid = browser.pid
        assert pid is not None
    finally:
        await browser.close()
    assert not is_alive(pid)
    with pytest.raises(RenderingError, match="the crawl ends"):
        await render(browser, "")


# -- crawls

SHELL = b"""<!DOCTYPE html><html><head><title>App</title></head><body><div id="app"></div>
<noscript>This application needs JavaScript to run, so please switch it on in your browser; it is
really a pity that there is nothing else to see on this page without it.</noscript>
<script src="/app.js"></script></body></html>"""
#: asks for what belongs to its address, and shows it; its links change the page without loading one
APP = b"""
const show = async path => {
  const found = await (await fetch("/api" + path)).json(), app = document.getElementById("app");
  app.innerHTML = "<h1>" + found.name + "</h1>" +
    found.links.map(link => "<a href='" + link + "'>to " + link + "</a>").join(" ");
  const data = document.createElement("script");
  data.type = "application/ld+json";
  data.textContent = JSON.stringify({"@context": "https://schema.org/", "@id": path, name: found.name});
  document.head.append(data);
};
addEventListener("click", event => {
  event.preventDefault(); history.pushState({}, "", event.target.href); show(location.pathname);
});
show(location.pathname);
"""  # noqa: E501
HTML, JSON = "text/html; charset=utf-8", "application/json"
TEXT = " A page that says what it has to say without any script, as pages did once." * 3
FAST = ("-s", "SEMCRAWL_CRAWL_DELAY=0", "-s", "SEMCRAWL_PROGRESS=off")


class Site:
    """Answers by path, and notes when it was asked for what."""

    def __init__(self, resources: dict[str, tuple[str, str]]) -> None:
        self.resources = {"/app.js": ("text/javascript", APP.decode()), **resources}
        self.asked: list[tuple[str, float]] = []

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked if path != "/robots.txt"]

    def __call__(self, path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        self.asked.append((path, time.monotonic()))
        if path not in self.resources:
            return 404, "text/plain", b"nothing here"
        kind, body = self.resources[path]
        return 200, kind, body.encode()


def app(*paths: str) -> dict[str, tuple[str, str]]:
    """An application with pages of these names, each with links to all."""
    names = ", ".join(f'"{path}"' for path in paths)
    found: dict[str, tuple[str, str]] = {path: (HTML, SHELL.decode()) for path in paths}
    for path in paths:
        found["/api" + path] = JSON, f'{{"name": "at {path}", "links": [{names}]}}'
    return found


def types(run: Run) -> dict[str, str]:
    """What was found at each path; what pages asked for is marked."""
    return {
        "/" + record["url"].split("/", 3)[3]: record["real_type"]
        + ("*" if record["rules"] == "browser" else "")
        for record in run.records
        if not record["url"].endswith("/robots.txt")
    }


def a_browser(folder: Path, script: str) -> dict[str, str]:
    """Variables with which ``chromium`` is this script, which may go on with ``$REAL``."""
    program = folder / "bin" / "chromium"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nREAL={shutil.which('chromium')}\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def test_an_application_is_crawled_through_its_scripts(tmp_path: Path) -> None:
    """Links and data that scripts insert count as those of any page; the scripts come once."""
    site = Site(app("/", "/one", "/two"))
    with web(site) as at:
        run = harvest(at + "/", *FAST, "-s", "SEMCRAWL_BROWSER=auto", folder=tmp_path / "out")
    run.is_calm()
    assert types(run) == {
        **dict.fromkeys(["/", "/one", "/two"], "html:rendered"),
        **dict.fromkeys(["/app.js", "/api/", "/api/one", "/api/two"], "other*"),
    }
    assert sorted(site.paths) == sorted(types(run))
    data = (run.folder / "embedded.nq").read_text()
    assert f'<{at}/one> <http://schema.org/name> "at /one" <{at}/one> .' in data
    assert run.summary["browser_pages"] == 3
    assert run.summary["browser_requests"] == 4
    assert run.summary["html_documents"] == 3
    assert "In the browser: 3 pages, with 4 requests for what their scripts asked for" in run.out
    why = semcrawl("why", at + "/one", str(run.folder), folder=run.folder).out
    assert "It was read as a page, after its scripts had run in a browser.\n" in why
    why = semcrawl("why", at + "/api/one", str(run.folder), folder=run.folder).out
    assert f"A script of {at}/one asked for it in the browser." in why
    hashes = {r["content_hash"] for r in run.records if r["real_type"] == "html:rendered"}
    assert len(hashes) == 3  # of the pages, not of the shell that all share


def test_robots_pace_and_addresses_hold_for_what_pages_ask_for(tmp_path: Path) -> None:
    """A page gets nothing that the crawl itself would not get, nor from other private places."""
    other = Site({"/secret": (JSON, '"secret"')})
    with web(other) as elsewhere:
        script = "".join(
            f"fetch('{url}', {{method: '{method}'}}).then(r => r.text())"
            ".then(t => document.body.append('[' + t + ']'), () => document.body.append('[no]'));"
            for url, method in (
                ("/forbidden", "GET"),
                ("/allowed", "GET"),
                ("/allowed", "POST"),
                ("/excluded", "GET"),
                (f"{elsewhere}/secret", "GET"),
                ("http://10.1.2.3/", "GET"),
                ("http://[::1]:1/", "GET"),
            )
        )
        site = Site(
            {
                "/": (HTML, f"<body><script>{script}</script>"),
                "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /forbidden"),
                **{
                    f"/{name}": (JSON, f'"{name}"') for name in ("allowed", "forbidden", "excluded")
                },
            }
        )
        with web(site) as at:
            run = harvest(
                *(at + "/", "-s", "SEMCRAWL_CRAWL_DELAY=0.5", "--exclude", "/excluded"),
                *("-s", "SEMCRAWL_BROWSER=auto", "--targets", "html"),
                folder=tmp_path / "out",
            )
    run.is_calm()
    assert site.paths == ["/", "/allowed"]
    assert other.asked == []
    outcomes = run.outcomes()
    assert outcomes[f"{at}/forbidden"] == ["robots-denied"]
    assert outcomes[f"{at}/allowed"] == ["fetched-other"]
    times = [when for _, when in site.asked]
    assert min(b - a for a, b in pairwise(times)) > 0.4
    [text] = [line for line in (run.folder / "pages.nq").read_text().splitlines() if "[no]" in line]
    assert text.count("[no]") == 6
    assert text.count("allowed") == 1


def test_only_listed_pages_go_through_the_browser(tmp_path: Path) -> None:
    site = Site(
        {
            "/": (HTML, f'<body>{TEXT}<a href="/in/a">a</a> <a href="/b">b</a>'),
            "/in/a": (HTML, f"<body>{TEXT}<script>document.write('<a href=/c>c</a>')</script>"),
            "/b": (HTML, SHELL.decode()),
        }
    )
    with web(site) as at:
        run = harvest(
            *(at + "/", *FAST, "-s", "SEMCRAWL_BROWSER=hosts"),
            *("-s", f"SEMCRAWL_BROWSER_HOSTS={at.partition('://')[2]}/in/*"),
            folder=tmp_path / "out",
        )
    assert types(run) == {
        **{"/": "html", "/in/a": "html:rendered", "/b": "html"},
        **dict.fromkeys(["/c", "/in/"], ""),  # answered 404
    }


def test_plain_pages_start_no_browser(tmp_path: Path) -> None:
    """Not even where scripts run beside the text; and their own JSON-LD needs none."""
    data = (
        '<script type="application/ld+json">{"@id": "#a", "@type": "http://v.example/T"}</script>'
    )
    site = Site(
        {
            "/": (HTML, f"<body>{TEXT}<script>count('ld+json')</script>{data}<a href=/b>b</a>"),
            "/b": (HTML, f"<body>{TEXT}<script src=/count.js></script>"),
        }
    )
    with web(site) as at:
        run = harvest(
            *(at + "/", *FAST, "-s", "SEMCRAWL_BROWSER=auto"),
            folder=tmp_path / "out",
            **a_browser(tmp_path, f"touch {tmp_path}/started"),
        )
    assert {name for name in types(run).values() if name} == {"html"}
    assert not (tmp_path / "started").exists()


def test_without_a_browser_pages_are_read_as_they_are(tmp_path: Path) -> None:
    """One line tells of it, and the records blame no page."""
    site = Site({"/": (HTML, SHELL.decode() + "<a href=/b></a>"), "/b": (HTML, SHELL.decode())})
    with web(site) as at:
        run = harvest(
            *(at + "/", *FAST, "-s", "SEMCRAWL_BROWSER=auto"),
            folder=tmp_path / "out",
            **a_browser(tmp_path, "exit 3"),
        )
    run.is_calm()
    assert (run.status, types(run)) == (0, {"/": "html", "/b": "html"})
    assert not any(record["errors"] for record in run.records if record["real_type"] == "html")
    assert run.err.startswith("semcrawl: 2 pages read without a browser; the last: all pages: ")


def test_the_end_of_the_browser_is_no_fault_of_pages(tmp_path: Path) -> None:
    """It is killed while a page is in it: that page is read as it was fetched, others are not."""
    pid = tmp_path / "pid"
    site = Site(app("/", "/one"))

    def answer(path: str, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        if path == "/api/" and not site.paths.count("/api/"):
            os.kill(int(pid.read_text()), signal.SIGKILL)
        return site(path, query)

    site.resources["/"] = HTML, SHELL.decode() + "<a href=/one></a>"
    with web(answer) as at:
        run = harvest(
            *(at + "/", *FAST, "-s", "SEMCRAWL_BROWSER=auto"),
            folder=tmp_path / "out",
            **a_browser(tmp_path, f'echo $$ > {pid}\nexec "$REAL" "$@"'),
        )
    run.is_calm()
    assert run.status == 0
    assert types(run)["/"] == "html"
    assert types(run)["/one"] == "html:rendered"
    assert {record["errors"] for record in run.records if record["status"] == 200} == {""}
    why = f"1 page read without a browser; the last: {at}/: the browser ended"
    assert run.err == f"semcrawl: {why}\n"
    assert not is_alive(int(pid.read_text()))
