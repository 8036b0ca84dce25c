"""Answers for the names of a made web instead of a name server, where it is on a process's path.

``HOSTILE_NAMES`` is a JSON file: ``names`` to addresses (``*.`` for any host of a domain),
``seconds`` that a name takes which is not among them, and ``silent``: endings of names that nobody
ever answers for, with the seconds until the system gives up. Addresses and names without a dot go
to the system.
"""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

_told = json.loads(Path(os.environ["HOSTILE_NAMES"]).read_text())
_systems_own = socket.getaddrinfo


def _getaddrinfo(host, *arguments, **keywords):
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or not name.endswith(".example"):
        return _systems_own(host, *arguments, **keywords)
    address = _told["names"].get(name) or _told["names"].get("*." + name.partition(".")[2])
    if address:
        return _systems_own(address, *arguments, **keywords)
    for ending, seconds in _told["silent"].items():
        if name.endswith(ending):
            time.sleep(seconds)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    time.sleep(_told["seconds"])
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


socket.getaddrinfo = _getaddrinfo
