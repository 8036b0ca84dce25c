"""Worlds of bad hosts beside good ones, by name."""

from __future__ import annotations

from dataclasses import replace

from hostile.run import World
from hostile.worlds import away, bodies, claims, slow, traps

_ALONE: dict[str, World] = {
    world.name: world for part in (slow, traps, bodies, away, claims) for world in part.WORLDS
}
#: some of them again: with two workers, and without the proxy that they have. (With the
#: 16 hosts that turn to dripping, two workers take longer than they may on a busy machine)
_OF_TWO = ("20 dripping hosts", "20 slow contexts")
_DIRECT = ("20 dripping hosts",)

WORLDS: dict[str, World] = _ALONE | {
    world.name: world
    for world in (
        *(
            replace(_ALONE[name], name=f"{name}, two workers", options=("--workers", "2"))
            for name in _OF_TWO
        ),
        *(replace(_ALONE[name], name=f"{name}, direct", direct=True) for name in _DIRECT),
    )
}
