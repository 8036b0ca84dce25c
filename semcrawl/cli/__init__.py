"""The parts that the commands share."""

__all__ = ["scrapycommands"]
