"""The names of header fields and query parameters that hold secrets, and of those that are stored unchanged."""

SECRET_PARAMETERS = frozenset(
    [
        "key",
        "api_key",
        "apikey",
        "api-key",
        "access_token",
        "token",
        "auth",
        "sig",
        "signature",
        "client_secret",
        "password",
        "secret",
        "code",
        "x-amz-signature",
        "x-amz-credential",
        "x-amz-security-token",
        "x-goog-signature",
        "x-goog-credential",
        "awsaccesskeyid",
        "subscription-key",
    ]
)
"""Query parameters whose value is a credential, lower case."""

KEYS = frozenset(
    [
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "x-amz-security-token",
        "x-auth-token",
        "x-access-token",
        "x-portkey-api-key",
        "helicone-auth",
        "cf-aig-authorization",
        "x-litellm-api-key",
        "ocp-apim-subscription-key",
        "x-goog-iam-authorization-token",
        "x-functions-key",
        "x-openai-actor-authorization",
    ]
)
"""Header fields in which a client sends its key, lower case."""

CREDENTIALS = KEYS | {
    "cookie",
    "set-cookie",
    "chatgpt-account-id",
    "www-authenticate",
    "proxy-authenticate",
    "authentication-info",
    # Whoever has the id of an MCP session may speak in it. Its fingerprint still joins the exchanges of a session.
    "mcp-session-id",
}
"""Header fields that carry a credential in either direction, lower case."""

REQUEST_HEADERS = frozenset(
    [
        "host",
        "accept",
        "accept-encoding",
        "accept-language",
        "content-type",
        "content-length",
        "content-encoding",
        "transfer-encoding",
        "user-agent",
        "connection",
        "expect",
        "te",
        "trailer",
        "date",
        "origin",
        "idempotency-key",
        "prefer",
        "upgrade",
        "sec-websocket-version",
        "sec-websocket-extensions",
        "sec-websocket-protocol",
        "traceparent",
        "tracestate",
        "baggage",
        "x-request-id",
        "x-client-request-id",
        "x-app",
        "originator",
        "version",
        "session-id",
        "session_id",
        "thread-id",
        "conversation-id",
        "conversation_id",
        "x-session-id",
        "x-session-affinity",
        "x-conversation-id",
        "x-parent-session-id",
        "http-referer",
        "referer",
        "x-title",
        "x-api-version",
        "api-version",
        "x-goog-api-client",
        "x-goog-user-project",
        "x-goog-request-params",
        "x-server-timeout",
        "x-ms-client-request-id",
        "x-ms-useragent",
        "copilot-integration-id",
        "editor-version",
        "openai-intent",
        "x-initiator",
        "x-interaction-id",
        "x-dashscope-sse",
        "x-fern-language",
        "x-fern-sdk-name",
        "x-fern-sdk-version",
        "x-client-name",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "last-event-id",
        "x-scripted-fault",
    ]
)
"""Request header fields that are stored unchanged, lower case; see `REQUEST_PREFIXES` for families."""

REQUEST_PREFIXES = (
    "x-stainless-",
    "anthropic-",
    "openai-",
    "x-openai-",
    "x-claude-",
    "x-codex-",
    "x-opencode-",
    "x-litellm-session",
    "x-litellm-trace",
    "helicone-session",
    "langfuse-",
    "amz-sdk-",
    "x-amz-target",
    "x-amz-date",
    "x-amz-content-sha256",
    "x-amzn-",
    "x-vercel-ai-",
    "sec-fetch-",
    "mcp-param-",
)
"""Beginnings of request header fields that are stored unchanged, unless `CREDENTIAL_WORDS` has a part of the name."""

CREDENTIAL_WORDS = ("key", "token", "secret", "passw", "credential", "cookie", "oidc", "auth")
"""A request header field of a known family is a credential when its name contains one of these."""

URL_HEADERS = frozenset(["location", "referer", "http-referer"])
"""Header fields whose value is a URL: credentials in it are replaced."""
