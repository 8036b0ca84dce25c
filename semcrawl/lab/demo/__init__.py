"""A small generated web to try the crawler on, and its server."""

from __future__ import annotations

from semcrawl.lab.demo.model import Handler, Request, Resource, ResourceKind, Response, Stream
from semcrawl.lab.demo.web import DemoServer, DemoWeb, Manifest, demo_web, serve

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
