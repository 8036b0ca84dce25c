"""Crawls on a Redis: what they were begun with, and who may join."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from redis import Redis
from redis.client import Pipeline
from redis.crc import key_slot
from redis.exceptions import BusyLoadingError, RedisError, ResponseError, WatchError
from scrapy.settings import BaseSettings

from semcrawl.config.redisserver import make_client
from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier.redis.cluster import ASK_SLOTS, SlotMap
from semcrawl.frontier.redis.connection import Addresses, plain_reason
from semcrawl.frontier.redis.packing import Keys
from semcrawl.frontier.workers import DEFAULT_NAME, JobName, crawl_name
from semcrawl.metadata.database import CRAWL_DB
from semcrawl.settings.reader import Values
from semcrawl.web.hosts import public_address

#: seconds to wait for a server's answer
_TIMEOUT = 5


class CrawlServers:
    """The servers of a frontier, and its number of shards.

    Each method raises ``FrontierUnavailable`` if a server that it needs is away.
    """

    def __init__(self, addresses: Addresses, wanted: int = 0) -> None:
        self.addresses = addresses
        #: number of shards in the settings; 0 = not set
        self.wanted = wanted

    @classmethod
    def of(cls, settings: BaseSettings) -> CrawlServers:
        """Read the settings; raise ``UsageError`` for a wrong one."""
        wanted = Values(settings)["SEMCRAWL_FRONTIER_SHARDS"]
        return cls(Addresses.read(str(settings.get("REDIS_URL"))), wanted)

    def check(self) -> None:
        """Check that all servers answer, or one of the named nodes of a cluster."""
        if self.addresses.cluster:
            self._slots()
            return
        for url in self.addresses.urls:
            with self._reached(url):
                pass

    def shards(self, name: str) -> int:
        """Return the number of shards that a crawl has or will have.

        Raises ``UsageError`` if it began with another number than the settings ask for.
        """
        kept = self._kept(name)
        several = len(self.addresses.urls) > 1 and not self.addresses.cluster
        if kept and ((self.wanted and kept != self.wanted) or (several and kept == 1)):
            asked = self.wanted or len(self.addresses.urls)
            raise UsageError(
                f"the crawl {name!r} began with {'one shard' if kept == 1 else f'{kept} shards'},"
                f" not {asked}: its frontier can be exported, and imported into a new crawl"
            )
        if kept or self.wanted:
            return kept or self.wanted
        if self.addresses.cluster:
            return max(1, self._slots().primaries)
        return len(self.addresses.urls)

    @contextmanager
    def home(self, name: str) -> Iterator[tuple[Redis, Keys]]:
        """Connect to the server of a crawl's first shard; yield it and that shard's keys.

        The first shard has everything that belongs to the whole crawl.
        """
        keys = Keys(name if self.shards(name) == 1 else f"{name}.0")
        with self._reached(self._server_of(keys)) as redis:
            yield redis, keys

    def drop(self, name: str) -> int:
        """Delete all keys of a crawl on all of its servers; return their number.

        The lists of seeds stay, as other crawls may read them.
        """
        shards = self.shards(name)
        dropped = 0
        for number in range(shards):
            keys = Keys(name if shards == 1 else f"{name}.{number}")
            cluster = self.addresses.cluster
            url = self._server_of(keys) if cluster else self.addresses.of_shard(number)
            with self._reached(url) as redis:
                pattern = _GLOB.sub(r"\\\g<0>", keys.root) + "*"
                found = redis.scan_iter(match=pattern.encode("utf-8", "surrogatepass"), count=1000)
                while some := list(islice(found, 1000)):
                    dropped += redis.unlink(*some)
        return dropped

    def _kept(self, name: str) -> int:
        """Return the number of shards that a crawl began with; 0 if it did not begin."""
        for keys in (Keys(name), Keys(f"{name}.0")):
            with self._reached(self._server_of(keys)) as redis:
                try:
                    version, shards = redis.hmget(keys.meta, ["format", "shards"])
                except ResponseError as error:
                    if "WRONGTYPE" in str(error):
                        return 1  # the opening of the frontier reports it
                    raise
            if version is not None and (shards is None) == (keys.prefix == name):
                return int(shards or 1)
        return 0

    def _server_of(self, keys: Keys) -> str:
        if not self.addresses.cluster:
            return self.addresses.urls[0]
        slot = key_slot(keys.meta.encode("utf-8", "surrogatepass"))
        found = self._slots().primary(slot)
        if found is None:
            raise FrontierUnavailable(
                f"the cluster at REDIS_URL {public_address(self.addresses.whole)} is not whole: no"
                f" node serves slot {slot}, that of the crawl {keys.prefix!r}"
            )
        return found

    def _slots(self) -> SlotMap:
        """Return the view of the first node that answers."""
        for url in self.addresses.urls[:-1]:
            try:
                return self._slots_at(url)
            except FrontierUnavailable:
                continue
        return self._slots_at(self.addresses.urls[-1])

    def _slots_at(self, url: str) -> SlotMap:
        with self._reached(url) as redis:
            try:
                reply: list[Any] = redis.execute_command(*ASK_SLOTS)  # type: ignore[no-untyped-call]
                return SlotMap.read(reply, url)
            except ResponseError as error:
                if "cluster support disabled" in str(error):
                    raise UsageError(
                        f"REDIS_URL: the Redis at {public_address(url)} is no node of a cluster;"
                        " leave out +cluster"
                    ) from None
                raise

    @contextmanager
    def _reached(self, url: str) -> Iterator[Redis]:
        shown = public_address(url)
        try:
            with make_client(
                url, socket_connect_timeout=_TIMEOUT, socket_timeout=_TIMEOUT
            ) as redis:
                _wait_until_loaded(redis)
                yield redis
        except ValueError as error:
            raise UsageError(f"REDIS_URL {shown}: {error}") from None
        except (RedisError, OSError) as error:
            urls = self.addresses.urls
            which = f" ({urls.index(url) + 1} of {len(urls)})" if url in urls and urls[1:] else ""
            raise FrontierUnavailable(
                f"no Redis at REDIS_URL {shown}{which}: {plain_reason(error)}"
            ) from None


def _wait_until_loaded(redis: Redis) -> None:
    """Wait some seconds for a server that has restarted and is loading its data."""
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            redis.ping()
            return
        except BusyLoadingError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.05)


#: signs that a pattern of keys gives a meaning
_GLOB = re.compile(r"[*?\[\]\\^]")
#: most characters of a folder's name in a crawl's name
_LONGEST_NAME = 40
#: most folders and lists of seeds in a charter
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Membership:
    """A run that asks to take part in a crawl."""

    #: permanent id of the job folder
    folder: str
    #: host and absolute path of the folder
    place: str
    #: digest of the seeds; empty without seeds
    seeds: str = ""
    first_seed: str = ""
    scope: str = "site"
    #: whether the user gave the scope
    scope_given: bool = False
    #: whether it asks to join the crawl of that name
    joins: bool = False
    #: whether it is a single worker, which may have a folder of its own
    worker: bool = False
    #: whether the folder has records of earlier runs
    began_before: bool = False


@dataclass(frozen=True, slots=True)
class Charter:
    """The folders, seeds and scope of a crawl."""

    scope: str
    #: place of each participating folder, by the folder's id
    folders: dict[str, str] = field(default_factory=dict)
    #: digests of the given lists of seeds
    seeds: tuple[str, ...] = ()
    first_seed: str = ""
    #: whether the crawl is older than its charter, so that unknown folders may take part
    adopted: bool = False

    @classmethod
    def of(cls, run: Membership, *, adopted: bool = False) -> Self:
        """Make the charter of a crawl that this run begins."""
        seeds = (run.seeds,) if run.seeds else ()
        return cls(run.scope, {run.folder: run.place}, seeds, run.first_seed, adopted)

    @classmethod
    def read(cls, text: bytes | str) -> Self | None:
        """Read the text of :meth:`dump`; return ``None`` for any other."""
        try:
            data: dict[str, Any] = json.loads(text)
            return cls(
                str(data["scope"]),
                {str(name): str(place) for name, place in data["folders"].items()},
                tuple(map(str, data["seeds"])),
                str(data["first_seed"]),
                bool(data["adopted"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def dump(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def admit(self, run: Membership, name: str) -> Charter:
        """Admit a run; return the charter with it.

        A folder of the crawl may bring other seeds and another scope. Raises ``UsageError`` for a
        run that is meant for another crawl.
        """
        old = self.adopted and (run.began_before or run.worker)
        if run.folder not in self.folders and not old:
            self._check(run, name)
        seeds = self.seeds
        if run.seeds and run.seeds not in seeds:
            seeds = (*seeds, run.seeds)[-_MOST_KEPT:]
        folders = self.folders
        if run.folder in folders or len(folders) < _MOST_KEPT:
            folders = {**folders, run.folder: run.place}
        scope = run.scope if run.folder in self.folders and run.scope_given else self.scope
        first_seed = self.first_seed or run.first_seed
        return replace(self, scope=scope, folders=folders, seeds=seeds, first_seed=first_seed)

    def _check(self, run: Membership, name: str) -> None:
        """Refuse a run from another folder that does not ask to join, or cannot."""
        what = f"the crawl {name} on this Redis is that of {self._known_by()}"
        if run.scope_given and run.scope != self.scope:
            raise UsageError(
                f"{what} and has the scope {self.scope}, not {run.scope}; leave the scope out to "
                "join it, or give this crawl a name of its own (SEMCRAWL_CRAWL_NAME)"
            )
        if run.joins:
            return
        if not run.worker and run.place in self.folders.values():
            raise UsageError(
                f"{what}, which was deleted: to start afresh, drop it by `semcrawl frontier "
                f"-s REDIS_URL=… -s SEMCRAWL_CRAWL_NAME={name} --drop`; to go on give --join {name}"
            )
        if not run.worker:
            raise UsageError(
                f"{what}; to work on it together give --join {name}, for a crawl of its own leave "
                "SEMCRAWL_CRAWL_NAME out or give another one"
            )
        if run.seeds and self.seeds and run.seeds not in self.seeds:
            raise UsageError(
                f"{what}, and has other seeds; to add these to it give -s SEMCRAWL_JOIN=1, for a "
                "crawl of their own another SEMCRAWL_CRAWL_NAME"
            )

    def _known_by(self) -> str:
        place = next(iter(self.folders.values()), "another run")
        return f"{place} (from {self.first_seed})" if self.first_seed else place


def digest_of(seeds: Iterable[str]) -> str:
    """Return a digest of a set of seeds; empty for none."""
    unique = sorted(set(seeds))
    return hashlib.sha256("\n".join(unique).encode()).hexdigest()[:16] if unique else ""


def place_of(folder: Path) -> str:
    """Return host and absolute path of a folder."""
    return f"{socket.gethostname()}:{folder.resolve()}"


def name_for(folder: Path) -> str:
    """Name a crawl by its job folder: the folder's name, and a hash of host and path."""
    place = place_of(folder)
    readable = "".join(
        sign if sign.isalnum() or sign in "-_." else "-" for sign in folder.resolve().name
    )
    code = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{readable[:_LONGEST_NAME] or 'crawl'}-{code}"


#: settings with a higher priority were given by the user
_DEFAULT_PRIORITY = 20


def admit_harvest(settings: BaseSettings, folder: Path, seeds: Sequence[str]) -> str:
    """Admit a harvest to the crawl of its job folder, or to the named one.

    Returns the crawl's name, and sets it and the crawl's scope in the settings. Raises
    ``UsageError`` for a harvest that is meant for another crawl, ``FrontierUnavailable`` for an
    absent server.
    """
    servers = CrawlServers.of(settings)
    own = JobName.read(folder)
    name = settings.get("SEMCRAWL_CRAWL_NAME") or (own.crawl if own else "")
    name = name or _first_name(servers, folder)
    run = _membership(settings, folder, seeds, own)
    if own is None:
        own = JobName.fresh(name)
        run = replace(run, folder=own.folder)
    scope = _admitted(servers, name, run)
    if JobName.read(folder) is None:
        own.write(folder)
    settings.set("SEMCRAWL_CRAWL_NAME", name, "cmdline")
    settings.set("SEMCRAWL_SCOPE", scope, "cmdline")
    return name


def admit_worker(settings: BaseSettings, folder: Path, seeds: Sequence[str], scope: str) -> None:
    """Admit a spider to the named crawl; raise as :func:`admit_harvest` does.

    With an empty ``scope`` it takes the crawl's.
    """
    run = replace(_membership(settings, folder, seeds, JobName.read(folder)), worker=True)
    if scope:
        run = replace(run, scope=scope, scope_given=True)
    found = _admitted(CrawlServers.of(settings), crawl_name(settings), run)
    settings.set("SEMCRAWL_SCOPE", found, "cmdline")


def _first_name(servers: CrawlServers, folder: Path) -> str:
    """Name the crawl of a folder without a name.

    A crawl that began when all crawls had the same name keeps that name.
    """
    name = name_for(folder)
    own = any((folder / name).exists() for name in ("frontier", "frontier.former", "frontier.db"))
    shared_before = (folder / CRAWL_DB).is_file() and not own
    if not shared_before:
        return name
    with servers.home(name) as (redis, keys):
        if redis.exists(keys.meta):
            return name
    with servers.home(DEFAULT_NAME) as (redis, keys):
        if not redis.exists(keys.meta):
            return name
        charter = _read(redis, keys)
    return DEFAULT_NAME if charter is None or charter.adopted else name


def _membership(
    settings: BaseSettings, folder: Path, seeds: Sequence[str], name: JobName | None
) -> Membership:
    place = place_of(folder)
    return Membership(
        folder=name.folder if name else place,
        place=place,
        seeds=digest_of(seeds),
        first_seed=seeds[0] if seeds else "",
        scope=settings.get("SEMCRAWL_SCOPE") or "site",
        scope_given=(settings.getpriority("SEMCRAWL_SCOPE") or 0) > _DEFAULT_PRIORITY,
        joins=settings.getbool("SEMCRAWL_JOIN"),
        began_before=(folder / CRAWL_DB).is_file(),
    )


def _admitted(servers: CrawlServers, name: str, run: Membership) -> str:
    """Enter a run into a crawl's charter; return the crawl's scope."""
    with servers.home(name) as (redis, keys):
        while True:
            with suppress(WatchError), redis.pipeline() as transaction:
                return _entered(transaction, keys, name, run)
            # another run entered at the same time


def _entered(transaction: Pipeline, keys: Keys, name: str, run: Membership) -> str:
    key = keys["charter"]
    try:
        transaction.watch(key, keys.meta)  # type: ignore[no-untyped-call]
        charter = _read(transaction, keys)
        there = bool(transaction.exists(keys.meta))
        if run.joins and not there and charter is None:
            raise UsageError(f"there is no crawl {name!r} to join on this Redis")
        charter = Charter.of(run, adopted=there) if charter is None else charter.admit(run, name)
        transaction.multi()
        transaction.set(key, charter.dump())
        transaction.execute()
    except ResponseError as error:
        if "WRONGTYPE" in str(error):
            return run.scope  # the opening of the frontier reports it
        raise
    return charter.scope


def _read(redis: Redis, keys: Keys) -> Charter | None:
    """Return the charter of a crawl, if it has one."""
    text = redis.get(keys["charter"])
    return None if text is None else Charter.read(text)
