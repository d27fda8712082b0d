"""What each API says when it says no, in its own words."""

from ..pieces import Failed

OVERLOADED = {
    "openai-chat": Failed(503, "The server is currently overloaded with other requests. Sorry about that! You can retry your request, or contact us through our help center at help.openai.com if the error persists."),
    "deepseek-chat": Failed(503, "Service is too busy. We advise users to temporarily switch to alternative LLM API service providers."),
    "mistral-chat": Failed(503, "Service unavailable."),
    "cohere-v2": Failed(503, "the service is temporarily unavailable"),
    "ollama-chat": Failed(503, "server busy, please try again.  maximum pending requests exceeded"),
    "openai-responses": Failed(500, "The server had an error while processing your request. Sorry about that!", "server_error"),
    "openai-responses-held": Failed(500, "The server had an error while processing your request. Sorry about that!", "server_error"),
    "anthropic-messages": Failed(529, "Overloaded"),
    "anthropic-thinking": Failed(529, "Overloaded"),
    "gemini-generate": Failed(503, "The model is overloaded. Please try again later."),
    "bedrock-converse": Failed(503, "Bedrock is unable to process your request."),
}  # fmt: skip

WAIT = (("retry-after", "20"),)
LIMITED = {
    "openai-chat": Failed(429, "Rate limit reached for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000, Used 29012, Requested 2380. Please try again in 20s.", headers=WAIT),
    "deepseek-chat": Failed(429, "Rate limit reached", headers=WAIT),
    "mistral-chat": Failed(429, "Rate limit exceeded", headers=WAIT),
    "cohere-v2": Failed(429, "You are using a Trial key, which is limited to 20 API calls / minute.", headers=WAIT),
    "openai-responses": Failed(429, "Rate limit reached for gpt-5.1 in organization org-x on tokens per min (TPM): Limit 30000, Used 29012, Requested 2380. Please try again in 20s.", headers=WAIT),
    "openai-responses-held": Failed(429, "Rate limit reached for gpt-5.1 in organization org-x on tokens per min (TPM): Limit 30000, Used 29012, Requested 2380. Please try again in 20s.", headers=WAIT),
    "anthropic-messages": Failed(429, "This request would exceed your organization's rate limit of 40,000 input tokens per minute.", headers=WAIT),
    "anthropic-thinking": Failed(429, "This request would exceed your organization's rate limit of 40,000 input tokens per minute.", headers=WAIT),
    "gemini-generate": Failed(429, "You exceeded your current quota, please check your plan and billing details.", headers=WAIT),
    "bedrock-converse": Failed(429, "Too many tokens, please wait before trying again.", headers=WAIT),
}  # fmt: skip

UNAUTHORIZED = {
    "openai-chat": Failed(401, "Incorrect API key provided: none. You can find your API key at https://platform.openai.com/account/api-keys."),
    "deepseek-chat": Failed(401, "Authentication Fails, Your api key: ****none is invalid", "invalid_request_error"),
    "mistral-chat": Failed(401, "Unauthorized", body={"detail": "Unauthorized"}),
    "cohere-v2": Failed(401, "invalid api token"),
    "openai-responses": Failed(401, "Incorrect API key provided: none. You can find your API key at https://platform.openai.com/account/api-keys."),
    "openai-responses-held": Failed(401, "Incorrect API key provided: none. You can find your API key at https://platform.openai.com/account/api-keys."),
    "anthropic-messages": Failed(401, "invalid x-api-key"),
    "anthropic-thinking": Failed(401, "invalid x-api-key"),
    "gemini-generate": Failed(403, "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."),
    "bedrock-converse": Failed(403, "The security token included in the request is invalid.", "UnrecognizedClientException"),
}  # fmt: skip

NO_MODEL = {
    "openai-chat": Failed(404, "The model `gpt-4.1-turbo` does not exist or you do not have access to it.", "model_not_found"),
    "openai-responses": Failed(404, "The model `gpt-4.1-turbo` does not exist or you do not have access to it.", "model_not_found"),
    "anthropic-messages": Failed(404, "model: gpt-4.1-turbo"),
    "gemini-generate": Failed(404, "models/gpt-4.1-turbo is not found for API version v1beta, or is not supported for generateContent."),
    "ollama-chat": Failed(404, "model 'gpt-4.1-turbo' not found"),
    "bedrock-converse": Failed(404, "This model version has reached the end of its life.", "ResourceNotFoundException"),
    "cohere-v2": Failed(404, "model 'gpt-4.1-turbo' not found, make sure the correct model ID was used and that you have access to the model."),
}  # fmt: skip

TOO_LONG = {
    "openai-chat": Failed(400, "This model's maximum context length is 131072 tokens. However, your messages resulted in 152204 tokens. Please reduce the length of the messages.", "context_length_exceeded", "messages"),
    "deepseek-chat": Failed(400, "This model's maximum context length is 131072 tokens. However, you requested 156300 tokens (152204 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.", "invalid_request_error"),
    "mistral-chat": Failed(400, "Prompt contains 152204 tokens and 0 draft tokens, too large for model with 131072 maximum context length"),
    "cohere-v2": Failed(400, "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 152204. Try using a shorter prompt, or enable prompt truncating."),
    "openai-responses": Failed(400, "Your input exceeds the context window of this model. Please adjust your input and try again.", "context_length_exceeded", "input"),
    "anthropic-messages": Failed(400, "prompt is too long: 152204 tokens > 131072 maximum"),
    "anthropic-thinking": Failed(400, "prompt is too long: 152204 tokens > 131072 maximum"),
    "gemini-generate": Failed(400, "The input token count (152204) exceeds the maximum number of tokens allowed (131072)."),
    "bedrock-converse": Failed(400, "The model returned the following errors: prompt is too long: 152204 tokens > 131072 maximum"),
}  # fmt: skip

INSIDE = {
    "openai-chat": Failed(500, "The server had an error while processing your request. Sorry about that!"),
    "deepseek-chat": Failed(500, "The server had an error while processing your request."),
    "cohere-v2": Failed(500, "internal server error"),
    "ollama-chat": Failed(500, "an error was encountered while running the model: unexpected EOF"),
    "openai-responses": Failed(500, "An error occurred while processing your request.", "server_error"),
    "openai-responses-held": Failed(500, "An error occurred while processing your request.", "server_error"),
    "anthropic-messages": Failed(529, "Overloaded"),
    "anthropic-thinking": Failed(529, "Overloaded"),
    "gemini-generate": Failed(503, "The model is overloaded. Please try again later."),
    "bedrock-converse": Failed(424, "The model stream ended with an error. Try again later."),
}  # fmt: skip
