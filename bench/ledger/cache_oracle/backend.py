"""One API with its cache: what a scripted backend asks for the usage of an answer."""

from collections.abc import Sequence
from typing import Any, Protocol

from .apis import APIS, Json
from .automatic import GridCache, SlotCache, UnitCache, WhimCache
from .marked import MarkedCache
from .prompt import Block, Counts, Prompt


class Automatic(Protocol):
    """A cache that also keeps answers."""

    def answer(self, prompt: Prompt, output: Sequence[Block] = ()) -> Counts: ...


class CachedApi:
    """An API of one shape with one cache; `answer` must be called once for each request, in order of time."""

    def __init__(self, api: str, cache: MarkedCache | Automatic, tail: int = 3) -> None:
        self._api = APIS[api]
        self._cache = cache
        self._tail = tail
        self.last = Counts(0, 0, 0)
        """What the cache did with the last request."""

    def answer(self, body: Json, echo: Sequence[Any], output: int, at: float, scope: str = "") -> Json:
        """The usage of the answer to a request.

        `echo` are the messages, in the API's shape, with which a client sends the answer back; `output` its tokens.
        """
        blocks = tuple(self._api.blocks(body))
        prompt = Prompt(blocks, at, self._tail, str(body.get("model", "")), scope, _salts(body))
        if isinstance(self._cache, MarkedCache):
            self.last = self._cache.answer(prompt)
        else:
            self.last = self._cache.answer(prompt, self._blocks_of(echo))
        return self._api.usage(self.last, output)

    def _blocks_of(self, echo: Sequence[Any]) -> list[Block]:
        """The blocks that an answer adds to the next request."""
        held = {"messages": list(echo), "input": list(echo), "contents": list(echo)}
        return list(self._api.blocks(held)) if echo else []


def _salts(body: Json) -> tuple[tuple[Any, str], ...]:
    """The settings of Anthropic that change the cache from the messages on."""
    return tuple(("messages", f"{key}={body[key]}") for key in ("tool_choice", "thinking") if body.get(key))


def claude(minimum: int = 1024) -> CachedApi:
    return CachedApi("anthropic-messages", MarkedCache(minimum))


def converse(minimum: int = 1024) -> CachedApi:
    return CachedApi("bedrock-converse", MarkedCache(minimum))


def gpt_5_6(api: str = "openai-responses", *, implicit: bool = True) -> CachedApi:
    cache = MarkedCache(1024, None, 4, 80, implicit=1800.0 if implicit else None)
    return CachedApi(api, cache)


def gpt_4_1(api: str = "openai-chat") -> CachedApi:
    return CachedApi(api, GridCache(), tail=0)


def deepseek() -> CachedApi:
    return CachedApi("deepseek-chat", UnitCache(), tail=0)


def grid(step: int, *, api: str = "openai-chat", minimum: int = 0, own: int = 0) -> CachedApi:
    """xAI Responses (64), Mistral (16), vLLM (16)."""
    return CachedApi(api, GridCache(step, minimum, 3600.0, own=own), tail=0)


def slot() -> CachedApi:
    """llama.cpp."""
    return CachedApi("openai-chat", SlotCache(), tail=0)


def gemini() -> CachedApi:
    return CachedApi("gemini-generate", WhimCache(), tail=0)
