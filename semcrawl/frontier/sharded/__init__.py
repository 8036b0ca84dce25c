"""A frontier in several shards: each a frontier on a Redis, with the links of its hosts."""

__all__: list[str] = []
