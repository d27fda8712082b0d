"""64 kinds of credentials. Each value is new and random; what is stated here is its form, as its vendor gives it.

The forms agree with the public rules of gitleaks (https://github.com/gitleaks/gitleaks, read 2026-11-22).
"""

import random
import string
from dataclasses import dataclass

LETTERS = string.ascii_letters + string.digits
WORD = LETTERS + "_-"
BASE64 = LETTERS + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits

type Part = str | tuple[str, int]
"""What is the same in each value, or an alphabet and how many letters of it."""


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    parts: tuple[Part, ...]
    variable: str
    """What people call it."""
    alone: bool
    """True when its form says what it is; other values are known by their variable."""

    def value(self, chance: random.Random) -> str:
        while True:  # without letters or digits it would not look like a secret
            made = [
                part if isinstance(part, str) else "".join(chance.choices(part[0], k=part[1])) for part in self.parts
            ]
            own = "".join(text for text, part in zip(made, self.parts, strict=True) if not isinstance(part, str))
            if any(char.isdigit() for char in own) and (self.alone or any(char.isalpha() for char in own)):
                return "".join(made)

    def said(self, value: str) -> str:
        """As it is written in a text."""
        return value if self.alone else f"{self.variable}={value}"


def _shaped(name: str, *parts: Part) -> Kind:
    return Kind(name, parts, name.upper().replace(" ", "_").replace(".", "") + "_API_KEY", True)


def _named(variable: str, *parts: Part) -> Kind:
    return Kind(variable.lower().replace("_", " "), parts, variable, False)


_LINES = tuple(part for _ in range(6) for part in ((BASE64, 64), "\n"))
KINDS = (
    _shaped("Anthropic", "sk-ant-api03-", (WORD, 93), "AA"),
    _shaped("OpenAI project", "sk-proj-", (WORD, 74), "T3BlbkFJ", (WORD, 74)),
    _shaped("OpenAI", "sk-", (LETTERS, 48)),
    _shaped("OpenRouter", "sk-or-v1-", (HEX, 64)),
    _shaped("Google", "AIza", (WORD, 35)),
    _shaped("Google OAuth", "ya29.", (WORD, 120)),
    _shaped("Google refresh", "1//0", (WORD, 60)),
    _shaped("Groq", "gsk_", (LETTERS, 52)),
    _shaped("xAI", "xai-", (LETTERS, 80)),
    _shaped("Hugging Face", "hf_", (LETTERS, 34)),
    _shaped("Replicate", "r8_", (LETTERS, 37)),
    _shaped("Perplexity", "pplx-", (LETTERS, 48)),
    _shaped("NVIDIA", "nvapi-", (WORD, 64)),
    _shaped("AWS access", "AKIA", (string.ascii_uppercase + "234567", 16)),
    _shaped("AWS session", "IQoJb3JpZ2lu", (BASE64, 300)),
    _shaped("Bedrock", "ABSK", (BASE64, 120), "="),
    _shaped("Azure AD", "abc8Q~", (WORD, 34)),
    _shaped("Databricks", "dapi", (HEX, 32)),
    _shaped("DigitalOcean", "dop_v1_", (HEX, 64)),
    _shaped("GitHub", "ghp_", (LETTERS, 36)),
    _shaped("GitHub fine", "github_pat_", (LETTERS, 22), "_", (LETTERS, 59)),
    _shaped("GitLab", "glpat-", (WORD, 20)),
    _shaped("npm", "npm_", (LETTERS, 36)),
    _shaped("PyPI", "pypi-AgEIcHlwaS5vcmc", (WORD, 80)),
    _shaped("Docker", "dckr_pat_", (WORD, 27 + 20)),
    _shaped("Slack bot", "xoxb-", ("123456789", 12), "-", ("123456789", 12), "-", (LETTERS, 24)),
    _shaped("Slack webhook", "https://hooks.slack.com/services/T", (UPPER, 9), "/B", (UPPER, 9), "/", (LETTERS, 24)),
    _shaped("Stripe", "sk_live_", (LETTERS, 24)),
    _shaped("Stripe test", "sk_test_", (LETTERS, 24)),
    _shaped("Twilio", "SK", (HEX, 32)),
    _shaped("SendGrid", "SG.", (WORD, 22), ".", (WORD, 43)),
    _shaped("Mailgun", "key-", (HEX, 32)),
    _shaped("Mailgun signing", (HEX, 32), "-", (HEX, 8), "-", (HEX, 8)),
    _shaped("Brevo", "xkeysib-", (HEX, 64), "-", (LETTERS, 16)),
    _shaped("Telegram", "123456789:AA", (WORD, 33)),
    _shaped("Discord webhook", "https://discord.com/api/webhooks/123456789012345678/", (WORD, 68)),
    _shaped("Shopify", "shpat_", (HEX, 32)),
    _shaped("Vault", "hvs.", (WORD, 95)),
    _shaped("Terraform", "abcdefgh123456.atlasv1.", (WORD, 67)),
    _shaped("1Password", "ops_eyJ", (BASE64, 260)),
    _shaped("Atlassian", "ATATT3xFfGF0", (WORD, 180)),
    _shaped("Grafana", "glsa_", (LETTERS, 32), "_", (HEX, 8)),
    _shaped("New Relic", "NRAK-", (UPPER, 27)),
    _shaped("Sentry", "sntryu_", (HEX, 64)),
    _shaped("Linear", "lin_api_", (LOWER, 40)),
    _shaped("Notion", "ntn_", ("123456789", 11), (LETTERS, 35)),
    _shaped("Figma", "figd_", (WORD, 43)),
    _shaped("Postman", "PMAK-", (HEX, 24), "-", (HEX, 34)),
    _shaped("Fly", "fm2_", (BASE64, 120)),
    _shaped("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJ", (WORD, 60), ".", (WORD, 43)),
    _shaped("connection", "postgres://app:", (LETTERS, 16), "@db.local/main"),
    Kind(
        "private key", ("-----BEGIN RSA PRIVATE KEY-----\n", *_LINES, "-----END RSA PRIVATE KEY-----"), "SSH_KEY", True
    ),
    _named("MISTRAL_API_KEY", (LETTERS, 32)),
    _named("COHERE_API_KEY", (LETTERS, 40)),
    _named("AZURE_OPENAI_API_KEY", (HEX, 32)),
    _named("AWS_SECRET_ACCESS_KEY", (BASE64, 40)),
    _named("CLOUDFLARE_API_TOKEN", (WORD, 40)),
    _named("DATADOG_API_KEY", (HEX, 32)),
    _named("HEROKU_API_KEY", (HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12)),
    _named("OKTA_API_TOKEN", "00", (WORD, 40)),
    _named("DISCORD_CLIENT_SECRET", (WORD, 32)),
    _named("TWITTER_ACCESS_TOKEN", ("123456789", 19), "-", (LETTERS, 30)),
    _named("DB_PASSWORD", (LETTERS, 20)),
    _named("SESSION_TOKEN", (LOWER, 32)),
    _named("WEBHOOK_SECRET", (HEX, 40)),
)
