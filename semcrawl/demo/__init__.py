"""A small generated web to try the crawler on, and its server."""

from semcrawl.demo.model import Resource, ResourceKind, Response
from semcrawl.demo.server import DemoServer, serve
from semcrawl.demo.stream import Handler, Request, Stream
from semcrawl.demo.web import DemoWeb, Manifest, demo_web

__all__ = [
    "DemoServer",
    "DemoWeb",
    "Handler",
    "Manifest",
    "Request",
    "Resource",
    "ResourceKind",
    "Response",
    "Stream",
    "demo_web",
    "serve",
]
