"""What a request of the Responses API may demand, and the answer shows or repeats."""

from ..traits import Demand

DEMANDS = (
    Demand("no_reasoning", ("reasoning", "effort"), ("none",)),
    *(
        Demand("echo", (name,))
        for name in (
            "instructions",
            "max_output_tokens",
            "metadata",
            "parallel_tool_calls",
            "previous_response_id",
            "temperature",
            "top_p",
        )
    ),
)
