"""A world served over loopback HTTP, as a proxy for its hosts, with a log of what was asked.

A crawler is given ``http_proxy`` and ``https_proxy``; nothing leaves the machine, as what is not in
the world answers 404. Over TLS it stands for every host itself (``CONNECT``). Runs in a thread of
its own, so that a crawl in the same process or another can use it.
"""

from __future__ import annotations

import asyncio
import ssl
import tempfile
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from semcrawl.evaluation.world import Negotiating, World
from semcrawl.sources import named_sitemaps
from semcrawl.sources.negotiation import prefers_rdf
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import normalise

_HEADER_LIMIT = 1 << 20


def self_signed(ends: datetime) -> bytes:
    """Make a key and a certificate that is good for the 30 days before ``ends``, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody.example")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ends - timedelta(days=30))
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private + certificate.public_bytes(Encoding.PEM)


def server_context() -> ssl.SSLContext:
    """Return the TLS context of a server, with a key made for it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(prefix="semcrawl-live-") as file:
        file.write(self_signed(datetime.now(UTC) + timedelta(days=29)))
        file.flush()
        context.load_cert_chain(file.name)
    return context


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server saw it."""

    method: str
    #: as asked for, not normalised
    url: str
    status: int
    robots: bool = False
    #: it asks for RDF rather than for a page
    rdf_first: bool = False


class WorldServer:
    """Serves a world; use as a context manager. ``log`` holds the requests in order.

    ``latency``: seconds until it answers; many requests are under way then, as on the web. Without
    ``rules`` the robots.txt files name sitemaps, and forbid nothing.
    """

    def __init__(self, world: World, latency: float = 0.0, *, rules: bool = True) -> None:
        self.world = world
        self.latency = latency
        self._rules = rules
        self.log: list[Asked] = []
        self.address = ""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._tls: ssl.SSLContext | None = None
        self._thread = threading.Thread(target=self._run, name="world server", daemon=True)

    def __enter__(self) -> Self:
        """Listen on a free port of 127.0.0.1."""
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop."""
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(
            self._connection, "127.0.0.1", 0, limit=_HEADER_LIMIT, backlog=128
        )
        port = server.sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests on a connection until it is closed."""
        scheme = "http"
        try:
            while True:
                raw = await reader.readuntil(b"\r\n\r\n")
                lines = raw.decode("latin-1").split("\r\n")
                method, _, rest = lines[0].partition(" ")
                headers = {
                    name.strip().lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines[1:] if line)
                }
                if length := int(headers.get("content-length") or 0):
                    await reader.readexactly(length)
                target = rest.rpartition(" ")[0]
                if method == "CONNECT":
                    self._tls = self._tls or server_context()
                    writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                    await writer.start_tls(self._tls)
                    scheme = "https"
                    continue
                if target.startswith("/"):
                    target = f"{scheme}://{headers.get('host', '')}{target}"
                answer = self._answer(method, target, headers.get("accept", ""))
                if self.latency:
                    await asyncio.sleep(self.latency)
                writer.write(answer)
                await writer.drain()
                if headers.get("connection", "").lower() == "close":
                    break
        except (
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            ConnectionError,
            ssl.SSLError,
            ValueError,
            asyncio.CancelledError,  # the server stops while a crawler is still connected
        ):
            pass
        finally:
            writer.close()

    def _answer(self, method: str, target: str, accept: str) -> bytes:
        """Status line, headers and body of an answer."""
        url = normalise(target)
        headers: list[tuple[str, str]] = []
        status, body, robots = 502, b"", False
        rdf_first = prefers_rdf(accept)
        if method in ("GET", "HEAD") and url is not None:
            robots = urlsplit(url).path == "/robots.txt"
            text = self.world.robots(netloc_of(url)) if robots else ""
            if robots and not self._rules:
                lines = named_sitemaps(text.encode())
                text = "\n".join(f"Sitemap: {line}" for line in lines) or "#"
            if text:
                status, body = 200, text.encode()
                headers.append(("Content-Type", "text/plain"))
            else:
                if isinstance(self.world, Negotiating):
                    url = self.world.form_of(url, rdf_first=rdf_first)
                answer = self.world.fetch(url)
                status, body = answer.status, self.world.body(url)
                if answer.content_type:
                    headers.append(("Content-Type", answer.content_type))
                if answer.location:
                    headers.append(("Location", answer.location))
                headers.extend(answer.headers)
        self.log.append(Asked(method, target, status, robots, rdf_first))
        lines = [f"HTTP/1.1 {status} -", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {' '.join(value.split())}" for name, value in headers]
        head = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"
        return head if method == "HEAD" else head + body
