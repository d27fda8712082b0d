"""Pairing for APIs that want the results of an answer right after it: each answer is matched with what follows it."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence

from ...wire.protocols.traits import Pairing
from ...wire.values import Part
from .model import CallPart, Entry, ResultPart, ToolPairing, known_ids
from .settled import Settled


def pair_in_place(
    entries: Sequence[Entry], results: list[ResultPart], rules: Pairing, settled: Settled, found: ToolPairing
) -> None:
    """Adds to `found` what does not fit in the entries after the settled ones, answer by answer."""
    by_id = ChainMap({result.id: result for result in results if result.id}, settled.results)
    placed: set[ResultPart] = set()
    for calls, end in _answers(entries, rules):
        window = _window(entries, end)
        late = _late(entries, end + len(window))
        matched = _AnswerMatch(calls, window, late, by_id, placed, rules, settled, found)
        matched.match()
    listed = known_ids(entries)
    found.orphans += [
        result.part
        for result in results
        if result not in placed and result.id not in listed and result.id not in settled.listed
    ]


def _answers(entries: Sequence[Entry], rules: Pairing) -> Iterator[tuple[list[CallPart], int]]:
    """The calls of each answer that makes any, and the place behind it. An answer may be several messages."""
    start = 0
    while start < len(entries):
        end, calls = start, list[CallPart]()
        while end < len(entries) and entries[end].is_answer:
            if calls and entries[end].calls and not rules.joins_answers:
                break
            calls += entries[end].calls
            end += 1
        if calls:
            yield calls, end
        start = max(end, start + 1)


def _window(entries: Sequence[Entry], start: int) -> list[Entry]:
    """The messages after an answer in which its results belong."""
    window: list[Entry] = []
    for entry in entries[start:]:
        if entry.is_answer:
            break
        if window and not entry.results and window[-1].message.role == "tool":
            break
        window.append(entry)
    return window


def _late(entries: Sequence[Entry], start: int) -> list[ResultPart]:
    """The results without ids that come after the window of an answer and before the next one."""
    late: list[ResultPart] = []
    for entry in entries[start:]:
        if entry.is_answer:
            break
        late += [result for result in entry.results if result.id is None]
    return late


class _AnswerMatch:
    """The calls of one answer, matched one by one with the results after it."""

    def __init__(
        self,
        calls: list[CallPart],
        window: list[Entry],
        late: list[ResultPart],
        by_id: Mapping[str, ResultPart],
        placed: set[ResultPart],
        rules: Pairing,
        settled: Settled,
        found: ToolPairing,
    ) -> None:
        self.calls, self.window, self.late, self.by_id = calls, window, late, by_id
        self.placed, self.rules, self.settled, self.found = placed, rules, settled, found
        self.free = [result for entry in window for result in entry.results]
        """Results of the window that answer no call yet."""
        self.place = {result: place for place, result in enumerate(self.free)}
        self.mine: list[ResultPart] = []
        """Results that answer a call of this answer, in the order of the calls."""

    def match(self) -> None:
        found = {call: result for call in self.calls if (result := self._taken(self._result_of(call)))}
        for call in self.calls:
            if call not in found and (result := self._taken(self._by_place(call))) is not None:
                self.found.misnamed.append((call.part, result.part))
                found[call] = result
        self.mine = [found[call] for call in self.calls if call in found]
        for call in self.calls:
            if call not in found:
                self._look_elsewhere(call)
        self._check_repeated_results()
        self._check_order()
        self._check_messages()

    def _taken(self, result: ResultPart | None) -> ResultPart | None:
        """`result`, which answers no other call from now on."""
        if result is not None:
            self.free.remove(result)
            self.placed.add(result)
        return result

    def _result_of(self, call: CallPart) -> ResultPart | None:
        """The result of a call in the window: by its id, or without ids by its name."""
        if (result := self._by_id(call)) is not None:
            if self.rules.named_results and result.name not in (None, call.name):
                self.found.misnamed.append((call.part, result.part))
            return result
        if call.id is not None and any(result.id is not None for result in self.free):
            return None
        return self._by_name(call)

    def _by_id(self, call: CallPart) -> ResultPart | None:
        return next((result for result in self.free if call.id and result.id == call.id), None)

    def _by_name(self, call: CallPart) -> ResultPart | None:
        free = (result for result in self.free if result.id is None or call.id is None)
        return next((result for result in free if result.name in (call.name, None)), None)

    def _by_place(self, call: CallPart) -> ResultPart | None:
        """The first result that is left for a call that no id or name finds: APIs without ids link by position."""
        if call.id is not None and any(result.id is not None for result in self.free):
            return None
        left = (result for result in self.free if result.id is None or call.id is None)
        new = (one for one in left if not self.settled.repeats(one))
        return next((one for one in new if not any(one.repeats(other) for other in self.placed)), None)

    def _look_elsewhere(self, call: CallPart) -> None:
        """A call without a result in the window: its result is elsewhere, or missing."""
        if call.id is None:
            late = (result for result in self.late if result not in self.placed)
            result = next((result for result in late if result.name in (call.name, None)), None)
        else:
            result = self.by_id.get(call.id)
        if result is None:
            self.found.missing.append(call.part)
        elif result not in self.mine:  # else the call is in the history twice, and its result answers the first one
            self.found.displaced.append((call.part, result.part))
            self.placed.add(result)

    def _check_repeated_results(self) -> None:
        """Without ids, a result that repeats one of these word by word answers the same call."""
        for extra in self.free:
            if extra.id is not None:
                continue
            first = next((result for result in self.mine if extra.repeats(result)), None)
            if first is not None:
                self.found.duplicate_results.append((first.part, extra.part))
                self.placed.add(extra)

    def _check_order(self) -> None:
        order = [self.place[result] for result in self.mine]
        if order != sorted(order):
            self.found.reordered.append(tuple(call.part for call in self.calls))

    def _check_messages(self) -> None:
        """Whether the results are in the messages, and at the place in them, that the API demands."""
        homes = [entry for entry in self.window if any(result in self.mine for result in entry.results)]
        if not homes:
            return
        home, first = homes[0], homes[0].results[0].part
        if self.rules.one_message and len(homes) > 1:
            self.found.split.append((home.message, homes[1].message))
        if self.rules.results_first:
            if (result := self._behind_content(home)) is not None:
                self.found.preceded.append(result)
        elif self.window[0] is not home and self.window[0].message.role != "tool":
            self.found.displaced.append((self.calls[0].part, first))

    def _behind_content(self, home: Entry) -> Part | None:
        """The first result that has text or media between itself and the answer."""
        results = {id(result.part) for result in home.results}
        content = False
        for entry in self.window:
            for part in entry.message.parts:
                if id(part) in results and content:
                    return part
                content = content or part.kind in ("text", "media")
            if entry is home:
                break
        return None
