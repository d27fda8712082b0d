"""What a request of the Responses API may demand, and the answer shows or repeats."""

from ..traits import Demand

DEMANDS = (
    Demand("no_reasoning", ("reasoning", "effort"), ("none",)),
    *(
        Demand("echo", path)
        for path in (
            ("instructions",),
            ("max_output_tokens",),
            ("max_tool_calls",),
            ("metadata",),
            ("parallel_tool_calls",),
            ("previous_response_id",),
            ("reasoning", "effort"),
            ("temperature",),
            ("text", "format", "type"),
            ("text", "verbosity"),
            ("tool_choice",),
            ("top_p",),
            ("truncation",),
        )
    ),
)
