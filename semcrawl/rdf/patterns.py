"""Exports ``re``, or ``regex`` on a Python whose ``re`` fails on possessive groups.

Before 3.11.5 ``(…)*+`` misses matches when the group holds alternatives.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 11, 5):
    import re
else:
    import regex as re

__all__ = ["re"]
