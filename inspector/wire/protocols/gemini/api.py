"""Gemini as the tape sees it, at its own host and on Vertex."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields

from .faults import FAULTS

API = Api(
    path=re.compile(r".*models/[^/]+(?::|%3A)\w+"),
    ignored=IgnoredFields(
        pointers=("/labels", "/generationConfig/seed", "/generation_config/seed"),
        ids=(
            "/contents/*/parts/*/functionCall/id",
            "/contents/*/parts/*/functionResponse/id",
            "/contents/*/parts/*/function_call/id",
            "/contents/*/parts/*/function_response/id",
            "/contents/*/parts/*/toolCall/id",
            "/contents/*/parts/*/toolResponse/id",
            "/contents/*/parts/*/executableCode/id",
            "/contents/*/parts/*/codeExecutionResult/id",
        ),
    ),
    faults=FAULTS,
    stream_ends=(b'"finishReason"',),
    turn_paths=(":generateContent", ":streamGenerateContent"),
)
INTERACTIONS_API = Api(stream_ends=(b"interaction.complete",), turn_paths=("/interactions",))
