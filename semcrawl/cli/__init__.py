"""The command line: what its commands share."""

__all__ = ["scrapycommands"]
