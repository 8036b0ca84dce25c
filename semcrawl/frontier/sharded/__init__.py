"""A frontier in shards: each is a frontier on a Redis, with the links of its hosts."""

__all__: list[str] = []
