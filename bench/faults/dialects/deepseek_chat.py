"""DeepSeek's chat completions."""

from ..identities import letters, lower
from ..pieces import (
    Answer,
    Ask,
    Json,
    Message,
    Thinking,
    words,
)
from .openai_chat import OpenaiChat, chat_calls


class DeepseekChat(OpenaiChat):
    """DeepSeek in thinking mode: `reasoning_content` must come back with the calls it led to."""

    name = "deepseek-chat"
    upstream = "deepseek"
    model = "deepseek-reasoner"
    served = "deepseek-reasoner"
    thinks = True
    parallel_switch = False
    call_prefix = "call_00_"
    TAIL = {"system_fingerprint": "fp_eaab8d114b_prod0820_fp8_kvcache"}

    def url(self, ask: Ask) -> str:
        return "https://api.deepseek.com/chat/completions"

    def answer_id(self, seed: str) -> str:
        d = letters(seed, 32, "0123456789abcdef")
        return f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}"

    def said(self, message: Message) -> Json:
        said = super().said(message)
        said["content"] = said["content"] or ""
        if thinking := next((b.text for b in message.blocks if isinstance(b, Thinking)), None):
            said["reasoning_content"] = thinking
        return said

    def emitted(self, answer: Answer) -> Json:
        message: Json = {"role": "assistant", "content": answer.text}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking.text
        if answer.calls:
            message["tool_calls"] = [{"index": i, **call} for i, call in enumerate(chat_calls(answer.calls))]
        return message

    def deltas(self, answer: Answer) -> list[Json]:
        thought = answer.thinking.text if answer.thinking else ""
        rest = super().deltas(answer)[1:]
        return [
            {"role": "assistant", "content": None, "reasoning_content": ""},
            *({"content": None, "reasoning_content": word} for word in words(thought)),
            *rest,
        ]

    def usage(self, answer: Answer) -> Json:
        t = answer.tokens
        assert t is not None
        return {
            "prompt_tokens": t.input,
            "completion_tokens": t.output,
            "total_tokens": t.input + t.output,
            "prompt_tokens_details": {"cached_tokens": t.cached},
            "completion_tokens_details": {"reasoning_tokens": t.reasoning},
            "prompt_cache_hit_tokens": t.cached,
            "prompt_cache_miss_tokens": t.input - t.cached,
        }

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return (("x-ds-trace-id", lower(seed, 32)),)
