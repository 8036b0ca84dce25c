"""What a harvest tells at its end: a command of the user, and a web address."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from semcrawl.config.logins import Logins
from semcrawl.errors import UsageError
from semcrawl.terminal import complain

#: seconds that the command, and the address, have
_COMMAND_TIME, _ANSWER_TIME = 600.0, 30.0


def check_webhook(address: str) -> None:
    """Raise ``UsageError`` for an address that no request can go to; does not cite it."""
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise UsageError("--webhook must be an http or https address")


def tell_of_end(content: Mapping[str, Any], command: str, webhook: str, logins: Logins) -> bool:
    """Give the end of a harvest as JSON to a shell command and to an address; say what failed.

    Either may be empty. Return whether all went well.
    """
    body = json.dumps(content, ensure_ascii=False).encode()
    told = True
    if command:
        told = _run(command, body)
    if webhook:
        told = _post(webhook, body, logins) and told
    return told


def _run(command: str, body: bytes) -> bool:
    """Run the user's command with ``body`` as its standard input."""
    try:
        done = subprocess.run(command, shell=True, input=body, timeout=_COMMAND_TIME)  # noqa: S602
    except subprocess.TimeoutExpired:
        complain(f"the command of --on-end took longer than {_COMMAND_TIME:g} s and was killed")
        return False
    if done.returncode:
        complain(f"the command of --on-end ended with status {done.returncode}")
    return not done.returncode


def _post(address: str, body: bytes, logins: Logins) -> bool:
    """Send ``body``; the address may be secret, so only its host is told.

    The user names the host, which may be private. A redirect, which may lead anywhere, is none.
    """
    import requests  # few harvests need it

    login = logins.of(address)
    headers = {"Content-Type": "application/json", **dict(login.headers if login else ())}
    host = urlsplit(address).hostname
    try:
        with requests.Session() as session:
            session.trust_env = False  # neither proxies nor passwords of the user
            answer = session.post(
                address,
                data=body,
                headers=headers,
                timeout=_ANSWER_TIME,
                allow_redirects=False,
                stream=True,  # its body is of no use
            )
    except (requests.RequestException, OSError, ValueError) as error:
        complain(f"the webhook at {host} cannot be told: {type(error).__name__}")
        return False
    if not 200 <= answer.status_code < 300:
        complain(f"the webhook at {host} answered with status {answer.status_code}")
        return False
    return True


def ending(folder: Path, status: int, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told: the folder, the exit status and the summary of the job."""
    return {"folder": str(folder.resolve()), "status": status, "summary": dict(summary)}
