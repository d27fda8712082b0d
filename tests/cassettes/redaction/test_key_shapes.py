"""Each row of each table finds what it is for, and not what only looks like it."""

import re
from collections.abc import Iterator

import pytest

from turntape.cassettes import Redactor
from turntape.cassettes.redaction.key_shapes import CONTEXTS as CONTEXT_ROOTS
from turntape.cassettes.redaction.key_shapes import IN_A_WORD, LONG_WORD, SHAPES, WORDS

REDACTOR = Redactor(salt="s")


def names(text: str) -> list[str]:
    return text.split()


def word(size: int) -> str:
    """Letters, digits, `_` and `-`."""
    return ("aZ0-9_b" * 20)[:size]


def letters(size: int) -> str:
    """Letters and digits."""
    return ("aZ09b" * 20)[:size]


def upper(size: int) -> str:
    return ("AZ09B" * 20)[:size]


SLACK = ("aZ0-9b" * 5)[:20]
HEX = "a0F9"
UUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
GROUPS = "0a1b2c3d-4Eg5-h071-8z93-a4b5c6D7e8f9"
HARNESS = f"{word(22)}.{letters(24)}.{letters(20)}"
ONE_PASSWORD = "-".join((upper(6), upper(6), upper(5), upper(5), upper(5)))[:27]
DISCORD_PAIRS = "MD MT Mj Mz ND NT Nj Nz OD OT Oj Oz"
DISCORD = f"Iw{'MTIz' * 4}MTI.Cl2FMQ.{word(27)}"
KEYS: dict[str, tuple[str, list[str]]] = {
    **{prefix: (DISCORD, [
        DISCORD[:-1], DISCORD + word(12), DISCORD[4:], DISCORD.replace("Cl2FMQ", "Cl2FM"), DISCORD.replace("Iw", "Ia"),
    ]) for prefix in names(DISCORD_PAIRS)},
    **{prefix: (word(20), [word(19)]) for prefix in names("""
        sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk-lf- sk-None- sk-helicone- tvly- pcsk_ glpat- gldt- glrt- glptt-
        glft- glsoat- glcbt- glagent- glimt- glffct- gloas- GR1348941 ya29.
        auth_tokens/
    """)},
    **{prefix: (letters(12), [letters(11), "a" * 15, "-" + letters(16)]) for prefix in names("""
        sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_
    """)},
    **{prefix: (letters(16), [letters(15), "-" + letters(16)]) for prefix in names("""
        sk_org_ whsec_ sm_aat_ sm_pat_ sm_sat_
        pk_live_ ak_live_ flb_live_ flb_test_
    """)},
    **{prefix: (GROUPS, [GROUPS[:-1], f"{GROUPS}a", GROUPS.replace("-", "_")]) for prefix in names("""
        pk-lf- sdk- api- pub-c- sub-c- pat-na1- pat-eu1- ctx7sk- xaat- xapt-
    """)},
    "sk-let-": (word(40), [word(21)]),
    "sk-api-": (word(60), [word(59)]),
    "crsr_": (letters(40), [letters(39)]),
    **{
        f"{kind}.A": (f"{word(50)}.Ag{word(100) * 2}", [f"{word(49)}.Ag{word(100) * 2}", f"{word(50)}.Ag{word(100)}"])
        for kind in "01"
    },
    "sgamp_user_": (f"{upper(26)}_{HEX * 16}", [f"{upper(25)}_{HEX * 16}", f"{upper(26)}_{HEX * 15}a0f"]),
    "pylf_v": (f"1_us_{letters(30)}", [f"1_us_{letters(29)}", f"us_{letters(30)}", "1_us_token"]),
    "llx-": (letters(48), [letters(47), letters(49), "016llx"]),
    "cpk_": (f"{HEX * 8}.{HEX * 8}.{letters(32)}", [f"{HEX * 8}.{HEX * 8}.{letters(31)}", f"{HEX * 8}.{HEX * 7}"]),
    "tpuf_": (letters(32), [letters(31), letters(33), "a" * 31 + "9", "batch_size"]),
    **{prefix: ("a0f9" * 16, ["a0f9" * 15 + "a0f"]) for prefix in names("signkey-prod- signkey-test-")},
    **{prefix: ("01ab9" * 10, ["01ab9" * 9 + "01ab", "01AB9" * 10]) for prefix in names("hcaik_ hcaic_")},
    "polar_oat_": (letters(40), [letters(39)]),
    **{prefix: (f"01{letters(43)}", [f"01{letters(42)}"]) for prefix in names("pdl_live_apikey_ pdl_sdbx_apikey_")},
    "bce-v3/ALTAK-": (f"{letters(15)}/{HEX * 10}", [f"{letters(14)}/{HEX * 10}", f"{letters(21)}/{HEX * 9}a0f"]),
    **{prefix: (letters(20), [letters(19)]) for prefix in names("sk- fw_")},
    **{prefix: (letters(30), [letters(29), "_" + letters(30)]) for prefix in names("""
        hf_ gsk_ r8_ ghp_ gho_ ghu_ ghs_ ghr_ pplx-
    """)},
    "BBDC-": (f"{letters(36)}+/@_", [letters(39), f"{letters(39)}."]),
    **{prefix: (word(30), [word(29)]) for prefix in names("""
        nvapi- jina_ tgp_v1_ wandb_v1_ api_org_ HRKU- vcp_ vci_ vca_ vcr_ vck_ nfp_ cfut_ cfat_ pscale_tkn_
        pscale_pw_ pscale_oauth_ sb_secret_ cfk_ mdb_sa_sk_ ion_
    """)},
    **{prefix: (word(40), [word(39)]) for prefix in names("""
        pypi- sntryu_ lin_api_ lin_oauth_ ntn_ figd_ figo_ PMAK- AQ. tk-us- rdme_
        tfp_ fio-u- duffel_test_ duffel_live_ figp_ sqp_ squ_ sqa_ sqco_
    """)},
    **{prefix: (upper(16), [upper(15), letters(16)]) for prefix in names("AKIA ASIA ABIA ACCA")},
    **{prefix: (SLACK, [SLACK[1:], "_" + SLACK]) for prefix in names("""
        xoxb- xoxp- xoxa- xoxs- xoxe- xoxr- xoxc- xoxo- xapp-
    """)},
    **{prefix: (HEX * 15, [HEX * 14 + HEX[:3]]) for prefix in names("dop_v1_ doo_v1_ dor_v1_")},
    **{prefix: (HEX * 8, [HEX * 7 + HEX[:3]]) for prefix in names("ls__ fc- dapi shpat_ shpca_ shppa_ shpss_")},
    **{prefix: (HEX * 10, [HEX * 9 + HEX[:3]]) for prefix in names("""
        sbp_ pul- turntape- sgp_ shippo_live_ shippo_test_ bkua_
    """)},
    **{prefix: (HEX * 12, [HEX * 11 + HEX[:3]]) for prefix in names("sk_")},
    **{prefix: ("aZ0/+9" * 10, [("aZ0/+9" * 10)[:59]]) for prefix in names("""
        ABSK IQoJb3JpZ2lu FwoGZXIvYXdz fm1a_ fm1r_ fm2_ sntrys_ ops_eyJ eyJrIjoi
    """)},
    **{prefix: (word(60), [word(59)]) for prefix in names("ATATT3 ATCTT3")},
    **{prefix: (word(24), [word(23)]) for prefix in names("hvs. hvb. hvr.")},
    **{prefix: (word(22), [word(21)]) for prefix in names("sq0atp- sq0csp- sq0idp- sq0idb-")},
    **{prefix: (letters(59), [letters(58)]) for prefix in names("cmVmd AKC")},
    **{prefix: (letters(12), [letters(11)]) for prefix in names("FLWSECK- FLWSECK_TEST-")},
    **{prefix: (letters(54), [letters(53)]) for prefix in names("EZAK EZTK")},
    **{prefix: (letters(27), [letters(26), letters(28), "x" * 26 + "9", "x" * 40]) for prefix in names("live_ test_")},
    **{prefix: ("0a1f" * 16, ["0a1f" * 15 + "0a1"]) for prefix in names("""
        s-s4t2ud- s-s4t2af- xkeysib- xsmtpsib- slk_ rootly_
    """)},
    **{prefix: (word(27), [word(26)]) for prefix in names("dckr_pat_ dckr_oat_")},
    **{prefix: (f"{letters(22)}_{HEX * 10}", [f"{letters(21)}_{HEX * 10}", f"{letters(22)}_{HEX * 9}"])
       for prefix in names("CCIPAT_ CCIPRJ_")},
    **{prefix: (letters(16), [letters(15), letters(17), "a" * 15 + "9"]) for prefix in names("cli_")},
    **{prefix: (HEX * 4, [HEX * 3]) for prefix in names("thog-key- thog-secret-")},
    **{prefix: ("a0f9" * 4 + "abc", ["a0f9" * 4 + "ab", "a0f9" * 4 + "abx"]) for prefix in names("NRJS- NRBR-")},
    **{prefix: (word(25), [word(24)]) for prefix in names("NRII- NRIQ-")},
    **{prefix: (letters(30), [letters(29)]) for prefix in names("alcht_ BBFF-")},
    **{prefix: ("a0f9" * 7 + "ab", ["a0f9" * 7 + "a"]) for prefix in names("bb_pr_ bb_ma_")},
    **{prefix: (letters(14), [letters(13), letters(15)]) for prefix in names("rzp_live_ rzp_test_")},
    **{prefix: (f"{letters(24)}_secret_{letters(25)}", [f"{letters(24)}_secret_{letters(24)}", letters(50)])
       for prefix in names("pi_ seti_")},
    **{prefix: (letters(40), [letters(39)]) for prefix in names("ramp_id_ ramp_sec_")},
    **{prefix: (word(80).replace("-", "."), [word(79)]) for prefix in names("3MVG9 5AEP861")},
    **{
        prefix: (letters(32), [letters(31), letters(33), "a" * 31 + "9"])
        for prefix in names("scp-live- scp-test- cio")
    },
    "LTAI": (letters(17), [letters(16)]),
    "key-": (letters(32), [letters(31), letters(33), "x" * 31 + "9"]),
    "rubygems_": (letters(42), [letters(41)]),
    "da2-": ("az09" * 6 + "az", ["az09" * 6 + "a", "az09" * 7, "AZ09" * 6 + "az"]),
    "AK1": (letters(50), [letters(49), letters(56), "a" * 49 + "9"]),
    "tskey-": (f"auth-{letters(12)}-{letters(16)}", [f"auth-{letters(30)}", f"auth-{letters(12)}-{letters(7)}"]),
    "salad_cloud_": (f"org_{letters(9)}", [letters(19), "org_machines"]),
    "sk-service-": (word(20), [word(19), "a-long-name-of-a-thing"]),
    **{prefix: (letters(34), [letters(33), letters(37)]) for prefix in names("ddp_ ddw_")},
    "NF-": (letters(32), [letters(31), letters(33), "a" * 31 + "9"]),
    **{prefix: (letters(40), [letters(39)]) for prefix in names("rpa_ flp_ m0- sess-")},
    **{prefix: (letters(60), [letters(59)]) for prefix in names("xai-token- napi_")},
    **{prefix: ("a0f9" * 16, ["a0f9" * 15 + "a0f", "a0f9" * 16 + "a"]) for prefix in names("dtn_ key_")},
    "BSA": (word(28), [word(27), word(29), "a" * 27 + "9"]),
    "up_": (letters(29), [letters(28), letters(30), "a" * 28 + "9"]),
    "ak_": (letters(20), [letters(19), letters(21), "a" * 19 + "9"]),
    **{prefix: (letters(22), [letters(21), letters(23), "a" * 21 + "9"]) for prefix in names("as- ak-")},
    "sk_car_": (letters(20), [letters(19)]),
    "dose": ("a0f9" * 8, ["a0f9" * 7 + "a0f", "a0f9" * 8 + "a"]),
    "rnd_": (letters(32), [letters(31), letters(33), "a" * 31 + "9"]),
    "vercel_blob_rw_": (f"{letters(12)}_{letters(20)}", [letters(40), f"{letters(12)}_{letters(19)}"]),
    "re_": (f"{letters(8)}_{letters(24)}", [letters(33), f"{letters(8)}_{letters(23)}", f"{letters(8)}_{letters(25)}"]),
    **{prefix: (letters(20), [letters(19)]) for prefix in names("bb_live_ bb_test_")},
    "v1.": ("a0f9" * 10, ["a0f9" * 9 + "a0f", "a0f9" * 10 + "a"]),
    "st.": (f"{'a0f9' * 6}.{'a0f9' * 8}.{'a0f9' * 8}", [f"{'a0f9' * 6}.{'a0f9' * 8}.{'a0f9' * 7}"]),
    "snyk_uat.": (f"{letters(8)}.{word(60)}", [f"{letters(8)}.{word(59)}", f"{letters(7)}.{word(60)}"]),
    "pk_": ("a0f9" * 8 + "a0", ["a0f9" * 8 + "a", "a0f9" * 8 + "a0f", f"aZ09b_{'a0f9' * 8}a"]),
    "pk.": ("a0f9" * 8, ["a0f9" * 7 + "a0f", "a0f9" * 8 + "a"]),
    "VF.": (f"DM.{'a0f9' * 6}.{letters(16)}", [f"DM.{'a0f9' * 6}.{letters(15)}", f"{'a0f9' * 5}.{letters(16)}"]),
    "YC": (word(38), [word(37), word(39), "a" * 37 + "9"]),
    "API_KEY": (upper(32), [upper(31), letters(32)]),
    "KEY": (word(55), [word(54), word(56), "a" * 54 + "9"]),
    "odt_": (letters(32), [letters(31)]),
    "spu-": ("az09" * 8, ["az09" * 7 + "az0", "az09" * 8 + "a"]),
    "ptr_": (word(20), [word(19)]),
    "aio_": (letters(28), [letters(27)]),
    "pgar_": (letters(27), [letters(26)]),
    "apify_api_": (letters(36), [letters(35)]),
    "CFPAT-": (word(43), [word(42)]),
    "shltm_": (word(40), [word(39)]),
    "dnkey-": (word(70), [word(69)]),
    "api_": (letters(45), [letters(44), letters(46), "a" * 44 + "9"]),
    "web_": ("az09" * 8, ["az09" * 7 + "az0", "a" * 31 + "9"]),
    "pri_": ("a0f9" * 8, ["a0f9" * 7 + "a0f", "a0f9" * 8 + "x"]),
    "act_": ("az09" * 6, ["az09" * 5 + "az0", "a" * 23 + "9"]),
    "sk_pr_": (f"a_{'a0f9' * 10}", [f"a_{'a0f9' * 9}", "a0f9" * 9]),
    **{f"dp.{kind}.": (letters(40), [letters(39)]) for kind in names("ct sa scim audit")},
    "na1.": (("aZ0/+9" * 17)[:100], [("aZ0/+9" * 17)[:99], ("aZ0/+9" * 17)[:101]]),
    "hawk.": (f"{word(20)}.{word(20)}", [f"{word(19)}.{word(20)}", f"{word(20)}.{word(19)}"]),
    "tkn.v1_": (letters(60), [letters(59)]),
    "1000.": (f"{'a0f9' * 8}.{'a0f9' * 8}", [f"{'a0f9' * 7}.{'a0f9' * 8}", f"{'a0f9' * 8}.{'a0f9' * 7}"]),
    "endr+": (letters(16), [letters(15), letters(17)]),
    **{prefix: (letters(100), [letters(99)]) for prefix in names("EAAC EAAM")},
    **{prefix: (UUID, [UUID[:-1]]) for prefix in names("access-sandbox- access-development- access-production-")},
    **{prefix: (HARNESS, [HARNESS[:-1], HARNESS[1:]]) for prefix in names("pat. sat.")},
    "A3T": (upper(17), [upper(16)]),
    "4b1d": (letters(38), [letters(37), letters(39)]),
    "sha256~": (word(43), [word(42)]),
    "ico-": (letters(32), [letters(31)]),
    "API-": (upper(26), [upper(25), upper(35), letters(26)]),
    "pnu_": (letters(36), [letters(35)]),
    "p8e-": ("az09" * 8, ["az09" * 7 + "az0"]),
    "A3-": (ONE_PASSWORD, [ONE_PASSWORD[:-1]]),
    "AQVN": (word(35), [word(34), word(39)]),
    "glc_": ("aZ0/+9" * 5 + "aZ", ["aZ0/+9" * 5 + "a"]),
    "fo1_": (word(43), [word(42)]),
    "bedrock-api-key-": ("aZ0/+9" * 3 + "aZ", ["aZ0/+9" * 3 + "a"]),
    "t1.": (f"{word(2)}==.{word(80)}", [f"{word(1)}.{word(80)}", f"{word(20)}.{word(79)}"]),
    "sl.": (word(100), [word(99)]),
    "sk.eyJ": (f"{word(40)}.{word(20)}", [f"{word(39)}.{word(20)}", f"{word(40)}.{word(19)}"]),
    "s.": (letters(24), [letters(23), letters(25), "a" * 24, "9" * 24]),
    "A" * 22: (f"{letters(30)}%2F{letters(20)}", [letters(50), f"{letters(30)}%2F{letters(19)}"]),
    "csk-": (("az09" * 12), ["az09" * 11 + "az0"]),
    "pa-": (word(43), [word(42), word(44)]),
    "xai-": (letters(40), [letters(39), "-" + letters(40)]),
    "phx_": (letters(40), [letters(39), "-" + letters(40)]),
    "e2b_": (letters(40), [letters(39)]),
    "lsv2_": ("pt_" + letters(27), [letters(29), "-" + letters(30)]),
    "AIza": (word(35), [word(34)]),
    "GOCSPX-": (word(28), [word(27)]),
    "AKID": (letters(32), [letters(31)]),
    "github_pat_": ("_" + letters(29), [letters(29), "-" + letters(30)]),
    "npm_": (letters(36), [letters(35), "_" + letters(36)]),
    "oy2": ("az09" * 10 + "az0", ["az09" * 10 + "az"]),
    "CLOJARS_": ("az09" * 15, ["az09" * 14 + "az0"]),
    "ATBB": (letters(28), [letters(27)]),
    "glsa_": (f"{letters(32)}_{HEX * 2}", [f"{letters(31)}_{HEX * 2}", f"{letters(32)}_{HEX}"]),
    "NRAK-": (letters(27), [letters(26)]),
    "secret_": (letters(16), [letters(15), letters(42), "a" * 15 + "9"]),
    "AGE-SECRET-KEY-1": (upper(58), [upper(57)]),
    "xoxd-": ("%2B" + SLACK[3:], [SLACK[1:], "_" + SLACK]),
    "EAAA": (word(60), [word(59)]),
    "SK": ("a0f9" * 8, ["a0f9" * 7 + "a0f"]),
    "1//0": (word(30), [word(29)]),
    "SG.": (f"{word(20)}.{word(20)}", [f"{word(19)}.{word(20)}", f"{word(20)}.{word(19)}", f"{word(20)}-{word(20)}"]),
    "dp.pt.": (letters(40), [letters(39)]),
    "dp.st.": (f"dev.{letters(36)}", [letters(39)]),
    "dt0": (f"c01.{upper(24)}.{upper(64)}", [f"c01.{upper(23)}.{upper(64)}", f"c01.{upper(24)}.{upper(63)}"]),
    "v1.0-": (f"{HEX * 6}-{HEX * 25}", [f"{HEX * 6}-{HEX * 24}"]),
    "pat": (f"{letters(14)}.{letters(62)}", [f"{letters(13)}.{letters(62)}", f"{letters(14)}.{letters(61)}"]),
}  # fmt: skip
"""A prefix, the shortest rest of a key, and rests that are not one."""

FIXED = names(
    DISCORD_PAIRS
    + """
    AIza AKIA ASIA ABIA ACCA AKID npm_ SG. pa- csk- ls__ fc- sk_ rubygems_ oy2 CLOJARS_ GOCSPX- NRAK- secret_ glsa_
    sbp_ pul- turntape- sgp_ shippo_live_ shippo_test_ p8e- ico- API- pnu_ 4b1d sha256~ A3T A3- EZAK EZTK live_ test_
    s-s4t2ud- s-s4t2af- xkeysib- xsmtpsib- access-sandbox- access-development- access-production- pat. sat. NRII- AQVN
    fo1_ s. t1. sk.eyJ sm_aat_ sm_pat_ sm_sat_ AGE-SECRET-KEY-1 shpat_ shpca_ shppa_ shpss_ key- SK dt0 v1.0- pat
    ddp_ ddw_ NF- pk_ pk. VF. YC
    pylf_v ctx7sk- xaat- xapt- sgamp_user_ llx- cpk_ tpuf_ signkey-prod- signkey-test- bce-v3/ALTAK-
    pk-lf- sdk- api- pub-c- sub-c- pat-na1- pat-eu1- CCIPAT_ CCIPRJ_ cli_ NRJS- NRBR- bb_pr_ bb_ma_ rzp_live_
    rzp_test_ pi_ seti_ scp-live- scp-test- cio da2- AK1 tskey- API_KEY KEY spu- aio_ pgar_ apify_api_ CFPAT- shltm_
    api_ web_ pri_ act_ sk_pr_ na1. hawk. 1000. endr+ slk_ rootly_ bkua_ ptr_
    dtn_ key_ BSA up_ ak_ as- ak- dose rnd_ re_ v1. st. snyk_uat. vercel_blob_rw_ 0.A 1.A
"""
)
"""Keys of one length, or of a fixed form."""

LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCabc+/ABC"
JWT = ("eyJhbGciOiJIU", "eyJzdWIiOi_-x", "SflKxwRJSM")
GUID = ("aZ09-" * 8)[:36]
TEAMS = f"{GUID}@{GUID}/IncomingWebhook/{letters(32)}/{GUID}"
CONTEXTS: dict[str, tuple[str, list[str], list[str]]] = {
    "-----BEGIN": (
        "-----BEGIN {}-----@@-----END X-----",
        [LINE + LINE],
        [f"-----BEGIN PUBLIC KEY-----{LINE}{LINE}-----END PUBLIC KEY-----", "-----BEGIN PRIVATE KEY-----"],
    ),
    "ewo": (
        "token @@.",
        [f"ewo{letters(10)}.ewo{word(10)}.{word(10)}", f"ewogIC{letters(12)}==.eyJ{word(12)}.{word(43)}"],
        [f"ewo{letters(10)}.xwo{word(10)}.{word(10)}", f"ewo{letters(10)}.ewo{word(10)}", "ewogIC"],
    ),
    "eyJ": (
        "token @@.",
        [".".join(JWT), f"{JWT[0]}..{JWT[2]}.{JWT[2]}.{JWT[2]}", f"{JWT[0]}.{word(20)}.{word(43)}"],
        [
            f"{JWT[0][:-1]}.{JWT[1]}.{JWT[2]}",
            f"{JWT[0]}.{JWT[1][:-1]}.{JWT[2]}",
            f"{JWT[0]}.{JWT[1]}.{JWT[2][:-1]}",
            f"{JWT[0]}.{JWT[1]}",
            f"{JWT[0]}.xx{JWT[1]}.{JWT[2]}",
            f"{JWT[0]}.{word(19)}.{word(43)}",
            f"{JWT[0]}.{word(20)}.{word(42)}",
        ],
    ),
    ":A": (
        "bot 123456789:@@ is",
        [f"A{word(34)}"],
        [f"123456789:A{word(33)}", f"123456789:A{word(35)}", f"a:A{word(34)}", f"123456789:B{word(34)}"],
    ),
    **{
        bar: (
            f"app 123456789012345{bar}@@ is",
            [word(27), word(40)],
            [f"123456789012345{bar}{word(26)}", f"1234567890123{bar}{word(27)}", f"123456789012345{bar}{'a' * 27}"],
        )
        for bar in ("|", "%7C")
    },
    ":AA": ("bot 123456789:AA@@ is", [word(33)], [f"123456789:AA{word(32)}", f"123456789:AA{word(34)}"]),
    "Q~": (
        "abc8Q~@@ is",
        ["aZ0~9.b-c" * 3 + "abcd", "aZ0~9.b-c" * 3 + "abcdefg"],
        [f"abc8Q~{word(30)}", f"abc7Q~{word(36)}", f"abcdQ~{word(32)}"],
    ),
    ".acc": (
        "sc_abc12.def4.acc_@@ is",
        [f"abc-123456.{letters(30)}"],
        [f"sc_a.b.acc_abc12345.{letters(30)}", f"sc_a.b.acc_abc-123456.{letters(29)}"],
    ),
    "_mmk": (
        "license @@_mmk is",
        [f"{letters(6)}_{letters(29)}"],
        [f"{letters(6)}_{letters(28)}_mmk", f"{letters(6)}_{letters(29)}_mmkx"],
    ),
    "!A": (
        "session 00Daz09AZ09az09!@@ is",
        [f"A{letters(90)}"],
        [f"00Daz09AZ09az0!A{letters(90)}", f"00Daz09AZ09az09!A{letters(89)}", "stop!Also"],
    ),
    "_P": (
        "bot @@_PF84_0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9 is",
        [letters(64)],
        [f"{letters(63)}_PF84_{GUID}", f"0{letters(64)}_PF84_{GUID}", f"{letters(64)}_PF84_{letters(8)}", "MAX_PATH"],
    ),
    ".atlasv1.": ("aZ09bcdefghijk.atlasv1.@@ is", [word(60), word(70)], [f"x.atlasv1.{word(59)}"]),
    "JQQJ9": (f"{letters(52)}JQQJ9@@ is", [f"9{letters(60)}", f"D{letters(60)}"], [f"JQQJ9{letters(60)}"]),
    **{
        name: (
            f"key @@{name}abcdeg== is",
            [letters(76)],
            [f"{letters(75)}{name}abcdeg==", f"{letters(77)}{name}abcdeg=="],
        )
        for name in ("APIM", "ACDb", "+ABa", "+AMC", "+ASt")
    },
    **{
        name: (f"key @@{name}abcde= is", [letters(33)], [f"{letters(33)}{name}abcdef", f"{letters(34)}{name}abcde="])
        for name in ("AIoT", "AZEG", "+ASb", "+AEh", "+ARm", "AzCa")
    },
    "AzFu": ("key @@AzFuab-deg== is", [word(44)], [f"{word(44)}AzFuabcdef==", f"{word(43)}AzFuabcdeg=="]),
    "AzSe": ("key @@AzSeabcdef is", [letters(42)], [f"{letters(42)}AzSeabcde", f"{letters(41)}AzSeabcdef"]),
    "+ACR": ("key @@+ACRabcdef is", [letters(42)], [f"{letters(42)}+ACRabcde", f"{letters(43)}+ACRabcdef"]),
    "==:": (
        "token aZ09bcdefghijklmno+/pQ==:@@ is",
        [letters(32)],
        [f"aZ09bcdefghijklmno+/pQ==:{letters(31)}", f"aZ09bcdefghijklmno+/pQ==:{letters(33)}", f"0Q==:{letters(32)}"],
    ),
    "hooks.slack.com/": (
        "https://hooks.slack.com/services/@@ is",
        [f"T{upper(9)}/B{upper(9)}/{letters(24)}"],
        ["https://hooks.slack.com/services/abc", f"https://hooks.slack.com/docs/{letters(24)}"],
    ),
    "login_with_api_key": (
        '{"method":"auth.login_with_api_key", "params" : ["@@"]}',
        [f"8-{letters(64)}"],
        [f'"auth.login_with_api_key", "params":["8-{letters(63)}"]', f"login_with_api_key(8-{letters(64)})"],
    ),
    "hooks.zapier.com/hooks/catch/": (
        "https://hooks.zapier.com/hooks/catch/@@ is",
        [f"1234567/{letters(7)}"],
        ["https://hooks.zapier.com/hooks/catch/1234567/abc"],
    ),
    ".tines.com/webhook/": (
        "https://a.tines.com/webhook/@@ is",
        [f"{'az09' * 8}/{'az09' * 8}"],
        [f"https://a.tines.com/webhook/{'az09' * 8}/{'az09' * 7}"],
    ),
    "office.com/webhook/": (
        "https://outlook.office.com/webhook/@@ is",
        [TEAMS, f"{GUID}@{GUID}"],
        [f"https://outlook.office.com/webhook/{GUID}"],
    ),
    "FFFFNRAL": ("license @@FFFFNRAL is", ["a0f9" * 8], [f"{'a0f9' * 7}a0fFFFFNRAL", f"{'a0f9' * 8}FFFFNRALx"]),
    "-NRMA": ("app @@-NRMA is", [f"AA{'a0f9' * 10}"], [f"A{'a0f9' * 10}-NRMA", f"AA{'a0f9' * 10}-NRMAx"]),
    "-us": (
        "key @@-us21 is",
        ["a0f9" * 8],
        [f"{'a0f9' * 7}a0f-us21", f"{'a0f9' * 8}-us21x", f"{'a0f9' * 8}-us-east-1", f"0{'a0f9' * 8}-us21", "en-us"],
    ),
    "/api/webhooks/": (
        "https://discord.com/api/webhooks/12345678901234567/@@ is",
        [word(60)],
        [f"/api/webhooks/1234567890123456/{word(60)}", f"/api/webhooks/12345678901234567/{word(59)}"],
    ),
    "/webhookb2/": (
        "https://a.webhook.office.com/webhookb2/@@ is",
        [TEAMS],
        [f"/webhookb2/{letters(79)}"],
    ),
    "://": (
        "postgres://app:@@@db/x",
        ["pass", "p" * 128],
        ["postgres://app:abc@db/x", f"postgres://app:{'p' * 129}@db/x", "https://a.example:8080/@x", "https://a@b/x"],
    ),
}
"""A literal: a text with `@@` in the place of the secret, secrets, and texts without one."""


def test_every_shape_has_a_case() -> None:
    literals = [shape.literal.decode() for shape in SHAPES]

    assert len(set(literals)) == len(literals)
    assert set(literals) == {*KEYS, *CONTEXTS}


def test_every_shape_is_searched_for_by_the_root_that_it_begins_with() -> None:
    roots = WORDS | CONTEXT_ROOTS
    assert sorted(shape.literal for shapes in roots.values() for shape in shapes) == sorted(s.literal for s in SHAPES)
    assert all(shape.literal.startswith(root) for root, shapes in roots.items() for shape in shapes)
    assert len(roots) < len(SHAPES)
    assert all(shape.is_word for shapes in WORDS.values() for shape in shapes)
    for group in (WORDS, CONTEXT_ROOTS):
        assert not [1 for a in group for b in group if a != b and a.startswith(b)], "one search would miss the longer"


@pytest.mark.parametrize("literal", [shape.literal.decode() for shape in SHAPES if shape.is_word])
def test_the_shortest_key_is_one_long_word(literal: str) -> None:
    """Else a search of such words would miss it."""
    rests = [KEYS[literal][0]] if literal in KEYS else CONTEXTS[literal][1]
    text = [literal + rest if literal in KEYS else CONTEXTS[literal][0].replace("@@", rest) for rest in rests]
    for said in text:
        word = next(word for word in re.split(rf"[^\w{re.escape(IN_A_WORD.decode())}]", said) if literal in word)

        assert len(word) >= LONG_WORD


@pytest.mark.parametrize("literal", KEYS)
def test_a_key_is_found_at_its_shortest(literal: str) -> None:
    rest, _ = KEYS[literal]

    clean = REDACTOR.body(f'{{"key": "{literal}{rest}"}}'.encode())

    assert rest.encode() not in clean and b"REDACTED" in clean


@pytest.mark.parametrize("literal", KEYS)
def test_a_long_key_shows_its_prefix_and_is_masked_to_its_end(literal: str) -> None:
    rest, _ = KEYS[literal]
    long = rest * 3 if literal not in FIXED else rest
    prefix = f"{literal}REDACTED-" if len(long) >= 17 else "REDACTED-"

    clean = REDACTOR.body(f"a {literal}{long} b".encode()).decode()

    assert clean.startswith(f"a {prefix}") and clean.endswith(" b")
    assert len(clean) == len(f"a {literal}{long} b")
    assert clean[len(prefix) + 2 + 8 : -2].strip("*") == ""


@pytest.mark.parametrize(("literal", "rest"), [(key, rest) for key, (_, rests) in KEYS.items() for rest in rests])
def test_a_near_miss_of_a_key_is_left(literal: str, rest: str) -> None:
    text = f'{{"key": "{literal}{rest}"}}'.encode()

    assert REDACTOR.body(text) == text


@pytest.mark.parametrize("literal", KEYS)
def test_a_key_inside_a_word_is_left(literal: str) -> None:
    text = f"my{literal}{KEYS[literal][0]}".encode()

    assert REDACTOR.body(text) == text


def contexts() -> Iterator[tuple[str, str]]:
    """Texts with a secret, and the secret."""
    kinds = ["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "OPENSSH+PRIVATE%20KEY"]
    for form, found, _ in CONTEXTS.values():
        for secret in found:
            for kind in kinds if "{}" in form else [""]:
                yield form.replace("{}", kind).replace("@@", secret, 1), secret


@pytest.mark.parametrize(("text", "secret"), contexts())
def test_a_secret_is_found_by_its_context(text: str, secret: str) -> None:
    clean = REDACTOR.body(text.encode()).decode()

    before, after = text.split(secret)
    assert clean.startswith(before + "REDACTED"[: len(secret)]) and clean.endswith(after)
    assert len(clean) == len(text)


@pytest.mark.parametrize("text", [text for _, _, texts in CONTEXTS.values() for text in texts])
def test_a_near_miss_of_a_context_is_left(text: str) -> None:
    assert REDACTOR.body(text.encode()).decode() == text


SIGNED = f"{'az/0' * 10}9b+ACRAbcdef"
STATELESS = f"ghs_1234567_{'.'.join(JWT)}"


@pytest.mark.parametrize(
    "key",
    [
        SIGNED,
        f"{'a0f9' * 8}-us21",
        f"aZ09bcdefghijklmno+/pQ==:{letters(32)}",
        STATELESS,
        f"r8_{letters(20)}-_{letters(15)}",
        f"sk_live_{letters(9)}-{letters(83)}",
        f"sk_10x3_{'a0F9' * 16}",
        f"sk_test_1x2_{'a0F9' * 16}",
    ],
)
@pytest.mark.parametrize("around", ["is @@ ok", '{"c":"a\\n@@\\nb"}', "VALUE=@@", "x?v=@@", "(@@)", "@@, ok"])
def test_a_key_is_found_whatever_is_before_it(key: str, around: str) -> None:
    clean = REDACTOR.body(around.replace("@@", key).encode()).decode()

    assert key not in clean and key[-6:] not in clean[around.index("@@") :][: len(key) - 5]
    assert len(clean) == len(around) - 2 + len(key)


def test_no_part_of_a_long_token_of_github_stays() -> None:
    """Its three parts, not only the first one."""
    clean = REDACTOR.body(f"token {STATELESS}.".encode()).decode()

    assert clean.startswith("token ghs_REDACTED-") and clean.endswith("*.")
    assert not any(part in clean for part in JWT)


BARE = {
    "Mailgun": (f"{'a0f9' * 8}-{'a0f9' * 2}-{'09af' * 2}", [f"{'a0f9' * 8}-{'a0f9' * 2}-{'a0f9' * 2}a", "a0f9" * 8]),
    "Z.ai": (f"{'a0f9' * 8}.{letters(16)}", [f"{'a0f9' * 8}.{letters(15)}", f"{'a0f9' * 8}.tar", f"{'a0f9' * 8}."]),
    "fal": (f"{UUID}:{'a0f9' * 8}", [f"{UUID}:{'a0f9' * 7}a0f", f"{UUID[1:]}:{'a0f9' * 8}", f"{UUID}-{'a0f9' * 8}"]),
    "Asana": (f"1/{'1203' * 4}:{'a0f9' * 8}", [f"1/{'1203' * 4}:{'a0f9' * 7}", f"3/{'1203' * 4}:{'a0f9' * 8}"]),
    "Asana 2": (
        f"2/{'1203' * 4}/{'1304' * 4}:{'a0f9' * 8}",
        [f"2/{'1203' * 3}/{'1304' * 4}:{'a0f9' * 8}", f"x/{'1203' * 4}/{'1304' * 4}:{'a0f9' * 8}"],
    ),
}
"""A key without a prefix, and words that are not one."""


@pytest.mark.parametrize("name", BARE)
@pytest.mark.parametrize(
    "around", ["@@", "the key is @@, ok", '{"c":"a\\n@@\\nb"}', "https://api:@@@a.example", "@@ and @@"]
)
def test_a_key_without_a_prefix_is_found_by_its_form(name: str, around: str) -> None:
    key, _ = BARE[name]

    assert key.encode() not in REDACTOR.body(around.replace("@@", key).encode())


@pytest.mark.parametrize("rest", [rest for _, rests in BARE.values() for rest in rests])
def test_what_only_looks_like_a_key_without_a_prefix_is_left(rest: str) -> None:
    for text in (f"sum {rest} ok", f"{rest}/a", f"{'f' * 32}{rest} ok"):
        assert REDACTOR.body(text.encode()) == text.encode()


@pytest.mark.parametrize(
    "key",
    [
        *("sk-" + ("aZ0-9_b" * 10)[:size] for size in (22, 32, 43, 54, 64)),  # as LiteLLM and gateways make them
        f"ak-{letters(50)}",  # of Arize
        "key_" + "a0f9" * 32,
        f"ak-{UUID}-{word(32)}",
    ],
)
def test_another_form_behind_a_known_prefix_is_found(key: str) -> None:
    assert key not in REDACTOR.body(f"the value is {key} here".encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "sk-" + "az0-9_b" * 3 + "q",
        "sk-item-Name0-of9-thing",
        *("sk-" + ("aZ0-9_b" * 10)[:size] for size in (21, 23, 33, 42, 44)),
        "key_" + "a0f9" * 24,
        f"ak-{UUID}-{word(31)}",
        "printf 0x%016llx-0x%016llx",
    ],
)
def test_what_only_begins_like_another_form_is_left(text: str) -> None:
    assert REDACTOR.body(f"the value is {text} here".encode()).decode() == f"the value is {text} here"
