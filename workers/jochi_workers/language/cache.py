"""Readings that are kept, bounded by their number and by their size, for as long as nobody asks to forget them."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from jochi_workers.language.reading import Reading

MOST_READINGS = 2_048
MOST_BYTES = 64 * 2**20
_BYTES_A_PART = 320
"""About what an entity or a statement takes in memory, its text not counted."""


class ReadingCache:
    """By content hash. Two texts of one hash (`Hi!`, `hi`) differ in their offsets, so that the text decides."""

    def __init__(self, most: int = MOST_READINGS, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._readings: OrderedDict[str, tuple[Reading, int]] = OrderedDict()
        self._lock = Lock()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._readings)

    def get(self, key: str, text: str) -> Reading | None:
        with self._lock:
            found = self._readings.get(key)
            if found is None or found[0].text != text:
                return None
            self._readings.move_to_end(key)
            return found[0]

    def put(self, key: str, reading: Reading) -> None:
        """Keeps it in place of the oldest; one that would take more than a quarter of the room isn't kept."""
        size = weight(reading)
        with self._lock:
            self._drop(key)
            if 4 * size > self._most_bytes:
                return
            self._readings[key] = (reading, size)
            self.bytes += size
            while len(self._readings) > self._most or self.bytes > self._most_bytes:
                self._drop(next(iter(self._readings)))

    def forget(self) -> None:
        with self._lock:
            self._readings.clear()
            self.bytes = 0

    def _drop(self, key: str) -> None:
        if found := self._readings.pop(key, None):
            self.bytes -= found[1]


def weight(reading: Reading) -> int:
    """About how many bytes it takes: four a character, thrice for the copies in its parts, and each part."""
    parts = (
        reading.sentences,
        reading.entities,
        reading.phrases,
        reading.moments,
        reading.personal,
        reading.references,
    )
    count = sum(map(len, parts)) + sum(4 + len(one.adjuncts) + len(one.clauses) for one in reading.statements)
    return 12 * len(reading.text) + _BYTES_A_PART * (1 + count)
