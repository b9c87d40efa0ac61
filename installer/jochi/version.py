"""The version of Jochi: what install writes into the database, and what it is compared with."""

import re

__version__ = "0.2.0"


def minor_of(version: str | None) -> tuple[int, ...]:
    """Major and minor number of a version: engines that share them read each other's databases."""
    return tuple(int(number) for number in re.findall(r"\d+", version or "")[:2])
