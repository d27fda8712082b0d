"""The shapes of secrets: literal prefixes, and what must follow each of them.

A body is searched for the literals first, which is fast; a pattern runs only where one was found. Ids and
signatures that clients must echo (`toolu_`, `call_`, `msg_`, `rs_`, thinking signatures) have none of these shapes,
and a prefix counts only at the start of a word.

The prefixes are what the vendors give in their documentation of keys and of secret scanning (read 2026-11-22):
https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns lists most.
Others are in public detectors and SDKs: https://github.com/trufflesecurity/trufflehog (read 2026-12-01).
"""

import re
from collections.abc import Iterable
from functools import cache

from ..frozen import frozen

LONG_WORD = 20
"""Every key, with its prefix, is a word of at least this many bytes."""
IN_A_WORD = b"-.~/:+%=@"
"""What such a word may have beside letters, digits and `_`."""


@frozen
class Shape:
    literal: bytes
    source: bytes
    """A regular expression that matches at the literal; group 1 is the secret, all of it when there is no group."""
    keep: int
    """How many first bytes of the secret are kept, so that a person can see what it was."""
    is_word: bool = True
    """True when it is within one word of `LONG_WORD`, so that only such words are searched for it."""

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """The regular expression, compiled when a literal is found for the first time: most never are."""
        return _compiled(self.source)


@cache
def _compiled(source: bytes) -> re.Pattern[bytes]:
    return re.compile(source)


def _key(literal: str, rest: str) -> Shape:
    return Shape(literal.encode(), re.escape(literal.encode()) + rest.encode(), len(literal))


def _within(literal: str, rest: str) -> Shape:
    """A key in a word: group 1 of `rest`, which follows the literal."""
    return Shape(literal.encode(), re.escape(literal.encode()) + rest.encode(), 0)


def _after(literal: str, pattern: str, *, is_word: bool = True) -> Shape:
    return Shape(literal.encode(), pattern.encode(), 0, is_word)


def _signed(signature: str, letters: str, before: int, after: str) -> Shape:
    """A key with a signature at a fixed place; what is before it is secret.

    The patterns are those of https://github.com/microsoft/security-utilities (read 2026-12-01).
    """
    word = rf"(?<=(?:(?<![A-Za-z0-9+/_-])|{_ESCAPE_BEFORE})({letters}{{{before}}}))"
    return _after(signature, f"{word}{re.escape(signature)}{letters}{after}(?![A-Za-z0-9+/=_-])")


_ESCAPE_BEFORE = r"(?<=\\[nrtbf])"
"""A line end as JSON writes it, whose letter is not the first one of a key."""
_WORD = "[A-Za-z0-9_-]"
_BASE64_WORD = "[A-Za-z0-9+/]"
_BASE64 = "[A-Za-z0-9+/_=-]"
_HEX = "[a-fA-F0-9]"
_ALNUM = "[A-Za-z0-9]"
_UUID = _ALNUM + "{8}(?:-" + _ALNUM + "{4}){3}-" + _ALNUM + "{12}"
_GROUPS = _UUID + "(?![A-Za-z0-9_-])"
"""What has the form of a UUID."""
_END = "(?![A-Za-z0-9_-])"
_MIXED = "(?=[A-Za-z_-]*[0-9]+[A-Za-z_-]+[0-9])"
"""Digits in two places at least. A prefix that is a common word, such as `test_`, is also before names."""
_BOTH_CASES = "(?=[a-z0-9_-]{0,21}[A-Z])(?=[A-Z0-9_-]{0,21}[a-z])"

_STRIPE = "(?:[A-Za-z0-9]{16,}|" + _MIXED + "[A-Za-z0-9]{12,15}" + _END + ")"

_FAMILIES: tuple[tuple[str, str], ...] = (
    # Models and what is around them.
    (_WORD + "{20,}", "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf- sk-None- sk-helicone- tvly- pcsk_"),
    (_BASE64 + "{40,}", "sk-let-"),
    (_WORD + "{60,}", "sk-api-"),
    ("[a-z0-9]{48}", "csk-"),
    (_HEX + "{32}", "ls__"),
    # Or `secrets.token_urlsafe` with 16, 24, 32, 40 or 48 bytes, as LiteLLM and many gateways make keys.
    (
        "(?:[A-Za-z0-9]{20,}|(?![a-z]{2,10}-)"
        + _BOTH_CASES
        + _MIXED
        + _WORD
        + "{22}(?:"
        + _WORD
        + "{10}|"
        + _WORD
        + "{21}|"
        + _WORD
        + "{32}|"
        + _WORD
        + "{42})?"
        + _END
        + ")",
        "sk-",
    ),
    (_WORD + "{30,}", "nvapi- jina_ tgp_v1_ wandb_v1_ api_org_"),
    (_WORD + "{43}(?![A-Za-z0-9_-])", "pa-"),
    ("[A-Za-z0-9]{30,}", "hf_ gsk_ pplx-"),
    ("(?:[A-Za-z0-9]{30,}|[A-Za-z0-9_-]{37}" + _END + ")", "r8_"),
    ("[A-Za-z0-9_]{40,}", "xai- phx_"),
    ("[A-Za-z0-9]{40,}", "e2b_ rpa_ flp_ m0- sess-"),
    ("[A-Za-z0-9]{60,}", "xai-token- napi_"),
    (_HEX + "{64}" + _END, "dtn_"),
    (_HEX + "{64}(?:" + _HEX + "{64})?" + _END, "key_"),
    ("[A-Za-z0-9]{40,}", "crsr_"),
    ("[A-Z0-9]{26}_" + _HEX + "{64}", "sgamp_user_"),
    ("[0-9]{1,2}_[a-z]{2,10}_[A-Za-z0-9]{30,}", "pylf_v"),
    ("[A-Za-z0-9]{48}" + _END, "llx-"),
    (_HEX + r"{32}\." + _HEX + r"{32}\.[A-Za-z0-9]{32}", "cpk_"),
    (_MIXED + "[A-Za-z0-9]{32}" + _END, "tpuf_"),
    (_MIXED + "[A-Za-z0-9_-]{28}" + _END, "BSA"),
    (_MIXED + "[A-Za-z0-9]{29}" + _END, "up_"),
    (_MIXED + "[A-Za-z0-9]{20}" + _END, "ak_"),
    (_MIXED + "[A-Za-z0-9]{22}" + _END, "as-"),
    (
        "(?:"
        + _GROUPS
        + "|"
        + _UUID
        + "-"
        + _WORD
        + "{32}"
        + _END
        + "|"
        + _MIXED
        + "[A-Za-z0-9]{22}"
        + _END
        + "|"
        + _MIXED
        + "[A-Za-z0-9]{46,64}"
        + _END
        + ")",
        "ak-",
    ),
    ("[A-Za-z0-9]{20,}", "sk_car_"),
    ("[A-Za-z0-9]{20,}", "fw_"),
    (_GROUPS, "pk-lf- sdk- api- pub-c- sub-c- pat-na1- pat-eu1- ctx7sk- xaat- xapt-"),
    ("[A-Za-z0-9_]{30,}", "lsv2_"),
    (_HEX + "{32}", "fc-"),
    (
        "(?:"
        + _HEX
        + "{48}|"
        + _GROUPS
        + "|[a-z]{2,20}_(?=[A-Za-z0-9]{40}(?![A-Za-z0-9_-]))"
        + _MIXED
        + "[A-Za-z0-9]{40}|"
        + _MIXED
        + "[A-Za-z0-9_-]{43}"
        + _END
        + "|(?:10|[1235])x[123]_"
        + _HEX
        + "{64})",
        "sk_",
    ),
    (_MIXED + _WORD + "{20,}", "sk-service-"),
    # Clouds.
    (_WORD + "{35}", "AIza"),
    (_WORD + "{28}", "GOCSPX-"),
    ("[A-Z0-9]{16}", "AKIA ASIA ABIA ACCA"),
    ("[A-Z0-9]{17}", "A3T"),
    (_HEX + "{32,}", "dapi"),
    (_HEX + "{32}" + _END, "dose"),
    (_MIXED + "[A-Za-z0-9]{32}" + _END, "rnd_"),
    ("[A-Za-z0-9]{12,}_[A-Za-z0-9]{20,}", "vercel_blob_rw_"),
    ("[A-Za-z0-9]{17,}", "LTAI"),
    ("[A-Za-z0-9]{32}", "AKID"),
    (_HEX + "{60,}", "dop_v1_ doo_v1_ dor_v1_"),
    (_WORD + "{30,}", "HRKU- vcp_ vci_ vca_ vcr_ vck_ nfp_ cfut_ cfat_ sb_secret_ cfk_ mdb_sa_sk_ ion_"),
    ("[A-Za-z0-9]{40}", "sbp_ pul-"),
    (_HEX + "{40}", "turntape- shippo_live_ shippo_test_"),
    ("(?:" + _HEX + "{16}_|local_|sgp_)?(?:local_)?[A-Za-z0-9]{40,}", "sgp_"),
    ("[a-z0-9]{26}" + _END, "da2-"),
    ("(?=[A-Za-z/]*[0-9][A-Za-z/]*[0-9])[a-zA-Z0-9/]{50,55}" + _END, "AK1"),
    ("[A-Za-z]+-[A-Za-z0-9_]+-[A-Za-z0-9_-]{8,}", "tskey-"),
    ("(?:[A-Za-z0-9_]{20,}|[A-Za-z0-9]{1,7}_" + _MIXED + "[A-Za-z0-9]{7,})", "salad_cloud_"),
    ("[A-Za-z0-9]{34,36}" + _END, "ddp_ ddw_"),
    (_MIXED + "[A-Za-z0-9]{32}" + _END, "NF-"),
    ("[A-Za-z0-9]{38}(?![A-Za-z0-9])", "4b1d"),
    (_WORD + "{43}", "sha256~"),
    ("[A-Za-z0-9]{32}", "ico-"),
    ("[A-Z0-9]{26,34}(?![A-Za-z0-9])", "API-"),
    ("[A-Z0-9]{32}" + _END, "API_KEY"),
    (_MIXED + "[A-Za-z0-9_-]{55}" + _END, "KEY"),
    ("[A-Za-z0-9]{36}", "pnu_"),
    # Code and its tools.
    ("[A-Za-z0-9]{30,}", "ghp_ gho_ ghu_ ghr_"),
    # Or the number of an app and a JSON Web Token: https://github.com/mongodb/kingfisher/issues/359 (read 2026-12-01).
    (r"(?:[A-Za-z0-9]{30,}|[0-9]+_eyJ" + _WORD + r"{10,}(?:\." + _WORD + "{10,}){2})", "ghs_"),
    ("[A-Za-z0-9+/@_-]{40,}", "BBDC-"),
    ("[A-Za-z0-9_]{30,}", "github_pat_"),
    (
        _WORD + r"{20,}(?:=[A-Za-z0-9_=-]+)?(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
        "glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glagent- glimt- glffct- gloas- GR1348941",
    ),
    ("[A-Za-z0-9]{36}", "npm_"),
    (_WORD + "{40,}", "pypi-"),
    (_WORD + "{27,}", "dckr_pat_ dckr_oat_"),
    ("[A-Za-z0-9]{42,}", "rubygems_"),
    (_HEX + "{64}", "signkey-prod- signkey-test-"),
    ("[0-9a-z]{50,}", "hcaik_ hcaic_"),
    (_MIXED + "[A-Za-z0-9]{32}" + _END, "cio"),
    ("[A-Za-z0-9]{32,}", "odt_"),
    ("[A-Za-z0-9]{22}_[A-Za-z0-9]{40}", "CCIPAT_ CCIPRJ_"),
    (_HEX + "{64}", "slk_ rootly_"),
    ("[A-Za-z0-9]{40}", "bkua_"),
    ("[A-Za-z0-9_=-]{40,}", "figp_ sqp_ squ_ sqa_ sqco_"),
    (_HEX + "{16,}", "thog-key- thog-secret-"),
    ("[a-z0-9]{32}" + _END, "spu-"),
    ("[A-Za-z0-9_/+=-]{20,60}", "ptr_"),
    ("[a-z0-9]{43}", "oy2"),
    ("[A-Za-z0-9]{60}", "CLOJARS_"),
    ("(?:[A-Za-z0-9_=-]{60,}|[A-Za-z0-9_/+=-]{8,}=[A-F0-9]{8}" + _END + ")", "ATATT3 ATCTT3"),
    ("[A-Za-z0-9]{28,}", "ATBB"),
    (_WORD + "{40,}", "sntryu_ lin_api_ lin_oauth_ ntn_ figd_ figo_ PMAK- tk-us- rdme_"),
    ("[A-Za-z0-9]{59,}", "cmVmd AKC"),
    ("[A-Za-z0-9]{16}", "sm_aat_ sm_pat_ sm_sat_"),
    (_HEX + "{64}", "s-s4t2ud- s-s4t2af-"),
    (_WORD + "{64,}", "xkeysib- xsmtpsib-"),
    ("[A-Za-z0-9_.=-]{40,}", "tfp_ fio-u- duffel_test_ duffel_live_"),
    ("[A-Za-z0-9_.=-]{30,}", "pscale_tkn_ pscale_pw_ pscale_oauth_"),
    ("[A-Za-z0-9]{32}", "p8e-"),
    ("[A-Z0-9-]{27,}", "A3-"),
    ("[A-Za-z0-9_]{41}", "glsa_"),
    ("[A-Za-z0-9]{27}", "NRAK-"),
    ("[A-Za-z0-9_-]{25,}", "NRII- NRIQ-"),
    (_HEX + "{19}", "NRJS- NRBR-"),
    (
        "(?:[A-Za-z0-9]{43}|"
        + _MIXED
        + "[A-Za-z0-9]{16}"
        + _END
        + "|[A-Za-z0-9-]{1,32}_"
        + _HEX
        + r"{32}\.[A-Za-z0-9]{32})",
        "secret_",
    ),
    ("[A-Za-z0-9]{28}", "aio_"),
    ("[A-Za-z0-9]{30,}", "alcht_ BBFF-"),
    ("[A-Za-z0-9]{27}", "pgar_"),
    (_MIXED + "[A-Za-z0-9]{32}" + _END, "scp-live- scp-test-"),
    ("[A-Za-z0-9-]{36}", "apify_api_"),
    (_WORD + "{43}", "CFPAT-"),
    (_WORD + "{40}", "shltm_"),
    (_HEX + "{30}", "bb_pr_ bb_ma_"),
    ("[A-Za-z0-9_=-]{70,}", "dnkey-"),
    (_MIXED + "[A-Za-z0-9.]{45}" + _END, "api_"),
    (_MIXED + "[a-z0-9]{32}" + _END, "web_"),
    (_HEX + "{32}" + _END, "pri_"),
    (_MIXED + "[a-z0-9]{24}" + _END, "act_"),
    (_MIXED + "[A-Za-z0-9]{16}" + _END, "cli_"),
    ("[A-Za-z0-9._+/=]{80,}", "3MVG9 5AEP861"),
    ("[A-Z0-9]{58}", "AGE-SECRET-KEY-1"),
    # Payments, messages, shops.
    (
        "(?:"
        + _GROUPS
        + "|[A-Za-z0-9]{16,}[A-Za-z0-9-]*|[A-Za-z0-9-]{93}"
        + _END
        + "|(?:10|[1235])x[123]_"
        + _HEX
        + "{64}|"
        + _STRIPE
        + ")",
        "sk_live_ sk_test_",
    ),
    (_STRIPE, "rk_live_ rk_test_ sk_prod_ rk_prod_"),
    ("[A-Za-z0-9]{8}_[A-Za-z0-9]{24}" + _END, "re_"),
    ("[A-Za-z0-9]{20,}", "bb_live_ bb_test_"),
    ("[A-Za-z0-9]{16,}", "sk_org_ whsec_ pk_live_ ak_live_ flb_live_ flb_test_"),
    ("[A-Za-z0-9]{1,64}_" + _HEX + "{40}", "sk_pr_"),
    ("[A-Za-z0-9]{14}" + _END, "rzp_live_ rzp_test_"),
    ("(?:(?:[A-Za-z0-9]{6}_)?" + _HEX + "{34}|[0-9]{5,12}_[A-Z0-9]{32})" + _END, "pk_"),
    ("[A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25}", "pi_ seti_"),
    ("[A-Za-z0-9]{40,}", "ramp_id_ ramp_sec_"),
    ("[A-Za-z0-9]{12,}", "FLWSECK_TEST- FLWSECK-"),
    ("[A-Za-z0-9]{54}", "EZAK EZTK"),
    ("[A-Za-z0-9]{40,}", "polar_oat_"),
    ("[A-Za-z0-9_]{45,}", "pdl_live_apikey_ pdl_sdbx_apikey_"),
    (
        "(?:[A-Fa-f0-9]{35}|" + _MIXED + "[A-Za-z0-9]{27}" + _END + "|" + _MIXED + "[A-Za-z0-9_=-]{40,42}" + _END + ")",
        "live_ test_",
    ),
    (
        r"(?:[A-Za-z0-9-]{20,}|[0-9]-[A-Za-z0-9-]{14,}|" + _MIXED + "[A-Za-z0-9]{15,})",
        "xoxb- xoxp- xoxa- xoxs- xoxe- xoxr- xoxc- xoxo- xapp-",
    ),
    ("[A-Za-z0-9%-]{20,}", "xoxd-"),
    (_HEX + "{32}", "shpat_ shpca_ shppa_ shpss_"),
    ("(?:" + _MIXED + "[A-Za-z0-9]{32}" + _END + "|[A-Za-z0-9]{64}" + _END + "|" + _HEX + "{32})", "key-"),
    (_WORD + "{22,}", "sq0atp- sq0csp- sq0idp- sq0idb-"),
    ("[A-Za-z0-9_+=-]{60,}" + _END, "EAAA"),
    ("(?:[A-Za-z0-9]{100,}|EdEose0cBA[A-Za-z0-9]{20,})", "EAAC EAAM"),
    (_HEX + "{32}", "SK"),
    # Maps and searches.
    (_WORD + "{35,38}(?![A-Za-z0-9_-])", "AQVN"),
    (_MIXED + _WORD + "{38}" + _END, "YC"),
)
"""What must follow the prefix of a key, and the prefixes. Longer prefixes before the shorter ones they begin with."""

_PLAID = ("sandbox", "development", "production")

_LONG_BASE64 = "ABSK IQoJb3JpZ2lu FwoGZXIvYXdz fm1a_ fm1r_ fm2_ sntrys_ ops_eyJ eyJrIjoi"
"""Prefixes of long keys in base64."""

_DIGITS = "[AEIMQUYcgk][wxyz0-5]"
"""The end of three digits in base64. They begin with one of twelve pairs of letters."""
_PAIR = "[MNO][DTjz]"
_BOT = (
    f"{_DIGITS}(?:{_PAIR}{_DIGITS}){{4,5}}(?:{_PAIR}[AEIMQUYcgk]|[MNO][AQgw])?"
    + r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"
    + _END
)
"""A token of a Discord bot behind its first pair: its id of 17 to 20 digits in base64, a time, and what is secret."""

SHAPES: tuple[Shape, ...] = (
    *(_key(first + second, _BOT) for first in "MNO" for second in "DTjz"),
    *(_key(prefix, rest) for rest, prefixes in _FAMILIES for prefix in prefixes.split()),
    *(_key(prefix, _BASE64 + "{60,}") for prefix in _LONG_BASE64.split()),
    _key("ya29.", _WORD + "{20,}"),
    # The resource of a short-lived token of Gemini Live and Interactions is the token itself (google-genai 3.6.1).
    _key("auth_tokens/", _WORD + "{20,}"),
    _key("AQ.", _WORD + "{40,}"),
    _key("1//0", _WORD + "{30,}"),
    _key("SG.", r"(?:[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|[A-Za-z0-9_.=-]{60,})"),
    _key("glc_", _BASE64 + "{32,}"),
    _key("fo1_", _WORD + "{43}"),
    _key("bedrock-api-key-", _BASE64 + "{20,}"),
    _key("hvs.", _WORD + "{24,}"),
    _key("hvb.", "[A-Za-z0-9_.-]{24,}"),
    _key("hvr.", _WORD + "{24,}"),
    *(_key(f"dp.{kind}.", "[A-Za-z0-9]{40,}") for kind in ("pt", "ct", "sa", "scim", "audit")),
    _key("na1.", "(?=[A-Za-z0-9+/]{100}(?![A-Za-z0-9+/]))[A-Za-z0-9+/]{100}"),
    _key("VF.", r"(?:DM\.|WS\.)?" + _HEX + r"{24}\.[A-Za-z0-9]{16}" + _END),
    _key("v1.", _HEX + "{40}" + _END),
    _key("st.", _HEX + r"{24}\." + _HEX + r"{32}\." + _HEX + "{32}"),
    _key("snyk_uat.", r"[A-Za-z0-9]{8}\.[A-Za-z0-9_-]{60,}"),
    _key("pk.", _HEX + "{32}" + _END),
    _key("hawk.", r"[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}"),
    _key("tkn.v1_", "[A-Za-z0-9]{60,}={0,2}"),
    _key("1000.", _HEX + r"{32}\." + _HEX + "{32}"),
    _key("bce-v3/ALTAK-", "[A-Za-z0-9]{15,30}/" + _HEX + "{40}"),
    _key("endr+", "[A-Za-z0-9-]{16}" + _END),
    _key("dp.st.", r"[A-Za-z0-9_.-]{40,}"),
    _key("dt0", r"[A-Za-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    _key("t1.", r"[A-Za-z0-9_-]{2,}={0,2}\.[A-Za-z0-9_-]{80,}"),
    _key("sl.", "[A-Za-z0-9_=.-]{100,}"),
    _key("sk.eyJ", r"[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    _key("s.", "(?=[A-Za-z0-9]{0,20}[0-9])(?=[A-Za-z0-9]{0,20}[A-Za-z])[A-Za-z0-9]{24}(?![A-Za-z0-9])"),
    *(_key(f"access-{place}-", _HEX + "{8}(?:-" + _HEX + "{4}){3}-" + _HEX + "{12}") for place in _PLAID),
    *(_key(prefix, r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}") for prefix in ("pat.", "sat.")),
    _key("A" * 22, "[A-Za-z0-9]{5,60}%[0-9A-F]{2}[A-Za-z0-9%]{20,}"),
    _key("v1.0-", "(?:" + _HEX + "{24}-" + _HEX + "{100,}|[A-Za-z0-9._-]{160,})"),
    _key("pat", r"[A-Za-z0-9]{14}\.[A-Za-z0-9]{62,66}"),
    # A refresh token of Entra ID, whose second part begins as its first one does.
    *(
        _key(f"{kind}.A", r"[A-Za-z0-9_-]{50,}(?:\.[0-9])?\.Ag[A-Za-z0-9_-]{200,}(?:\.A[A-Za-z0-9_-]{100,})?")
        for kind in "01"
    ),
    # The session of a Salesforce user: the number of the organization, and what is secret.
    _after("!A", r"(?<=00D[A-Za-z0-9]{12})!(A[A-Za-z0-9_.]{90,110})(?![A-Za-z0-9_.])", is_word=False),
    # A token of a Webex bot, which ends with the cluster and the organization.
    _after(
        "_P", rf"(?<=(?:(?<![A-Za-z0-9])|{_ESCAPE_BEFORE})({_ALNUM}{{64}}))_P[A-Z0-9]{{2,3}}_{_HEX}{{8}}-{_HEX}{{4}}-"
    ),
    # Within a word: a token of a Telegram bot or a Facebook app, which follows its id, a client secret of Entra ID, a
    # token of Terraform, a key of Azure OpenAI.
    _within(":AA", r"([A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    _after(":A", r"(?<=[0-9]{6}):(A[A-Za-z0-9_-]{34})" + _END),
    *(
        _after(
            bar, "(?<=[0-9]{15})" + re.escape(bar) + "(" + _MIXED + "[A-Za-z0-9_-]{27,40})" + _END, is_word=bar != "|"
        )
        for bar in ("|", "%7C")
    ),
    _after("Q~", r"(?<=[0-9])Q~([A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])"),
    _within(".acc", r"[_-]([a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120})"),
    _after("_mmk", r"(?<=([A-Za-z0-9]{6}_[A-Za-z0-9]{29}))_mmk(?![A-Za-z0-9])"),
    _within(".atlasv1.", r"([A-Za-z0-9_=-]{60,70})"),
    _within("JQQJ9", r"([A-Za-z0-9]{61,91})"),
    # Keys of Azure with the signature of their service: storage, functions, search, registries, caches and others.
    *(_signed(name, _BASE64_WORD, 76, "{5}[AQgw]==") for name in ("APIM", "ACDb", "+ABa", "+AMC", "+ASt")),
    *(_signed(name, _BASE64_WORD, 33, "{5}=") for name in ("AIoT", "AZEG", "+ASb", "+AEh", "+ARm")),
    _signed("AzCa", _ALNUM, 33, "{5}="),
    _signed("AzFu", _WORD, 44, "{5}[AQgw]=="),
    _signed("AzSe", _ALNUM, 42, "{6}"),
    _signed("+ACR", _BASE64_WORD, 42, "{6}"),
    # A key of TrueNAS, which a WebSocket client sends as the parameter of a method.
    _within(
        "login_with_api_key",
        r"(?:[^A-Za-z0-9]|\\n){1,40}params(?:[^A-Za-z0-9]|\\n){1,40}([0-9]{1,4}-[A-Za-z0-9]{64})(?![A-Za-z0-9])",
    ),
    # Addresses that let anyone write.
    _within("hooks.slack.com/", r"(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})"),
    _within("hooks.zapier.com/hooks/catch/", r"([A-Za-z0-9/]{12,})"),
    _within(".tines.com/webhook/", r"([a-z0-9]{32}/[a-z0-9]{32})"),
    _within("office.com/webhook/", r"([A-Za-z0-9@/-]{80,}|[A-Za-z0-9-]{36}@[A-Za-z0-9/-]{36,})"),
    # A license key ends with the vendor's letters, an ingest token too.
    _after("FFFFNRAL", r"(?<=([a-z0-9]{32}))FFFFNRAL(?![A-Za-z0-9])"),
    _after("-NRMA", r"(?<=([A-Za-z0-9]{42}))-NRMA(?![A-Za-z0-9])"),
    # A token of Tableau: 16 bytes in base64, and its secret.
    _after(
        "==:", rf"(?<=(?:(?<![A-Za-z0-9+/_-])|{_ESCAPE_BEFORE}){_BASE64_WORD}{{22}})==:({_ALNUM}{{32}})(?![A-Za-z0-9])"
    ),
    # A key of Mailchimp ends with its data center.
    _after("-us", rf"(?<=(?:(?<![A-Za-z0-9])|{_ESCAPE_BEFORE})([0-9a-f]{{32}}))-us[0-9]{{1,2}}(?![A-Za-z0-9-])"),
    _within("/api/webhooks/", r"[0-9]{17,20}/([A-Za-z0-9_-]{60,})"),
    _within("/webhookb2/", r"([A-Za-z0-9@/-]{80,})"),
    # Up to its end, with anything an editor puts before each line; without an end, up to its last whole line.
    _after(
        "-----BEGIN",
        r"-----BEGIN[A-Z +%0-9]*PRIVATE[ +%0-9]*KEY(?:[ +%0-9]*BLOCK)?-----"
        r"((?=[^\"]{0,400}?[A-Za-z0-9+/]{40})(?:(?:(?!-----)[^\"]){40,8000}(?=-----END)"
        r"|(?:(?:\\+[nr]|[^A-Za-z0-9+/=\"\\])(?:[^A-Za-z+/=\"\\]|\\u2192|\\t)*)?"
        r"[A-Za-z0-9+/=]{40,}(?:(?:\\+[nrt]|\\u2192|[^A-Za-z+/=\"\\])+[A-Za-z0-9+/=]{16,})*))",
        is_word=False,
    ),
    # A JSON Web Token: two JSON objects and a signature; or an encrypted one, which has five parts.
    _after(
        "eyJ",
        rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPE_BEFORE}|(?<=%[0-9A-Fa-f]{{2}}))"
        r"(eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){3}|"
        r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{43,}))",
    ),
    # The same with line ends and spaces in its first object.
    _after(
        "ewo",
        rf"(?:(?<![A-Za-z0-9_-])|{_ESCAPE_BEFORE}|(?<=%[0-9A-Fa-f]{{2}}))"
        r"(ewo[A-Za-z0-9_-]{10,}={0,2}\.(?:eyJ|ewo)[A-Za-z0-9_-]{10,}={0,2}\.[A-Za-z0-9_-]{10,})",
    ),
    _after("://", r"://[^\s:/@\"'\\]{0,64}:((?!REDACTED)[^\s:/@\"'\\]{4,128})@", is_word=False),
)
"""The first shape that matches at a place counts."""


BARE = (
    Shape(b"", rb"(?<![0-9a-f-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z_-])", 0),
    Shape(b"", (r"(?<![0-9a-f-])[0-9a-f]{32}\." + _MIXED + "[A-Za-z0-9]{16}(?![A-Za-z0-9_-])").encode(), 0),
    Shape(b"", rb"(?<![0-9a-f-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9a-f]{32}(?![0-9A-Za-z_-])", 0),
    Shape(b"", rb"(?<![0-9/])[0-2](?:/[0-9]{15,17}){1,2}:[0-9a-f]{32}(?![0-9A-Za-z_-])", 0),
)
"""Keys of Mailgun, Z.ai, fal and Asana, which begin with no prefix."""
BARE_FORM = re.compile(rb"h{32}(?:-h{8}-h{8}|\.)|h{8}(?:-h{4}){3}-h{12}:h{32}|h(?:/h{15,17}){1,2}:h{32}")
"""What finds them where each hexadecimal digit is an `h`."""


def _roots(shapes: Iterable[Shape]) -> dict[bytes, tuple[Shape, ...]]:
    """What is searched for, and the shapes that begin with it: no root begins with another one."""
    roots: dict[bytes, list[Shape]] = {}
    by_literal = sorted(shapes, key=lambda shape: shape.literal)  # a literal is right after one that it begins with
    for shape in by_literal:
        last = next(reversed(roots), None)
        root = last if last is not None and shape.literal.startswith(last) else shape.literal
        roots.setdefault(root, []).append(shape)
    order = {shape.literal: place for place, shape in enumerate(SHAPES)}
    return {root: tuple(sorted(found, key=lambda one: order[one.literal])) for root, found in roots.items()}


def _any_of(literals: Iterable[bytes]) -> bytes:
    """A pattern for any of these literals that looks at each letter once."""
    following: dict[bytes, list[bytes]] = {}
    for literal in literals:
        following.setdefault(literal[:1], []).append(literal[1:])
    return b"|".join(
        re.escape(first) + (re.escape(rests[0]) if len(rests) == 1 else b"(?:" + _any_of(rests) + b")")
        for first, rests in following.items()
    )


WORDS = _roots(shape for shape in SHAPES if shape.is_word)
"""What is searched for in words of `LONG_WORD`, and the shapes."""
ANY_WORD = re.compile(b"(?=(" + _any_of(WORDS) + b"))")
"""The places of all of `WORDS`: one search costs half as much as one for each of them."""
CONTEXTS = _roots(shape for shape in SHAPES if not shape.is_word)
"""What is searched for in all of a body, and the shapes."""
