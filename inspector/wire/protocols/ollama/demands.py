"""What a request to Ollama may demand and the answer shows."""

from ..traits import Demand

DEMANDS = (
    Demand("logprobs", ("logprobs",), shown=("logprobs",)),
    Demand("no_reasoning", ("think",), (False,)),
)
