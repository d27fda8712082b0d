"""How much memory recording and reading may take: bounds that no healthy traffic reaches."""

import threading

MOST_OF_A_BODY = 64 << 20
"""How many bytes of a body are kept. A body that is longer when it is decoded is stored encoded, as it was received."""
MOST_IN_TOTAL = 256 << 20
"""About how many bytes the bodies and messages of round trips that are running may take together."""
PER_PIECE = 120
"""About how many bytes of memory a piece of a body takes in addition to its content."""
NOT_KEPT = "is not kept"
"""How the fault of a round trip ends when a part of its traffic is missing from the record."""


class Memory:
    """The memory that running round trips share. It is counted, not reserved. Any thread may count."""

    def __init__(self, most: int = MOST_IN_TOTAL) -> None:
        self.most = most
        self.taken = 0
        self._lock = threading.RLock()

    def take(self, size: int) -> bool:
        """Count `size` more bytes; False, and nothing is counted, when they are too many."""
        with self._lock:
            if self.taken + size > self.most:
                return False
            self.taken += size
            return True

    def free(self, size: int) -> None:
        with self._lock:
            self.taken -= size
