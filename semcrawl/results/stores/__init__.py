"""Triple stores that results are delivered to."""

__all__: list[str] = ["storepipeline"]
