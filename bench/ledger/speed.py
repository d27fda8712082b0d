"""How long the ledger of a run takes, beside the labels of the same run, in one process."""

import time

from bench.faults.dialects import DIALECTS
from turntape.inspector.ledger import LedgerBuilder
from turntape.inspector.run.labels import label_all

from .backend import Backend, served
from .talk import talk
from .tokenizers import short_words

TURNS = 300


def speed(name: str) -> tuple[float, float]:
    """Seconds of processor time for the labels of a run of `TURNS` turns, and for its ledger."""
    backend = Backend(DIALECTS[name], short_words, marks=DIALECTS[name].flags_errors)
    run = served(backend, talk("speed", backend.dialect, TURNS), "speed")
    start = time.process_time()
    labelled = label_all(run.trips)
    middle = time.process_time()
    builder = LedgerBuilder()
    for place, one in enumerate(labelled):
        builder.add(place, one)
    builder.ledger()
    return middle - start, time.process_time() - middle
