"""Finds keys under the name of a service alone: `"algolia": "0a1b…"`, `DATADOG=…`.

The name says nothing of a credential, so the value must look random, and what such names hold otherwise is left: ids
with a prefix, models, dates, paths and words with separators. Names that are usual words, or under which check sums and
versions are found, are not listed.
"""

import re

from ..regex import regex
from .body_search import Spans
from .random_words import bits

SERVICES = (
    b"adafruit|airtable|algolia|amplitude|anthropic|apify|asana|atlassian|bittrex|brevo|bugsnag|buildkite|"
    b"circleci|clojars|cloudflare|cloudinary|cohere|coinbase|contentful|databricks|datadog|deepgram|"
    b"digitalocean|droneci|dropbox|dynatrace|easypost|elevenlabs|facebook|fastly|finicity|finnhub|flickr|"
    b"flutterwave|freshbooks|freemius|gocardless|grafana|groq|heroku|hubspot|huggingface|infracost|instagram|"
    b"intercom|kraken|kucoin|langsmith|launchdarkly|linkedin|lob|mailchimp|mailgun|mapbox|mattermost|meraki|"
    b"messagebird|mixpanel|netlify|newrelic|nytimes|okta|openai|pagerduty|perplexity|pinecone|plaid|"
    b"planetscale|postman|privateai|pulumi|rapidapi|scalingo|sendbird|sendgrid|sendinblue|sentry|shippo|"
    b"shopify|sidekiq|slack|snyk|sonarqube|sourcegraph|splunk|spotify|squarespace|stripe|sumologic|supabase|"
    b"telegram|travisci|trello|twilio|twitch|twitter|typeform|upstash|vercel|wandb|weaviate|yandex|zendesk"
)
_SHORTEST, _LONGEST = 20, 120
_LETTERS = bytes(
    ord("w") if chr(byte).isascii() and (chr(byte).isalnum() or byte in b"_-+/") else 32 for byte in range(256)
)
"""What such a key may have as `w`, the rest as a space."""
_LONG = b"w" * _SHORTEST
_BEFORE = 48
"""So many bytes before a value can have the name of a service."""
_NAME = regex(
    rb"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))(?:%s)\\{0,3}[\"']?\s{0,3}[:=]{1,2}>?\s{0,3}\\{0,3}[\"']?\Z" % SERVICES,
    re.IGNORECASE,
)
_KNOWN = regex(rb"[a-z]{2,16}[_-]|REDACTED|[0-9-]+\Z")
"""How ids and models begin; a date or a number."""
_SEPARATOR = regex(rb"[-_/]")
_LEAST, _LEAST_OF_HEX = 3.5, 3.0
"""Bits in each letter."""
_HEX = regex(rb"[0-9a-fA-F]+\Z")


def under_services(body: bytes) -> Spans:
    """All values that look random under the name of a service."""
    spans: Spans = {}
    letters = body.translate(_LETTERS)
    at = letters.find(_LONG)
    while at >= 0:
        end = letters.find(b" ", at + _SHORTEST)
        end = len(body) if end < 0 else end
        if end - at <= _LONGEST and _is_random(body[at:end]) and _NAME.search(body, max(at - _BEFORE, 0), at):
            spans[at] = (end, 0)
        at = letters.find(_LONG, end)
    return spans


def _is_random(value: bytes) -> bool:
    if _KNOWN.match(value) is not None or len(_SEPARATOR.findall(value)) > 1:
        return False
    digits = sum(0x30 <= byte <= 0x39 for byte in value)
    if len(value) - digits < 3:
        return False
    mixed = value.upper() != value != value.lower()
    if digits < (2 if mixed else max(3, len(value) // 8)):
        return False
    return bits(value) >= (_LEAST_OF_HEX if _HEX.match(value) else _LEAST)
