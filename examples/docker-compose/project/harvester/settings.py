"""semcrawl's settings with the services of compose.yaml."""

import os

from semcrawl.settings import *  # noqa: F403

REDIS_URL = os.environ.get("REDIS_URL", "redis://redis:6379/0")
SEMCRAWL_CONTACT = os.environ.get("SEMCRAWL_CONTACT", "")
SEMCRAWL_STORE_URL = os.environ.get("SEMCRAWL_STORE_URL", "http://oxigraph:7878/store")
SEMCRAWL_STORE_UPDATE_URL = os.environ.get(
    "SEMCRAWL_STORE_UPDATE_URL", "http://oxigraph:7878/update"
)
