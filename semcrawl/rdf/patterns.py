"""Regular expressions with possessive groups: ``re``, or ``regex`` where ``re`` gets them wrong.

Python before 3.11.5 matches ``(…)*+`` and the like wrongly when the group holds alternatives, and
gives up on what it should find. ``regex`` knows the same expressions.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 11, 5):
    import re
else:
    import regex as re

__all__ = ["re"]
