"""Why an API refused a request: sentences of many APIs, in their own words."""

from typing import get_args

import pytest
from conversations import HELLO, chat
from judged import judged

from turntape.inspector.findings.refusals import ACCESS, LIMITS, Refusal, filtered_side, refusal

SENTENCES: tuple[tuple[str, int, str, str, Refusal], ...] = (
    (
        "anthropic",
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API.",
        "credit",
    ),
    ("anthropic", 400, "invalid_request_error", "You have reached your specified API usage limits.", "credit"),
    ("anthropic", 401, "authentication_error", "invalid x-api-key", "key"),
    ("anthropic", 401, "authentication_error", "OAuth token has expired.", "key"),
    ("anthropic", 403, "permission_error", "Your API key does not have permission to use the resource.", "account"),
    ("anthropic", 404, "not_found_error", "model: claude-9", "model"),
    (
        "anthropic",
        429,
        "rate_limit_error",
        "This request would exceed the rate limit of 40,000 input tokens per minute.",
        "rate",
    ),
    ("anthropic", 529, "overloaded_error", "Overloaded", "overloaded"),
    ("openai", 401, "invalid_request_error", "You didn't provide an API key.", "key"),
    ("openai", 403, "unsupported_country_region_territory", "Country, region, or territory not supported", "region"),
    ("openai", 404, "model_not_found", "The model `gpt-9` does not exist or you do not have access to it.", "model"),
    ("openai", 400, "", "The requested model 'gpt-9' does not exist.", "model"),
    ("openai", 404, "", "Invalid URL (POST /v1/v1/chat/completions)", "address"),
    ("lmstudio", 400, "", "The model has crashed without additional information. (Exit code: 6)", "overloaded"),
    ("lmstudio", 400, "", "Failed to load model 'qwen9'.", "overloaded"),
    ("vllm", 400, "", "CUDA error: out of memory", "overloaded"),
    ("vllm", 400, "", "'stop' must be a string; the model stopped at none", "request"),
    ("openai", 400, "", "Your organization must be verified to stream this model.", "account"),
    (
        "openai",
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        "quota",
    ),
    (
        "openai",
        429,
        "rate_limit_exceeded",
        "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
        "rate",
    ),
    (
        "openai",
        429,
        "tokens",
        "Request too large on tokens per min (TPM): Limit 30,000, Requested 45,000.",
        "too_large_for_rate",
    ),
    ("openai", 429, "", "Rate limit reached on requests per day (RPD): Limit 200, Used 200, Requested 1.", "period"),
    (
        "openai",
        429,
        "",
        "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. Add a "
        "payment method at https://platform.openai.com/account/billing.",
        "rate",
    ),
    ("openai", 429, "usage_limit_reached", "The usage limit has been reached", "period"),
    ("azure", 401, "", "Access denied due to invalid subscription key or wrong API endpoint.", "key"),
    ("azure", 404, "404", "Resource not found", "address"),
    ("azure", 404, "DeploymentNotFound", "The API deployment for this resource does not exist.", "model"),
    ("azure", 403, "", "Public access is disabled. Please configure private endpoint.", "account"),
    (
        "azure",
        429,
        "",
        "Requests have exceeded call rate limit of your current OpenAI S0 pricing tier. Retry after 26 seconds.",
        "rate",
    ),
    ("azure", 429, "NoCapacity", "The system is currently experiencing high demand.", "overloaded"),
    ("gemini", 400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "key"),
    ("gemini", 400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", "key"),
    ("gemini", 403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key.", "key"),
    ("gemini", 400, "FAILED_PRECONDITION", "User location is not supported for the API use.", "region"),
    (
        "gemini",
        403,
        "PERMISSION_DENIED",
        "Generative Language API has not been used in project 1 before or it is disabled.",
        "account",
    ),
    ("gemini", 404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta.", "model"),
    ("gemini", 503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "overloaded"),
    ("bedrock", 400, "ValidationException", "The provided model identifier is invalid.", "model"),
    (
        "bedrock",
        400,
        "ValidationException",
        "Invocation of model ID a.b-v1:0 with on-demand throughput isn't supported.",
        "model",
    ),
    (
        "bedrock",
        400,
        "ServiceQuotaExceededException",
        "Your request exceeds the service quota for your account.",
        "credit",
    ),
    (
        "bedrock",
        403,
        "AccessDeniedException",
        "You don't have access to the model with the specified model ID.",
        "model",
    ),
    ("bedrock", 403, "AccessDeniedException", "User: arn is not authorized to perform: bedrock:InvokeModel", "account"),
    ("bedrock", 403, "UnrecognizedClientException", "The security token included in the request is invalid.", "key"),
    ("bedrock", 429, "ThrottlingException", "Too many tokens, please wait before trying again.", "rate"),
    ("bedrock", 429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", "period"),
    (
        "groq",
        413,
        "tokens",
        "Request too large on tokens per minute (TPM): Limit 6000, Requested 9000",
        "too_large_for_rate",
    ),
    ("groq", 400, "tool_use_failed", "Failed to call a function. Please adjust your prompt.", "output"),
    ("groq", 400, "json_validate_failed", "Failed to generate JSON.", "output"),
    (
        "groq",
        400,
        "organization_restricted",
        "Organization has been restricted. Please reach out to support.",
        "account",
    ),
    ("groq", 498, "", "Flex tier capacity exceeded", "overloaded"),
    ("mistral", 400, "invalid_model", "Invalid model: mistral-9", "model"),
    ("mistral", 404, "", "no Route matched with those values", "address"),
    ("mistral", 429, "", "Requests rate limit exceeded", "rate"),
    ("cohere", 429, "", "You are using a Trial key, which is limited to 10 API calls / minute.", "rate"),
    ("cohere", 429, "", "You are using a Trial key, which is limited to 1000 API calls / month.", "period"),
    ("deepseek", 402, "", "Insufficient Balance", "credit"),
    ("deepseek", 400, "", "The supported API model names are a or b, but you passed c.", "model"),
    ("openrouter", 402, "", "This request requires more credits, or fewer max_tokens.", "credit"),
    ("openrouter", 404, "", "No endpoints found matching your data policy.", "account"),
    ("openrouter", 429, "", "Rate limit exceeded: free-models-per-day.", "period"),
    ("openrouter", 429, "", "Rate limit exceeded: free-models-per-min.", "rate"),
    ("openrouter", 400, "", "openai/gpt-9 is not a valid model ID", "model"),
    ("xai", 400, "", "Incorrect API key provided.", "key"),
    ("xai", 429, "", "Your team has either used all available credits or reached its monthly spending limit.", "quota"),
    (
        "xai",
        403,
        "",
        "Your team has either used all available credits or reached its monthly spending limit.",
        "credit",
    ),
    ("xai", 404, "", "Model not found: grok-9", "model"),
    (
        "moonshot",
        429,
        "engine_overloaded_error",
        "The engine is currently overloaded, please try again later",
        "overloaded",
    ),
    (
        "moonshot",
        429,
        "exceeded_current_quota_error",
        "You exceeded your current token quota: 0, check your account balance",
        "quota",
    ),
    ("moonshot", 429, "rate_limit_reached_error", "request reached max organization concurrency: 1", "rate"),
    ("zai", 429, "1113", "Insufficient balance or no resource package. Please recharge.", "quota"),
    ("zai", 429, "1308", "Usage limit reached for 5 hour.", "period"),
    ("zai", 400, "1211", "Unknown Model, please check the model code.", "model"),
    ("dashscope", 403, "AllocationQuota.FreeTierOnly", "The free tier of the model has been exhausted.", "credit"),
    ("dashscope", 400, "Arrearage", "Access denied, please make sure your account is paid.", "credit"),
    ("dashscope", 429, "", "Requests rate limit exceeded, please try again later.", "rate"),
    ("ollama", 404, "", 'model "qwen" not found, try pulling it first', "model"),
    ("ollama", 404, "", "404 page not found", "address"),
    ("ollama", 500, "", "error parsing tool call: raw='{', err=unexpected end of JSON input", "output"),
    ("ollama", 500, "", "XML syntax error on line 35: element <parameter> closed by </function>", "output"),
    ("ollama", 503, "", "server busy, please try again.  maximum pending requests exceeded", "overloaded"),
    ("vllm", 404, "NotFoundError", "The model `a` does not exist.", "model"),
    ("fireworks", 412, "", "Account a is suspended, possibly due to reaching the monthly spending limit.", "credit"),
    ("siliconflow", 403, "30001", "Sorry, your account balance is insufficient", "credit"),
    ("siliconflow", 429, "", "Request was rejected due to rate limiting. Details: TPM limit reached.", "rate"),
    ("huggingface", 402, "", "You have exceeded your monthly included credits for Inference Providers.", "credit"),
    (
        "huggingface",
        400,
        "model_not_supported",
        "The requested model 'a' is not supported by any provider you have enabled.",
        "model",
    ),
    ("huggingface", 429, "overloaded", "Model is overloaded", "overloaded"),
    ("github", 429, "", "Rate limit of 50 per 86400s exceeded for UserByModelByDay.", "period"),
    ("cloudflare", 429, "", "you have used up your daily free allocation of 10,000 neurons", "period"),
    (
        "cloudflare",
        404,
        "7003",
        "Could not route to /client/v4/accounts/x, perhaps your object identifier is invalid?",
        "address",
    ),
    ("litellm", 400, "budget_exceeded", "Budget has been exceeded! Current cost: 2, Max budget: 1", "credit"),
    ("litellm", 400, "", "Invalid model name passed in model=a.", "model"),
    ("nvidia", 410, "", "The model has reached its end of life", "model"),
    ("llamacpp", 500, "", "Failed to parse tool call arguments as JSON: missing closing quote", "output"),
    ("cohere", 422, "", "No valid tool call or response generated", "output"),
)


@pytest.mark.parametrize(("api", "status", "code", "message", "expected"), SENTENCES)
def test_each_sentence_is_judged_by_what_it_names(
    api: str, status: int, code: str, message: str, expected: Refusal
) -> None:
    assert refusal(status, message, code) == expected, api


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, "request"), (401, "key"), (402, "credit"), (403, "access"), (404, "access"), (405, "request"),
        (408, "overloaded"), (409, "request"), (410, "access"), (412, "request"), (413, "request"), (422, "request"),
        (424, "overloaded"), (429, "rate"), (451, "access"), (498, "access"), (499, "request"), (500, "overloaded"),
        (503, "overloaded"), (529, "overloaded"),
    ],
)  # fmt: skip
def test_an_unknown_sentence_is_judged_by_its_status(status: int, expected: Refusal) -> None:
    assert refusal(status, "No such word.") == expected


@pytest.mark.parametrize(
    ("status", "code", "message", "expected"),
    [
        (400, "tool_use_failed", "No.", "output"),
        (400, "json_validate_failed", "No.", "output"),
        (400, "", "See failed_generation.", "output"),
        (429, "", "The TPM is reached, see the billing page", "rate"),
        (429, "", "10 a / minute, see the billing page", "rate"),
        (429, "", "The TPD is reached", "period"),
        (429, "", "The 5-hour limit is reached", "period"),
        (429, "", "Your credits are gone", "quota"),
        (429, "", "See the billing page", "quota"),
        (429, "", "The server is too busy", "overloaded"),
        (403, "unsupported_country", "No.", "region"),
        (403, "", "Buy more credits", "credit"),
        (403, "", "Your budget is exceeded", "credit"),
        (403, "model_not_found", "No.", "model"),
        (403, "", "Invalid credentials", "key"),
        (403, "api_key_invalid", "No.", "key"),
        (403, "", "Please provide an API key", "key"),
    ],
)
def test_one_phrase_is_enough(status: int, code: str, message: str, expected: Refusal) -> None:
    assert refusal(status, message, code) == expected


RATES = "The rate limit is reached", "The RPM is reached", "Only 10 requests per minute"


@pytest.mark.parametrize("message", RATES)
def test_some_statuses_may_name_a_rate(message: str) -> None:
    said = [refusal(status, message) for status in (400, 403, 413, 429)]

    assert said == ["rate"] * 4
    assert [refusal(status, message) for status in (401, 404, 412, 414, 422)] == [
        "key", "access", "request", "request", "request",
    ]  # fmt: skip


@pytest.mark.parametrize("words", ["Rate limit reached", "Too many requests", "Throttled", "Too much concurrency"])
def test_an_api_with_a_high_load_that_names_a_limit_did_refuse_for_the_limit(words: str) -> None:
    assert refusal(429, "The server is too busy") == "overloaded"
    assert refusal(429, f"{words}: the server is too busy") == "rate"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Responses websocket connection limit reached (60 minutes).", "websocket_connection_limit_reached"),
        ("Your session hit the maximum duration of 60 minutes.", "session_expired"),
        ("The connection reached its maximum duration.", ""),
    ],
)
def test_a_connection_that_was_open_for_too_long_met_a_limit(message: str, code: str) -> None:
    assert refusal(400, message, code) == "connection"


def test_an_unknown_session_is_not_a_limit() -> None:
    assert refusal(404, "Session sess_1 not found") == "request"


def test_each_kind_is_a_limit_or_a_matter_of_access_or_neither() -> None:
    neither = {"overloaded", "output", "request"}

    assert {"rate", "too_large_for_rate", "period", "quota", "connection"} == LIMITS
    assert {"key", "account", "credit", "region", "model", "address", "access", "firewall"} == ACCESS
    assert set(get_args(Refusal.__value__)) == LIMITS | ACCESS | neither


@pytest.mark.parametrize(
    ("status", "message", "page", "kind"),
    [
        (403, "<html><title>Just a moment...</title><script>_cf_chl_opt={}</script>", True, "firewall"),
        (403, "<html>Sorry, you have been blocked</html>", True, "firewall"),
        (503, "<html>Attention Required! | Cloudflare</html>", True, "firewall"),
        (403, "Just a moment...", False, "access"),
        (503, "<html>503 Service Unavailable</html>", True, "overloaded"),
        (429, "Model is not ready for inference. Please try again later.", False, "overloaded"),
        (429, "ModelNotReadyException", False, "overloaded"),
        (429, "The deployment is currently loading", False, "overloaded"),
        (429, "Too many requests", False, "rate"),
        (404, "File not found: file_011CNha8i", False, "request"),
        (404, "Conversation with id 'conv_1' not found.", False, "request"),
        (404, "The cachedContent has expired", False, "request"),
        (404, "The model `gpt-9` does not exist", False, "model"),
    ],
)
def test_what_came_in_place_of_the_answer(status: int, message: str, page: bool, kind: str) -> None:
    assert refusal(status, message, page=page) == kind


@pytest.mark.parametrize(
    "message",
    [
        "temperature: range: 0..1",
        "Thinking mode does not support this tool_choice",
        "messages.1.content.0: `tool_use` ids must be unique",
        "Missing required parameter: 'messages[1].content[0].type'.",
        "Error while downloading https://example.com/test-image.jpg.",
        "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens",
        "Invalid value: 'tool'. Supported values are: 'system', 'assistant', 'user'.",
        "Overloaded: too many words",
    ],
)
def test_a_fault_of_the_request_is_nothing_else(message: str) -> None:
    assert refusal(400, message, "invalid_request_error") == "request"


def test_a_page_in_place_of_an_answer_is_a_wrong_address_only_where_nothing_was_found() -> None:
    assert refusal(404, "Not the page you want", page=True) == "address"
    assert refusal(403, "Not the page you want", page=True) == "access"
    assert refusal(404, "Not the page you want") == "access"


def test_the_details_of_a_limit_say_how_long_it_lasts() -> None:
    said = "You exceeded your current quota, please check your plan and billing details."

    assert refusal(429, said) == "quota"
    assert refusal(429, said, details='"retryDelay": "30s"') == "rate"
    assert refusal(429, said, details='"quotaId": "RequestsPerMinutePerProject"') == "rate"
    assert refusal(429, said, details='"quotaId": "RequestsPerDayPerProject", "retryDelay": "30s"') == "period"
    assert refusal(400, said, details='"retryDelay": "30s"') == "credit", "details are those of a limit"


def test_a_request_as_large_as_the_limit_is_not_larger() -> None:
    assert refusal(429, "Limit 30000, Requested 30000") == "rate"
    assert refusal(429, "Limit 30000, Requested 30001") == "too_large_for_rate"
    assert refusal(429, "limit , requested ,") == "rate", "no numbers"


@pytest.mark.parametrize(
    ("message", "side"),
    [
        ("The response was filtered due to the prompt triggering our content management policy.", "the prompt"),
        ("Output blocked by content filtering policy", "the answer"),
        ("Input text data may contain inappropriate content.", "the prompt"),
        ("Output data may contain inappropriate content.", "the answer"),
        ("System detected potentially unsafe or sensitive content in input or generation.", "the prompt or the answer"),
        ("Content Exists Risk", "the prompt"),
    ],
)  # fmt: skip
def test_the_error_of_a_filter_names_its_side(message: str, side: str) -> None:
    assert filtered_side(message) == side


def test_the_finding_names_what_was_not_accepted() -> None:
    def said(status: int, message: str, code: str = "x") -> list[tuple[str, str, str]]:
        error = {"error": {"message": message, "type": code}}
        reported = judged(chat([HELLO], status=status, error=error))
        return [
            (f.id, f.layer, f.message.partition(": ")[0]) for f in reported if f.id != "client-no-retry-on-transient"
        ]

    assert said(400, "The requested model 'gpt-9' does not exist.") == [
        ("access-refused", "client", "the API did not accept the model")
    ]
    assert said(402, "Insufficient Balance") == [
        ("access-refused", "client", "the API did not accept the account, whose credit or quota is used up")
    ]
    assert said(400, "User location is not supported for the API use.") == [
        ("access-refused", "client", "the API did not accept the region that the request came from")
    ]
    assert said(403, "Organization has been restricted.") == [
        ("access-refused", "client", "the API did not accept the account or its permissions")
    ]
    assert said(429, "Limit 10 requests per day reached") == [
        (
            "api-rate-limited",
            "api",
            "the limit of hours, days or a month is used up; a retry helps only after it is reset",
        )
    ]
    assert said(413, "Too large: tokens per minute (TPM): Limit 6000, Requested 9000") == [
        ("api-rate-limited", "api", "the request alone is larger than the limit; waiting does not help")
    ]
    assert said(429, "The engine is currently overloaded") == [
        ("api-overloaded", "api", "the API failed or was overloaded")
    ]
    assert said(498, "Flex tier capacity exceeded") == [("api-overloaded", "api", "the API failed or was overloaded")]
    assert said(400, "Failed to call a function.", "tool_use_failed") == [
        ("malformed-output", "model", "the API refused what the model emitted")
    ]
    assert said(412, "No such word.") == [("request-rejected", "client", "the API rejected the request")]
    assert said(501, "No such word.") == [("api-overloaded", "api", "the API failed or was overloaded")]
