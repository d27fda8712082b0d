"""The tools of all servers, as their lists state them, and what a list says against an earlier one."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field

from turntape.cassettes.frozen import mutable

from ..wire.json_value import Object, as_text, compact, is_object, objects_in
from .answers import of_headers, of_schemas
from .definitions import Definition
from .session_state import Session, WireNote, is_new
from .tool_messages import ToolMessage

_LATE = 2.0
"""Seconds. A client that reads a list again does so within this time."""


@mutable
class Catalogue:
    """By server: its tools, and the changes that it announced."""

    tools: dict[str, dict[str, Definition]] = field(default_factory=dict[str, dict[str, Definition]])
    """By server, then by name: the tools as they were listed last."""
    ever: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    """By server: the names of all tools that it ever listed, where the last page of a list was read."""
    listings: int = 0
    """How often tools were listed."""
    changing: dict[str, tuple[float, int]] = field(default_factory=dict[str, tuple[float, int]])
    """Servers that announced that their tools change, with the time and the round trip of that."""
    ambiguous: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The server and the name of tools that one list defines twice."""
    repeated: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """The server and the name of tools that one list has twice, in whatever words."""

    def known(self, server: str, name: object) -> Definition | None:
        """A tool as its server listed it last."""
        return self.tools.get(server, {}).get(as_text(name) or "")

    def announced(self, server: str, at: float, index: int) -> None:
        """A server says that its tools change."""
        self.changing.setdefault(server, (at, index))

    def changed_before(self, at: float) -> dict[str, int]:
        """Servers whose tools have changed and were not listed again in time for a request sent then.

        By server, the round trip of the announcement.
        """
        return {server: index for server, (said, index) in self.changing.items() if said + _LATE < at}

    def hides(self, server: str, name: str) -> bool:
        """Whether a server has listed all of its tools, announced no change since, and this was never one of them."""
        return bool(self.ever.get(server)) and name not in self.ever[server] and server not in self.changing

    def listed(self, session: Session, asked: ToolMessage, index: int, result: Object) -> Iterator[WireNote]:
        """A page of a list, in the round trip `index`: what is wrong with it, and with its tools."""
        server = session.server
        known = self.tools.setdefault(server, {})
        page = as_text(result.get("nextCursor"))
        if result.get("nextCursor") is not None and page is None and is_new(session, "cursor_wrong"):
            session.known_wrong.add(asked.index)
            yield WireNote("cursor_wrong", server, index, compact(result["nextCursor"])[:40])
        before = dict(known)
        if "cursor" not in asked.params:
            session.before = before
            early = session.pages.early(asked.at)
            kept = {name: one for name, one in known.items() if one.index in early}
            known.clear()
            known.update(kept)
        session.pages.answered(asked.at, as_text(asked.params.get("cursor")), index, page)
        yield from self._tools(session, asked, index, result, before)
        gone = next((name for name in session.before if name not in known), None) if page is None else None
        if gone is not None and server not in self.changing and is_new(session, f"tool_gone {gone}"):
            yield WireNote("tool_gone", server, index, gone, before=session.before[gone].index)
        if session.pages.are_read:
            self.ever[server] |= set(known)
        self.changing.pop(server, None)
        self.listings += 1

    def _tools(
        self, session: Session, asked: ToolMessage, index: int, result: Object, before: dict[str, Definition]
    ) -> Iterator[WireNote]:
        """Take the tools of one page into those that are known; `before`: those that were known until then."""
        server = session.server
        known = self.tools[server]
        here: dict[str, Definition] = {}
        for fields in objects_in(result.get("tools")):
            name = as_text(fields.get("name"))
            if name is None:
                continue
            made = Definition.read(fields, server, index)
            if name in here:
                self.repeated.add((server, name))
                yield from self._again(session, here[name], made)
                continue
            known[name] = here[name] = made
            if not is_object(made.schema) and is_new(session, "no_schema"):
                session.known_wrong.add(asked.index)
                yield WireNote("no_schema", server, index, name)
            earlier = before.get(name)
            if earlier is None or earlier.differs(made):
                yield from of_schemas(session, made)
                yield from of_headers(session, made)
            if earlier is not None and (parts := earlier.differs(made)):
                said = "announced" if server in self.changing else "not announced"
                notes = (", ".join(parts), said)
                yield WireNote("definition_changed", server, index, name, "; ".join(notes), earlier.index)

    def _again(self, session: Session, first: Definition, again: Definition) -> Iterator[WireNote]:
        """One page has a tool twice."""
        if parts := first.differs(again):
            self.ambiguous.add((first.server, first.name))
            if is_new(session, f"listed_twice {first.name}"):
                yield WireNote("listed_twice", first.server, again.index, first.name, ", ".join(parts))
        elif is_new(session, "listed_again"):
            wrong = f"has the tool {first.name!r} twice"
            yield WireNote("answer_odd", first.server, again.index, "tools/list", wrong)
