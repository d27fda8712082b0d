"""What a request to Gemini may demand and the answer shows, in both spellings of its fields."""

from collections.abc import Iterator

from ..traits import Demand


def _demands(config: str, answers: str, logprobs: str, thinking: str, budget: str) -> Iterator[Demand]:
    shown = ("logprobsResult", "logprobs_result", "avgLogprobs")
    yield Demand("answers", (config, answers))
    yield Demand("logprobs", (config, logprobs), shown=shown)
    yield Demand("no_reasoning", (config, thinking, budget), (0,))


DEMANDS = (
    *_demands("generationConfig", "candidateCount", "responseLogprobs", "thinkingConfig", "thinkingBudget"),
    *_demands("generation_config", "candidate_count", "response_logprobs", "thinking_config", "thinking_budget"),
)
