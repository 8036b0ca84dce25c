"""Worlds of bad hosts beside good ones, by name."""

from __future__ import annotations

from hostile.run import World
from hostile.worlds import away, bodies, claims, slow, traps

WORLDS: dict[str, World] = {
    world.name: world for part in (slow, traps, bodies, away, claims) for world in part.WORLDS
}
