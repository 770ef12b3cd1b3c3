"""Masking. The secrets are invented and put together here, so that no scanner takes this file for a leak."""

import re
import string
from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language import masking
from em_pipelines.language.masking import mask_bytes, mask_text, mask_value

LONG = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
CARD = "4" + "1" * 15
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE" + LONG + "\n" + LONG + "==\n-----END RSA PRIVATE" + " KEY-----"

SECRETS = {
    "private_key": PEM,
    "aws_key": "AK" + "IA" + "J7QWERTYUIOP2345",
    "github_token": "gh" + "p_" + LONG,
    "gitlab_token": "glp" + "at-" + LONG[:20],
    "slack_token": "xo" + "xb-347537409304-" + LONG[:12],
    "anthropic_key": "sk-" + "ant-api03-" + LONG,
    "openai_key": "sk-" + "proj-" + LONG,
    "stripe_key": "sk_" + "live_" + LONG[:24],
    "google_key": "AI" + "za" + LONG[:35],
    "registry_token": "np" + "m_" + LONG,
    "jwt": "ey" + "J" + LONG + ".ey" + "J" + LONG + "." + LONG,
    "card_number": CARD,
    "us_ssn": "-".join(("123", "45", "6789")),
}


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items())
def test_a_secret_in_a_sentence_is_masked_and_the_sentence_kept(kind: str, secret: str) -> None:
    assert mask_text(f"look: {secret}, is that bad?") == f"look: [masked:{kind}], is that bad?"


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items())
def test_a_secret_behind_the_escapes_of_json_is_masked_and_json_stays_json(kind: str, secret: str) -> None:
    raw = orjson.dumps({"content": f"here:\n{secret}\nthere"})
    assert orjson.loads(mask_bytes(raw)) == {"content": f"here:\n[masked:{kind}]\nthere"}
    broken = mask_bytes(raw[:-2])
    assert secret.encode() not in broken
    assert f"[masked:{kind}]".encode() in broken


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password: hunter2", "password: [masked:password]"),
        ("PASSWORD=hunter2 and more", "PASSWORD=[masked:password] and more"),
        ('api_key = "ab cd"', 'api_key = "[masked:password]"'),
        ("client_secret: a1b2c3d4", "client_secret: [masked:secret]"),
        ("DB_PASSWD='x y z'", "DB_PASSWD='[masked:password]'"),
        ("the wifi password here is Blue-Bike-12!", "the wifi password here is [masked:password]"),
        ("pg://bob:s3cr@t@db.example/x", "pg://bob:[masked:url_password]@db.example/x"),
        ("password: [hunter2]", "password: [[masked:password]]"),
        ("password=a,b;c&d1 and more", "password=[masked:password] and more"),
        ("the api key is " + LONG, "the api key is [masked:secret]"),
        ("cvv 737, please", "cvv [masked:card_code], please"),
        ("Bearer " + LONG, "Bearer [masked:bearer_token]"),
        ("my card 4111 1111-1111 1111 ok", "my card [masked:card_number] ok"),
        ("order 12 4111 1111 1111 1111 ok", "order 12 [masked:card_number] ok"),
    ],
)
def test_assignments_and_phrases_that_give_a_secret_are_masked(text: str, masked: str) -> None:
    assert mask_text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "my password manager is great",
        "I forgot my password again",
        "the secret: nobody likes cilantro",
        "the token economy, a secret of success",
        "token = get_token()",
        "password = None",
        "password is required for login",
        "the token is the thing",
        "max_tokens: 4096",
        "risk-assessment-of-the-whole-project",
        "see https://example.org/a:b@c",
        "call 0351 123 45 67 or +49 351 1234567",
        "1790063280123456789 ns since then",
        "order 4111 1111 1111 1112",
        "ISBN 978-3-16-148410-0",
        "2026-03-05T18:20:00Z",
    ],
)
def test_prose_code_and_plain_numbers_are_left_alone(text: str) -> None:
    assert mask_text(text) == text


MIXED = "a1B2c3D4e5F6g7H8i9J0" * 5
ENTRIES = yaml.safe_load(Path(masking.__file__).with_name("masking.yaml").read_text(encoding="utf-8"))
EXAMPLES = [(entry["kind"], example) for entry in ENTRIES for example in entry.get("examples", [])]


def spelt_out(text: str) -> str:
    return re.sub(r"<(\d+)>", lambda match: MIXED[: int(match.group(1))], text)


def test_the_examples_of_the_pattern_file_are_masked_as_it_says() -> None:
    texts = [(kind, spelt_out(example["text"]), example.get("masked")) for kind, example in EXAMPLES]
    masked = [(kind, text, mask_text(text), text if wanted is None else wanted) for kind, text, wanted in texts]
    assert masked
    assert [one for one in masked if one[2] != one[3]] == []


def test_what_stands_under_a_telling_key_is_masked() -> None:
    found = mask_value({"password": "x", "nested": [{"api_key": "y", "name": "Ada"}]})
    assert found == {"password": "[masked:secret]", "nested": [{"api_key": "[masked:secret]", "name": "Ada"}]}


def test_of_a_key_given_twice_both_values_are_masked() -> None:
    secret = SECRETS["github_token"]
    assert secret.encode() not in mask_bytes(b'{"a": "' + secret.encode() + b'", "a": "x"}')


def test_bytes_of_any_encoding_without_secrets_come_back_as_they_were() -> None:
    for raw in (b"\xff\xfe\x00caf\xe9", "grüß dich".encode("latin-1"), bytes(range(256)), b'{"a": 1, "a": 2}'):
        assert mask_bytes(raw) == raw


def test_a_secret_in_utf_16_is_masked() -> None:
    assert LONG.encode() not in mask_bytes(SECRETS["github_token"].encode("utf-16-le")).replace(b"\x00", b"")


_pieces = st.sampled_from(
    [*SECRETS.values(), "password", "token", "secret", "=", ": ", '"', "'", "\\", "\n", " ", "-", "://", "@", "is "]
) | st.text(string.printable, max_size=12)


@given(st.lists(_pieces, max_size=12).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    assert mask_text(mask_text(text)) == mask_text(text)


@given(st.text())
def test_masking_takes_any_text(text: str) -> None:
    assert isinstance(mask_text(text), str)


@given(st.binary(max_size=200))
def test_masking_takes_any_bytes(raw: bytes) -> None:
    assert mask_bytes(mask_bytes(raw)) == mask_bytes(raw)


@pytest.mark.parametrize(
    "piece",
    [
        "ey" + "J",
        "sk-",
        pytest.param("password ", marks=pytest.mark.slow),
        pytest.param("password: ", marks=pytest.mark.slow),
        "token=",
        "://a:",
        "1 ",
        pytest.param("4111 ", marks=pytest.mark.slow),
        "-----BEGIN PRIVATE KEY-----",
        "\\",
    ],
)
def test_long_texts_of_beginnings_of_secrets_end(piece: str) -> None:
    # A pattern that is not linear would take hours here.
    assert mask_text(piece * (1_000_000 // len(piece)))
