"""Serves a world over loopback HTTP, as a proxy for its hosts, and logs the requests.

A crawler uses it by ``http_proxy`` and ``https_proxy``. Nothing leaves the machine: URLs outside
the world answer 404. Over TLS (``CONNECT``) the server acts as every host itself. It runs in its
own thread, so that a crawl in this process or another can use it.
"""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from semcrawl.lab.worlds import Negotiating, World
from semcrawl.loopback import LoopbackServer
from semcrawl.sources import named_sitemaps
from semcrawl.sources.negotiation import prefers_rdf
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import normalise


def self_signed(ends: datetime) -> bytes:
    """Return a new key and a certificate valid for the 30 days before ``ends``, as PEM."""
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
    """Return the TLS context of a server, with a new key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(prefix="semcrawl-live-") as file:
        file.write(self_signed(datetime.now(UTC) + timedelta(days=29)))
        file.flush()
        context.load_cert_chain(file.name)
    return context


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as the server received it."""

    method: str
    #: as requested, not normalised
    url: str
    status: int
    robots: bool = False
    #: whether it prefers RDF to a page
    rdf_first: bool = False


class WorldServer(LoopbackServer):
    """Serves a world; use as a context manager. ``log`` holds the requests in order.

    It answers after ``latency`` seconds, so that many requests are in flight, as on the web.
    Without ``rules`` the robots.txt files name sitemaps, but forbid nothing.
    """

    def __init__(self, world: World, latency: float = 0.0, *, rules: bool = True) -> None:
        super().__init__()
        self.world = world
        self.latency = latency
        self._rules = rules
        self.log: list[Asked] = []
        self._tls: ssl.SSLContext | None = None

    async def exchange(
        self, method: str, target: str, headers: Mapping[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether to keep the connection open."""
        if method == "CONNECT":
            self._tls = self._tls or server_context()
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            await writer.start_tls(self._tls)
            return True
        if target.startswith("/"):
            scheme = "https" if writer.get_extra_info("sslcontext") else "http"
            target = f"{scheme}://{headers.get('host', '')}{target}"
        answer = self._answer(method, target, headers.get("accept", ""))
        if self.latency:
            await asyncio.sleep(self.latency)
        writer.write(answer)
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    def _answer(self, method: str, target: str, accept: str) -> bytes:
        """Return the status line, headers and body of an answer."""
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
