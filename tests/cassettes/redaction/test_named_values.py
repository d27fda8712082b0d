"""A value is a secret when its name says so and it looks random; documentation and source code stay."""

import json

import pytest

from turntape.cassettes import Redactor
from turntape.cassettes.redaction import named_values

REDACTOR = Redactor(salt="s")
KEY = "aB3dE5fG7hJ9kL1mN3pQ5rS7"
HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
FORMS = {
    "JSON": ('{"api_key": "@@"}', KEY),
    "JSON without spaces, camel case": ('{"apiKey":"@@","b":1}', KEY),
    "JSON within JSON": (json.dumps({"c": json.dumps({"clientSecret": "@@"})}), KEY),
    "JSON three levels deep": (json.dumps({"c": json.dumps({"d": json.dumps({"accessToken": "@@"})})}), KEY),
    "a shell": ("export MISTRAL_API_KEY=@@\nX=1", KEY),
    "a shell, a word with a digit": ("DB_PASSWORD=@@ python app.py", "hunter2"),
    "a shell, in quotes": ("export SERVICE_TOKEN='@@'", KEY),
    "a file of variables in JSON": (json.dumps({"c": "A=1\nCOHERE_API_KEY=@@\nB=2"}), KEY),
    "a variable after a line end in JSON": (json.dumps({"c": "A=1\nDB_PASSWORD=@@\nB=2"}), "correcthorse"),
    "a variable after a tab in JSON": (json.dumps({"c": "A=1\tDB_PASSWORD=@@\tB=2"}), "correcthorse"),
    "a variable after a line end of Windows in JSON": (json.dumps({"c": "A=1\r\nDB_PASSWORD=@@"}), "correcthorse"),
    "a variable after a line end in JSON within JSON": (
        json.dumps({"c": json.dumps({"d": "A=1\nDB_PASSWORD=@@\nB=2"})}),
        "correcthorse",
    ),
    "a variable after a line end with its number": ('{"c":"A=1\\u000aDB_PASSWORD=@@\\u000a"}', "correcthorse"),
    "a variable after a percent-encoded line end": ("q=A%0ADB_PASSWORD=@@", "correcthorse"),
    "a variable after a colour in JSON": ('{"c":"\\u001b[31mDB_PASSWORD=@@\\u001b[0m"}', "correcthorse"),
    "an option after a line end in JSON": (json.dumps({"c": "tool \\\n--api-key @@\n"}), KEY),
    "two words after a line end in JSON": (json.dumps({"c": "note:\nAPI key: @@\n"}), KEY),
    "YAML": ("database:\n  password: @@\n", "s3cretPassw0rd!"),
    "a header, a bearer": ('curl -H "Authorization: Bearer @@" https://a.example', KEY),
    "a header, basic": ("Authorization: Basic @@", "dXNlcjpzM2NyZXRQYXNzdzByZA=="),
    "a header with a key": ("x-api-key: @@", HEX),
    "a bearer in prose": ("send it as Bearer @@ please", KEY),
    "a form": ("grant_type=x&client_secret=@@&b=1", KEY),
    "a connection string": ("Server=db;User=a;Password=@@;", "Tr0ub4dor-3"),
    "an account key": ("AccountKey=@@;EndpointSuffix=x", f"{KEY}{KEY}{KEY}/+{KEY}=="),
    "hexadecimal": ('{"subscription-key":"@@"}', HEX),
    "digits": ('{"api_key":"@@"}', "12345678901234567890"),
    "an option": ("tool --api-key @@ --x", KEY),
    "an option with an equals sign": ("tool --token=@@", KEY),
    "an option for a password": ("tool --password @@ x", "hunter2x"),
    "source code": ("client = Client(api_key='@@')", KEY),
    "source code, a constant": ('SECRET_KEY = "@@"', KEY),
    "prose": ("the API key: @@.", KEY),
    "a hash rocket": (":access_token => '@@'", KEY),
    "a signed address": ("https://a.example/x?sv=1&sig=@@&se=2", KEY + "%3D"),
    "AWS": ("aws_secret_access_key = @@", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzTOPSECRE"),
    "AWS, JSON": ('{"SecretAccessKey": "@@"}', "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzTOPSECRE"),
    "a long token under a plain name": ('{"token": "@@"}', KEY),
    "a pair of name and value": ('{"name": "API_KEY", "value": "@@"}', KEY),
    "a pair within JSON, over two lines": (json.dumps({"c": '{"name": "API_KEY",\n "value": "@@"}'}), KEY),
    "a pair of a bearer": ('{"name":"Authorization","value":"Bearer @@"}', KEY),
    "a pair of attributes": ('<add key="Password" value="@@"/>', "Tr0ub4dor-3"),
    "a key that begins with the word key": ('{"api_key": "@@"}', "key_4e77ce0b7aab3884457b246ab402"),
    "a key that begins with the word secret": ("STYTCH_SECRET=@@", "secret-live-jjQ3qvYJ7dyoSdczC2Mrq7QsDDBRVuX9KUF="),
    "a token that begins with the word token": ('{"access_token": "@@"}', f"token-{KEY}"),
    "a key in parts": ('{"api_key": "@@"}', "c1MeJnSm.LA0AHyudlUs4yxuoI8NGvRDGSXtmNeHS"),
    "a variable with a key in parts": ("BASETEN_API_KEY=@@", "c1MeJnSm.LA0AHyudlUs4yxuoI8NGvRDGSXtmNeHS"),
    "an element": ("<password>@@</password>", "hunter2x"),
    "an element with escapes": ("&lt;api_key&gt;@@&lt;/api_key&gt;", KEY),
    "a line of cookies": ("Cookie: a=b; sid=@@; c=d", KEY),
    "a line of cookies in JSON": ('{"Set-Cookie": "sid=@@; Path=/; HttpOnly"}', KEY),
    "a session outside of cookies": ("_gitlab_session=@@", KEY),
    "a login of curl": ("curl -s -u admin:@@ https://a.example", "hunter2Pass"),
    "a login of curl, in quotes": ("curl --user 'admin:@@' https://a.example", "hunter2Pass"),
    "percent-encoded, the name too": ("q=api_key%3D@@%26b%3D1", KEY),
    "percent-encoded JSON": ("%7B%22api_key%22%3A%22@@%22%7D", KEY),
    "JSON with escaped quotes": ('{"c":"\\u0022api_key\\u0022:\\u0022@@\\u0022"}', KEY),
    "a short secret of a client": ('{"client_secret": "@@"}', "1i7wso7pl7guh8sk"),
    "a value with equals signs": ("MY_API_KEY=@@", "aB3d=E5fG7h=J9kL1mN3p="),
    "a value with equals signs at its end": ("MY_API_KEY=@@ x", "aB3dE5fG7hJ9kL1mN3p=="),
    "letters with a digit at the end": ("COHERE_API_KEY=@@ x", "xqHZBszRhQReAKBxyMSdgNhbNcOrvUekNXJCPbu6"),
    "letters alone": ('{"api_key":"@@"}', "xqHZBszRhQReAKBxyMSdgNhbNcOrvUekNXJCPbuQ"),
    "a key of a service": ('{"acme_key": "@@"}', HEX),
    "a key of a service, camel case": ('{"acmeKey": "@@"}', "aB3dE5fG7hJ9kL1m"),
    "a key of a service with dashes": ("acme-key: @@", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"),
    "a key of a service in prose": ("my Acme key: @@ for it", "a1b2c3d4e5f6"),
    "a short token of a service": ("ACME_TOKEN=@@", "a1b2c3d4e5f6"),
    "a personal access token": ("AZURE_DEVOPS_PAT=@@", "k2" * 26),
    "a personal access token in JSON": ('{"clarifai_pat":"@@"}', HEX),
    "a UUID in a variable": ("RAILWAY_TOKEN=@@", "74bf20f8-76ff-4c47-a4c0-251908fcdce4"),
    "a UUID in a variable in JSON": ('{"NOMAD_TOKEN":"@@"}', "74bf20f8-76ff-4c47-a4c0-251908fcdce4"),
    "a UUID of a service": ('{"hubspot_token":"@@"}', "74bf20f8-76ff-4c47-a4c0-251908fcdce4"),
    "base64 for URLs with one digit": ("DISCORD_CLIENT_SECRET=@@ x", "YC-tgdZ-zbcNjLswJDdiwxuzJMGiQSh1"),
    "base64 for URLs without a digit": ('{"client_secret":"@@"}', "YCxtgdZ_zbcNjLswJD-diwxuzJMGiQShz"),
    "a password with signs of a tag": ('{"password": "@@"}', "pK9>x/4<Vz!w"),
    "a password that begins as a variable": ('{"password": "@@"}', "$9fK2!xQ"),
    "a password that begins as a template": ("'password' => '@@',", "{a9K,=6b}GSuR7Z"),
    "a password with another quotation mark": ('{"db_password": "@@", "b": 1}', "uY7`Ic'e2!+tB8"),
    "a key with many signs": ("'secret_key' => '@@'", "sk_F2i}2E`o_s7&T8j4?[)I10M{W^"),
    "a password in quotes in JSON": (json.dumps({"c": 'use "password": "@@" now'}), "Q3<m>]z8$Wk"),
    "a pair with a quotation mark": ('{"name": "DB_PASSWORD", "value": "@@"}', "it's9Kx!mQ2"),
    "a value with an escaped slash": ('{"api_key":"@@"}', "aB3dE5fG7hJ9\\/kL1mN3pQ5rS7"),
    "a field of a multipart form": ('--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\n@@\r\n--b--', HEX),
    "a field of a multipart form with a type": (
        '--b\r\nContent-Disposition: form-data; name="api_key"\r\nContent-Type: text/plain\r\n\r\n@@\r\n--b--',
        HEX,
    ),
    "an item of a dictionary": ("os.environ['OPENAI_API_KEY'] = '@@'", HEX),
    "an argument after its name": ('req.Header.Set("x-acme-api-key", "@@")', HEX),
    "a cell of a table": ("| api_key | @@ |", HEX),
    "a sentence": ("my API key is @@, thanks", HEX),
    "a sentence with a colon": ("the token is: @@", KEY),
    "a list of notes": ("acme token - '@@'", HEX),
    "a constant with its type": ('const acmeKey string = "@@"', HEX),
    "a parameter with its type": ('const acmeKey: string = "@@"', HEX),
    "a name with a number": ("OPENAI_API_KEY_2=@@", KEY),
    "a parameter of a URL in a text": ("see https://a.example/v1/list?key=@@&b=1", HEX),
    "a short key as a parameter": ("https://a.example/x?acme_api_key=@@&b=1", "9E6-F2W-UQ7-OPW"),
    "a UUID whose service is named in prose": ("snyk token: @@", "74bf20f8-76ff-4c47-a4c0-251908fcdce4"),
    "letters with many digits": ("my api key: @@ ok", "muruj7tbg6frbndqgfotdctm7ijg2vvz9lqcdts1"),
}
"""What is written, with `@@` for the secret, and the secret."""
HEALTHY = [
    '--b\r\nContent-Disposition: form-data; name="file"; filename="key.txt"\r\n\r\na1b2c3d4e5f6a1b2c3d4\r\n--b--',
    '--b\r\nContent-Disposition: form-data; name="cache_key"\r\n\r\na1b2c3d4e5f6a1b2c3d4\r\n--b--',
    '("api_key", "column_name_1", "value2")',
    '["api_key", "password", "organization2"]',
    "the password is required2",
    "the token is a1b2c3",
    "the key is a1b2c3d4e5f6a1b2c3d4",
    "| api_key | your-key-1 |",
    "(api_key|secret|token2)",
    "https://a.example/x?key=chapter-2",
    "https://a.example/x?page_token=CAEQAhgBIgYKBGFiY2QxMjM0NTY3ODkw",
    "the next token: CAEQAhgBIgYKBGFiY2QxMjM0NTY3ODkw",
    "api_key: str = Field(default=None2)",
    '{"max_tokens":100,"token":"hello world"}',
    '{"token":" the","logprob":-0.1,"bytes":[32]}',
    '{"prompt_tokens":1234567890123456789}',
    'api_key=os.environ["OPENAI_API_KEY2"]',
    "token = secrets.token_hex(16)",
    "password = get_password()",
    "key_password: _PasswordType",
    "private_key: PKCS7PrivateKeyTypes",
    '{"password":{"type":"string","minLength":8}}',
    '{"password":"string"}',
    '{"next_page_token":"CAEQAhgBIgYKBGFiY2QxMjM0NTY3ODkw"}',
    '{"continuation_token":"CAEQAhgBIgYKBGFiY2QxMjM0NTY3ODkw"}',
    '{"request_token":"f4c94ed7-238d-4c46-93db-48cd62ec33b7"}',
    'api_key="your-api-key-here1"',
    '{"api_key":"${OPENAI_API_KEY}"}',
    '{"api_key":"key_of-the-Provider-that-you-use-1"}',
    '{"access_token":"token-abc123"}',
    '{"client_secret":"secret_0123456789"}',
    '{"api_key":"test_your_key_here_0123456789"}',
    "api_key = settings.ProviderSettingsOfThisServer2.value",
    "access_token: clients.google_oauth2_credentials_v2.Token",
    '{"password":"${DB_PASSWORD2:-aB1}"}',
    '{"password":"$DB_Password2"}',
    '{"password":"{{ secrets.Db_1 }}-x"}',
    '{"password":"%(Password1)s"}',
    '{"password":"<your-Password-1>"}',
    '{"password":"a<Password-1>B"}',
    '{"password":"[Hidden-1]"}',
    """{"password":"can't-be-empty"}""",
    """sql = "password='"+Password1+"' and x" """,
    """sql = 'password="' . $Password1 . '"'""",
    "login(password='{pw1A}!')",
    '`password="`+Password1+`"`',
    "Authorization: Bearer $TOKEN2",
    'Authorization: "Bearer <your_token_1>"',
    "api_key=sk-...abc123def456",
    '{"token_type":"bearer"}',
    "the secret: it is here",
    "password: required2",
    "secret = settings.SECRET_KEY_2",
    "self.token = token1",
    "API_TOKEN=API_TOKEN_2",
    '"prompt_cache_key":"abc123def456ghi789jkl012"',
    '"idempotency_key":"abc123def456ghi789jkl012"',
    '{"key":"abc123def456ghi789jkl012"}',
    "cache key: abc123def456ghi789jkl012",
    "the key: abc123def456ghi789jkl012",
    '"result_key": "ServerlessV2PlatformVersions"',
    "x_key: mlkem.MLKEM768PrivateKey2",
    '"model_key": "my-model-2024-05-13-v2"',
    '"acme_key": "a1b2c3d4e5f"',
    '"acme_key": "acmeacmeacmeacme2"',
    '"acme_key": "12345678901234567890"',
    "ACME_TOKEN=a1b2c3d4e5f",
    '{"acme_token":"74bf20f8-76ff-4c47-a4c0-251908fcdce4"}',
    "NEXT_TOKEN=74bf20f8-76ff-4c47-a4c0-251908fcdce4",
    "file_pat=a1b2c3d4e5f6",
    "file_path=a1b2c3d4e5f6g7h8i9j0k1l2",
    "client_secret=My-Secret-API-Gateway-Handler-Of-X",
    'client_secret: "the-HTTP_Server-Config-SECRETNAME-Of-This"',
    "# 1 key a1b2c3d4e5f6a1b2c3d4",
    '"author":"abc123def456ghi789jkl012"',
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestDatabaseSecret-a1b2c3",
    "- pwd: /home/ana/projects/one2three",
    '"openid.ns.oauth": "http://specs.example/extensions/oauth/1.0"',
    '{"signature":"aB3dE5fG7hJ9kL1mN3pQ5rS7aB3dE5fG7hJ9kL1mN3pQ5rS7"}',
    '{"id":"msg_aB3dE5fG7hJ9kL1mN3pQ5rS7","tool_use_id":"toolu_aB3dE5fG7hJ9kL1mN3pQ5rS7"}',
    "const apiKey = process.env.KEY1",
    "if (type==password==e.type1) {}",
    '"password"===e.type1',
    '{"name":"api_key","value":"the value 1"}',
    '{"name":"color","value":"aB3dE5fG7hJ9kL1mN3pQ5rS7"}',
    "<label>password</label>",
    "<password></password>",
    "<token>word</token>",
    "Cookie: theme=dark; lang=en-US; width=1280",
    'children:["stickycookie: ",g]}),t[22]=g,t[23]=z):z=t[23]',
    "session=requests.Session()",
    "curl -u admin:$PASSWORD https://a.example",
    "curl -u admin:<password> https://a.example",
    "tar -u a:longer2word",
    "API_TOKEN=TheSessionTokenOfTheServerUser2",
    '{"api_key":"readTheSessionTokenOfTheServer2"}',
    "api_key: THE_SESSION_TOKEN_OF_THE_SERVER_2",
    "x?design=aB3dE5fG7hJ9kL1mN3pQ5rS7",
    json.dumps({"c": "a:\nnext_page_token=CAEQAhgBIgYKBGFiY2QxMjM0NTY3ODkw"}),
    json.dumps({"c": "a:\nAPI_TOKEN=API_TOKEN_2\n"}),
    json.dumps({"c": "a:\nDB_PASSWORD=$PASSWORD\n"}),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_masked_and_nothing_around_it(form: str) -> None:
    said, secret = FORMS[form]
    text = said.replace("@@", secret, 1)

    clean = REDACTOR.body(text.encode()).decode()

    before, _, after = said.partition("@@")
    assert len(clean) == len(text)
    assert clean.startswith(before + "REDACT") and clean.endswith(after)
    assert secret not in clean


@pytest.mark.parametrize("text", HEALTHY)
def test_what_only_has_such_a_name_stays(text: str) -> None:
    assert REDACTOR.body(text.encode()).decode() == text


@pytest.mark.parametrize("form", FORMS)
def test_masking_twice_changes_nothing_more(form: str) -> None:
    said, secret = FORMS[form]
    once = REDACTOR.body(said.replace("@@", secret, 1).encode())

    assert REDACTOR.body(once) == once


@pytest.mark.parametrize(
    ("form", "least"),
    [('{{"api_key":"{}"}}', 10), ("MY_API_KEY={} x", 10), ("my api_key: {} x", 16), ('{{"token":"{}"}}', 20)],
)
def test_a_value_must_be_long_enough(form: str, least: int) -> None:
    long, short = (form.format(("aB3dE5fG7h" * 3)[:size]).encode() for size in (least, least - 1))

    assert REDACTOR.body(long) != long
    assert REDACTOR.body(short) == short


def test_a_document_under_such_a_name_is_left() -> None:
    text = ('{"credentials":"' + KEY * 300 + '"}').encode()

    assert REDACTOR.body(text) == text


def test_two_passwords_of_unlike_length_are_equal_once_normalised() -> None:
    one, other = (
        REDACTOR.normalise(REDACTOR.body(f'{{"password":"{secret}"}}'.encode()))
        for secret in ("hunter2-and", "a-longer-one-with-room-4-more")
    )

    assert one == other == b'{"password":"REDACTED"}'


@pytest.mark.parametrize("piece", ["token=", "session=", "password:", "bearer "])
def test_in_a_long_row_of_names_each_letter_is_judged_a_few_times(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = 0

    def counted(name: str, value: str, **_: bool) -> bool:
        nonlocal judged
        judged += len(value)
        return False

    monkeypatch.setattr(named_values, "is_secret", counted)
    body = piece.encode() * 2000

    named_values.named(body)

    assert judged < 10 * len(body)


@pytest.mark.parametrize("value", ["a" * 2000, "ab" * 1000, "AB" * 1000, "A" * 2000, "aB" * 1000, "Ab_" * 600])
@pytest.mark.parametrize("end", ["", "!", "-", ".", "\u00e9"])
def test_a_long_row_of_letters_is_read_in_one_way_alone(value: str, end: str) -> None:
    """In several ways, a value of 40 letters took minutes."""
    REDACTOR.body(json.dumps({"content": f"token: {value}{end}", "api_key": f"{value}{end}"}).encode())


@pytest.mark.parametrize(
    ("value", "is_word"),
    [
        ("getServerSessionOfUser", True),
        ("a_variable_of_some_kind", True),
        ("HTTPServerWithTwentyLetters", True),
        ("averyveryverylongwordofmorethantwelveletters", True),
        ("qX7vT2mLp9Rz4KdW8nYb", False),
    ],
)
def test_a_variable_is_a_word_however_long_its_parts_are(value: str, is_word: bool) -> None:
    body = f"the_secret = {value}".encode()

    assert (REDACTOR.body(body) == body) == is_word


@pytest.mark.parametrize(
    "text",
    [
        'variable "okta_api_token" {\n  default = "@@"\n}',
        'variable "okta_api_token" {\n  type      = string\n  default   = "@@"\n}',
        'fbApiKey:                     "@@",',
        'buildConfigField "String", "API_KEY", "\\"@@\\""',
        "buildConfigField 'String' , 'API_KEY' , '\"@@\"'",
        "-Dsonar.login=@@",
        '$sonarLogin = "@@"',
        "BACKEND_TOKEN=@@",
        "landingpage_token = @@",
        "bitbucket_key=@@",
    ],
)
def test_a_name_that_builds_and_programs_use_is_known(text: str) -> None:
    body = json.dumps({"content": text.replace("@@", KEY)}).encode()

    assert KEY.encode() not in REDACTOR.body(body)


@pytest.mark.parametrize(
    "text",
    [
        '{"nextPageToken": "@@"}',
        '{"next_page_token": "@@"}',
        "page_token=@@",
        '{"nextSyncToken": "@@"}',
        'START_TOKEN = "@@"',
        "bucket_key=@@",
        'variable "bucket" {\n default = "@@"\n}',
        "sonar.projectKey=my_project_2024",
    ],
)
def test_a_name_of_a_page_or_a_table_is_none(text: str) -> None:
    body = json.dumps({"content": text.replace("@@", KEY)}).encode()

    assert REDACTOR.body(body) == body
