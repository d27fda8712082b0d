"""What a chat request may demand and the answer shows. Reasoning is turned off under the names of many servers."""

from ..traits import Demand

DEMANDS = (
    Demand("answers", ("n",)),
    Demand("logprobs", ("logprobs",), shown=("logprobs",)),
    Demand("no_reasoning", ("enable_thinking",), (False,)),
    Demand("no_reasoning", ("chat_template_kwargs", "enable_thinking"), (False,)),
    Demand("no_reasoning", ("chat_template_kwargs", "thinking"), (False,)),
    Demand("no_reasoning", ("reasoning", "effort"), ("none",)),
    Demand("no_reasoning", ("reasoning", "enabled"), (False,)),
    Demand("no_reasoning", ("reasoning_effort",), ("none",)),
    Demand("no_reasoning", ("think",), (False,)),
    Demand("no_reasoning", ("thinking", "type"), ("disabled",)),
)
