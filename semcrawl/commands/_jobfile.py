"""Jobs in TOML files: what they may hold, how they are read, and the one that a job folder keeps.

The keys of a job are the options of ``semcrawl harvest`` without their dashes, and all other
settings: ``crawl-delay`` is ``SEMCRAWL_CRAWL_DELAY``. A table joins its name to those of its keys:
``url`` below ``[store]`` is ``store-url``. ``[scrapy]`` holds Scrapy's own settings, and ``seeds``
the addresses to start from.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomli_w
from scrapy.settings import BaseSettings, default_settings

from semcrawl.commands._harvestoptions import CMDLINE, SETTINGS_OF_OPTIONS, set_unless_given
from semcrawl.config.checks import REDIS_NAMES
from semcrawl.config.environment import SCRAPY_REDIS
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import take
from semcrawl.settings.table import TABLE, Setting
from semcrawl.wholefiles import whole_file

#: name of the job in its folder
JOB_FILE = "job.toml"
_SEEDS, _SCRAPY = "seeds", "scrapy"
#: settings that options give under names of their own, or that only say where and how to run
_NO_KEYS = {"SEMCRAWL_JOBDIR", "SEMCRAWL_JOIN"}
#: options and settings of one run, which the kept job leaves out
#: (commands, and addresses of webhooks, may hold secrets)
_OF_RUN = frozenset(
    {"revisit", "progress", "out", "endpoint", "quiet", "verbose", "json", "fast", "watch"}
    | {"on-end", "webhook"}
)
_SCRAPYS = frozenset(
    {name for name in dir(default_settings) if name.isupper()} | {*REDIS_NAMES, *SCRAPY_REDIS}
)
#: Scrapy's settings that semcrawl gives by options or derives
_DERIVED = frozenset({"FEEDS", "LOG_FILE", "LOG_LEVEL", "ADDONS"})
_HEAD = """\
# What the last run of this harvest used: `semcrawl harvest {}` goes on with it,
# and with `--out NEW` starts it again in a new folder.
"""

#: what a key means: a setting, or an option of the command
_Key = Setting | argparse.Action


@dataclass
class Job:
    """A job that was read."""

    path: Path
    seeds: list[str] = field(default_factory=list)
    #: values of settings and of options, by their keys
    settings: dict[str, tuple[Setting, Any]] = field(default_factory=dict)
    options: dict[str, tuple[argparse.Action, Any]] = field(default_factory=dict)
    scrapy: dict[str, Any] = field(default_factory=dict)
    #: what is wrong, each in one line
    faults: list[str] = field(default_factory=list)

    def apply(self, settings: BaseSettings, opts: argparse.Namespace) -> None:
        """Set what the command line has not set, as if it had."""
        given = {row.name: value for row, value in self.settings.values()}
        set_unless_given(settings, given | self.scrapy)
        for action, value in self.options.values():
            if getattr(opts, action.dest) == action.default:
                setattr(opts, action.dest, value)

    def told(self, error: UsageError) -> UsageError:
        """Return an error that was found later, with the file and the key if it is about one."""
        text = str(error)
        for key, (row, value) in self.settings.items():
            spellings = f"{row.name}|(?<![\\w-]){key}(?![\\w-])"
            if re.search(spellings, text):
                return UsageError(f"{self.path}: {re.sub(row.name, key, text)}")
            if any(each in text for each in _texts(value)):
                return UsageError(f"{self.path}: {key}: {text}")
        for key, (_, value) in self.options.items():
            if any(each in text for each in _texts(value)):
                return UsageError(f"{self.path}: {key}: {text}")
        for name in self.scrapy:
            if name in text:
                return UsageError(f"{self.path}: {_SCRAPY}: {text}")
        if any(seed in text for seed in self.seeds):
            return UsageError(f"{self.path}: {_SEEDS}: {text}")
        return error


def _texts(value: Any) -> list[str]:
    """Return the texts of a value that are long enough to be told apart in a message."""
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, str) and len(part) > 3]


def job_keys(parser: argparse.ArgumentParser) -> dict[str, _Key]:
    """Return the keys that a job may have, from the options of the command and the table."""
    keys: dict[str, _Key] = {}
    for group in parser._action_groups:
        if group.title == "Harvest":
            keys = {
                action.option_strings[-1].lstrip("-"): action
                for action in group._group_actions
                if action.help != argparse.SUPPRESS
            }
    keys |= {key: TABLE[name] for key, name in SETTINGS_OF_OPTIONS.items()}
    taken = {*SETTINGS_OF_OPTIONS.values(), *_NO_KEYS}
    for name, row in TABLE.items():
        if name not in taken and name.startswith("SEMCRAWL_"):
            keys[name.removeprefix("SEMCRAWL_").lower().replace("_", "-")] = row
    return keys


def read_job(path: Path, keys: Mapping[str, _Key]) -> Job:
    """Read a job; its faults are told by :attr:`Job.faults`.

    Raises ``UsageError`` for a file that cannot be read or is no TOML.
    """
    with os_errors_as(UsageError, f"cannot read {path}"):
        content = path.read_bytes()
    try:
        tables = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path} is not UTF-8 (line {line})") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    job = Job(path)
    for name, value in tables.items():
        if name == _SCRAPY:
            _take_scrapys(job, value)
        else:
            _take(job, name, value, keys)
    return job


def _take(job: Job, name: str, value: Any, keys: Mapping[str, _Key]) -> None:
    key = keys.get(name)
    if name == _SEEDS:
        job.seeds, fault = (value, "") if _is_texts(value) else ([], "must be a list of texts")
    elif (
        isinstance(value, dict)
        and not (isinstance(key, Setting) and isinstance(key.default, dict))
        and any(other.startswith(f"{name}-") for other in keys)
    ):
        for inner, each in value.items():
            _take(job, f"{name}-{inner}", each, keys)
        return
    elif key is None:
        fault = _unknown("key", name, (*keys, _SEEDS, _SCRAPY))
    elif name in job.settings or name in job.options:
        fault = "is given twice"
    elif isinstance(key, Setting):
        fault = _fault_of_setting(key, name, value)
        job.settings[name] = key, value
    else:
        fault = _fault_of_option(key, value)
        job.options[name] = key, value
    if fault:
        job.settings.pop(name, None)
        job.options.pop(name, None)
        job.faults.append(f"{job.path}: {name} {fault}")


def _take_scrapys(job: Job, table: Any) -> None:
    if not isinstance(table, dict):
        job.faults.append(f"{job.path}: {_SCRAPY} must be a table of Scrapy's settings")
        return
    for name, value in table.items():
        fault = "" if name in _SCRAPYS else _unknown("setting of Scrapy", name, _SCRAPYS)
        if not fault and _has_password(value):
            fault = _in_environment(name)
        if fault:
            job.faults.append(f"{job.path}: {_SCRAPY}: {name} {fault}")
        else:
            job.scrapy[name] = value


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    plain = name.lower().removeprefix("semcrawl_").replace("_", "-")
    spelled = plain if kind == "key" else name.upper()
    [close] = get_close_matches(spelled, sorted(known), n=1, cutoff=0)
    return f"is no {kind}; did you mean {close}?"


def _fault_of_setting(row: Setting, name: str, value: Any) -> str:
    """Return what is wrong with a value of a setting, or an empty text."""
    if row.secret or (isinstance(value, str) and _has_password(value)):
        return _in_environment(row.name)
    if wanted := _wanted(row, value):
        return f"must be {wanted}, not {_shown(value)}"
    try:
        take(row, value)
    except UsageError as error:
        return str(error).removeprefix(row.name).lstrip(" :")
    return ""


def _wanted(row: Setting, value: Any) -> str:
    """Return which type a setting has in words, unless the value is of it."""
    default = row.default
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, int | float):
        is_number = isinstance(value, int if isinstance(default, int) else int | float)
        if is_number and not isinstance(value, bool):
            return ""
        if row.plain and isinstance(value, str):
            return ""  # such as ``auto``
        return "a whole number" if isinstance(default, int) else "a number"
    if isinstance(default, dict):
        return "" if isinstance(value, dict) else "a table"
    if row.plain and isinstance(value, dict):
        return ""  # such as logins, which are read later
    if isinstance(default, list) or not row.words:
        return "" if isinstance(value, str) or _is_texts(value) else "a text or a list of texts"
    return "" if isinstance(value, str) else "a text"


def _fault_of_option(action: argparse.Action, value: Any) -> str:
    """Return what is wrong with a value of an option, or an empty text."""
    if action.nargs == 0:
        return "" if isinstance(value, bool) else f"must be true or false, not {_shown(value)}"
    if isinstance(action, argparse._AppendAction):
        return "" if _is_texts(value) else f"must be a list of texts, not {_shown(value)}"
    if not isinstance(value, str):
        return f"must be a text, not {_shown(value)}"
    if action.choices and value not in action.choices:
        return f"must be one of {', '.join(action.choices)}, not {value!r}"
    return ""


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _has_password(value: Any) -> bool:
    """Whether a value is a URL with a password."""
    if isinstance(value, dict):
        return any(
            "password" in str(name).lower() or _has_password(each) for name, each in value.items()
        )
    if isinstance(value, list):
        return any(map(_has_password, value))
    if not isinstance(value, str) or "://" not in value:
        return False
    with suppress(ValueError):
        return urlsplit(value).password is not None
    return "@" in value


def _in_environment(name: str) -> str:
    return f"would show a password: set {name} in the environment"


def keep_job(
    folder: Path,
    settings: BaseSettings,
    opts: argparse.Namespace,
    seeds: Iterable[str],
    keys: Mapping[str, _Key],
) -> None:
    """Write the job that was used, with the seeds of earlier runs; raise ``UsageError``.

    Passwords are left out: who repeats the job gives them again.
    """
    path = folder / JOB_FILE
    earlier: list[str] = []
    if path.is_file():
        with suppress(UsageError):  # it is replaced
            earlier = read_job(path, keys).seeds
    job: dict[str, Any] = {_SEEDS: list(dict.fromkeys([*earlier, *seeds]))}
    tables: dict[str, Any] = {}
    for key, value in _used(settings, opts, keys):
        (tables if isinstance(value, dict) else job)[key] = value
    if scrapys := dict(_used_of_scrapy(settings)):
        tables[_SCRAPY] = scrapys
    text = _HEAD.format(path) + tomli_w.dumps(job | tables)
    with os_errors_as(UsageError, f"cannot write {path}"), whole_file(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _used(
    settings: BaseSettings, opts: argparse.Namespace, keys: Mapping[str, _Key]
) -> Iterator[tuple[str, Any]]:
    """Yield the keys whose values are not the defaults."""
    for key, meaning in keys.items():
        if key in _OF_RUN:
            continue
        if isinstance(meaning, Setting):
            value = _plain(meaning, settings.get(meaning.name))
            is_default = value == meaning.default
        else:
            value = getattr(opts, meaning.dest)
            is_default = value == meaning.default
        if not (is_default or fault_of(meaning, key, value)):
            yield key, value


def fault_of(meaning: _Key, key: str, value: Any) -> str:
    """Return what is wrong with a value of a key, or an empty text."""
    if isinstance(meaning, Setting):
        return _fault_of_setting(meaning, key, value)
    return _fault_of_option(meaning, value)


def _plain(row: Setting, value: Any) -> Any:
    """Return the value of a setting as TOML holds it."""
    if row.plain:
        if isinstance(row.default, dict) and isinstance(value, str):
            with suppress(ValueError):
                return json.loads(value or "{}")
        return list(value) if isinstance(value, tuple) else value
    found = take(row, value)
    return list(found) if isinstance(found, tuple) else found


def _used_of_scrapy(settings: BaseSettings) -> Iterator[tuple[str, Any]]:
    """Yield Scrapy's settings that the user gave."""
    for name in sorted(_SCRAPYS - _DERIVED):
        if (settings.getpriority(name) or 0) >= CMDLINE:
            value = settings.get(name)
            if isinstance(value, str | int | float) and not _has_password(value):
                yield name, value
