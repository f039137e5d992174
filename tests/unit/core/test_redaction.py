"""No secret passes: exact values in any usual encoding, well-known credentials, deeply."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.canonical import Json
from core.exact_values import LONGEST, SHORTEST, unfit
from core.redaction import MASK, Redactor

SECRET = "s3cr/t+v?lue=1"
NOTHING = Redactor.of([])
# Built here, so that no scanner takes them for real ones.
JWT = "eyJ" + "hbGciOi" + ".eyJ" + "zdWIiOi" + "." + "sig_-1"
WELL_KNOWN = {
    "an OpenAI key": "sk-" + "a1B2" * 6,
    "an OpenAI project key": "sk-proj-" + "a1B_" * 10,
    "an Anthropic key": "sk-ant-" + "api03-" + "a1B-" * 10,
    "a Slack bot token": "xoxb-" + "1234567890-" * 2 + "abcDEF",
    "a Slack app token": "xapp-" + "1-A0123-" + "4567890123-abcdef",
    "a Slack webhook": "https://hooks.slack.com/" + "services/T0/B0/" + "x" * 24,
    "a Discord bot token": "M" + "a1B2" * 6 + ".Gh_4-x." + "a1B2" * 8,
    "a GitHub token": "ghp_" + "a1B2" * 9,
    "a fine-grained GitHub token": "github_pat_" + "a1B2_" * 10,
    "an AWS key id": "AKIA" + "ABCD2345" * 2,
    "a temporary AWS key id": "ASIA" + "ABCD2345" * 2,
    "a JWT": JWT,
    "a password in a URL": "alice:" + "sw0rdfish",
    "a bearer token": "Bearer " + "abcdefgh.1234~",
    "a bearer token that goes on behind a JWT": f"Bearer {JWT}~WyJzYWx0Il0~",
    "a basic one that does": f"Basic {JWT}/abcdefgh==",
}
AROUND = {"a password in a URL": ("postgres://", "@db.example/x")}


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_a_well_known_credential_is_masked_and_the_text_around_it_stays(name: str) -> None:
    before, after = AROUND.get(name, ("it is ", ", they said"))
    assert NOTHING.text(f"{before}{WELL_KNOWN[name]}{after}") == f"{before}{MASK}{after}"


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "ANY 9 OLD "])
def test_a_private_key_is_masked_from_its_first_line_to_its_last(kind: str) -> None:
    key = (
        f"-----BEGIN {kind}PRIVATE "
        + "KEY-----\nMIIEow\r\nAAAA+/==\n"
        + f"-----END {kind}PRIVATE KEY-----"
    )
    assert NOTHING.text(f"it is\n{key}") == f"it is\n{MASK}"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=swordfish", f"password={MASK}"),
        ("DB_PASSWORD: 'swordfish'", f"DB_PASSWORD: '{MASK}'"),
        ('{"api_key": "abcdef123"}', f'{{"api_key": "{MASK}"}}'),
        ("connect(passwd=swordfish, retries=3)", f"connect(passwd={MASK}, retries=3)"),
        ("private-key = abcdef123 and more", f"private-key = {MASK} and more"),
        ("client_secret_old=abcdef123;x", f"client_secret_old={MASK};x"),
        ("Authorization: Basic " + "YWxpY2U6c3dvcmRmaXNo", f"Authorization: {MASK}"),
    ],
)
def test_the_value_after_a_name_that_says_secret_is_masked(text: str, masked: str) -> None:
    assert NOTHING.text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "restart web in staging",
        "the password is wrong",
        "sk-short",
        "https://example.com/a/b?c=d",
        "user@example.com",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "max_tokens: 5",
        "p_0123456789ab r_0123456789abcdef",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert NOTHING.text(text) == text


@pytest.mark.parametrize(
    "form",
    [SECRET, quote(SECRET, safe=""), json.dumps(SECRET)[1:-1], f"x{SECRET}{SECRET}y"],
    ids=["plain", "quoted for a URL", "in JSON", "twice"],
)
def test_an_exact_value_is_masked_in_every_usual_form(form: str) -> None:
    text = Redactor.of([SECRET]).text(f"before {form} after")
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert text.replace(MASK, "") in {"before  after", "before xy after"}


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "x", "xy"])
@pytest.mark.parametrize("secret", ["hunter2hunter2", "\xfb\xff\xbe" * 4, "?>?>?>?>?>?>?"])
def test_a_value_inside_base64_is_masked_at_each_of_the_three_alignments(
    encode: "type[bytes]", before: str, after: str, secret: str
) -> None:
    encoded = encode((before + secret + after).encode()).decode()
    masked = Redactor.of([secret]).text(f"basic auth is {encoded}.")
    assert MASK in masked
    left = masked.removeprefix("basic auth is ").removesuffix(".").replace(MASK, "")
    # At most the characters stay that also encode what stands beside it, and padding.
    assert len(left.rstrip("=")) <= len(before) * 2 + len(after) * 2 + 4


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=SHORTEST, max_size=40).filter(
        lambda secret: unfit(secret) is None
    ),
    st.text(max_size=10),
    st.text(max_size=10),
)
def test_i12_a_known_value_never_passes_whatever_stands_around_it(
    secret: str, before: str, after: str
) -> None:
    text = Redactor.of([secret]).text(before + secret + after)
    assert secret not in text.replace(MASK, "\0")


def test_a_value_too_short_to_be_told_apart_inside_base64_is_masked_only_as_it_is() -> None:
    redactor = Redactor.of(["abc"])
    assert redactor.text("abc YWJj xYWJjx") == f"{MASK} YWJj xYWJjx"


def test_the_longer_of_two_values_that_overlap_is_masked_whole() -> None:
    redactor = Redactor.of(["hunter2", "hunter2hunter2"])
    assert redactor.text("hunter2hunter2 hunter2") == f"{MASK} {MASK}"


def test_a_value_with_the_signs_of_a_pattern_is_taken_literally() -> None:
    assert Redactor.of([r"a.*(b)\1"]).text(r"a.*(b)\1 aXb") == f"{MASK} aXb"


def test_values_are_masked_deeply_in_names_too_and_other_kinds_stay() -> None:
    value: Json = {
        "list": ["hunter2hunter2", 1, None, True, 2.5],
        "hunter2hunter2": {"deep": [["is hunter2hunter2"]]},
    }
    assert Redactor.of(["hunter2hunter2"]).value(value) == {
        "list": [MASK, 1, None, True, 2.5],
        MASK: {"deep": [[f"is {MASK}"]]},
    }


def test_masking_twice_changes_nothing_more() -> None:
    text = "\n".join(WELL_KNOWN.values())
    once = NOTHING.text(text)
    assert NOTHING.text(once) == once


@pytest.mark.parametrize(
    "text",
    ["eyJabcde", "eyJabcde.eyJabcde", "eyJabcde-eyJabcde.eyJ", "eyJabcde." + "sk-short"],
)
def test_what_only_begins_as_a_signed_token_stays(text: str) -> None:
    assert NOTHING.text(text) == text


def test_what_begins_as_one_hides_nothing_else_that_is_a_secret() -> None:
    key = WELL_KNOWN["an OpenAI key"]
    assert NOTHING.text(f"eyJabcde-{key}") == f"eyJabcde-{MASK}"


def test_the_beginning_of_a_text_that_is_not_long_is_all_of_it_masked() -> None:
    text = f"{SECRET} " + "x" * LONGEST
    assert Redactor.of([SECRET]).head(text, 100) == (f"{MASK} " + "x" * LONGEST, True)


@pytest.mark.parametrize("back", range(len(SECRET) + 2))
def test_i12_where_a_long_text_is_cut_no_part_of_a_secret_shows(back: int) -> None:
    before = " " * (200 + LONGEST - back)
    head, is_all = Redactor.of([SECRET]).head(before + SECRET + " " * 100, 100)
    assert (set(head), is_all) == ({" "}, False)
    assert len(head) >= 100


def test_i12_nor_where_masking_what_is_before_made_it_shorter() -> None:
    long = "long" * 1000
    before = f"{long} " * 3
    text = before + " " * (200 + LONGEST - len(before) - len(SECRET) // 2) + SECRET + " more"
    head, _ = Redactor.of([long, SECRET]).head(text, 100)
    assert head.replace(MASK, "").strip() == ""


# Where line ends and colours interrupt it


GAPS = {
    "a line end": "\n",
    "a line end of Windows": "\r\n",
    "a line end and an indent": "\n    ",
    "an empty line": "\n\n",
    "a colour": "\x1b[31m",
    "colours": "\x1b[0m\x1b[1;38;5;196m",
}
LONG = "line one of it\nline two of it\nline three of it"
B64 = base64.b64encode(f"token: {SECRET}, all of it".encode()).decode()


@pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS)
@pytest.mark.parametrize("at", range(1, len(SECRET)))
def test_i12_a_value_is_masked_that_something_interrupts(gap: str, at: int) -> None:
    text = f"it is\n{SECRET[:at]}{gap}{SECRET[at:]}, they said\n"
    assert Redactor.of([SECRET]).text(text) == f"it is\n{MASK}, they said\n"


@pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS)
def test_i12_a_value_is_masked_that_is_interrupted_everywhere(gap: str) -> None:
    text = f"1\n2\n{gap.join(SECRET)} and {SECRET}\n3"
    assert Redactor.of([SECRET]).text(text) == f"1\n2\n{MASK} and {MASK}\n3"


@pytest.mark.parametrize("width", range(1, len(B64)))
def test_i12_a_value_is_masked_in_a_base64_of_any_width(width: int) -> None:
    lines = "\n".join(B64[at : at + width] for at in range(0, len(B64), width))
    shown = Redactor.of([SECRET]).text(lines).replace(MASK, "\0").replace("\n", "")
    assert "\0" in shown
    decoded = base64.b64decode(shown.split("\0")[0] + "===", validate=False).decode(
        "utf-8", "replace"
    )
    assert not [
        SECRET[at : at + 4] for at in range(len(SECRET) - 3) if SECRET[at : at + 4] in decoded
    ]


def test_i12_a_value_of_several_lines_is_masked_whose_lines_are_coloured() -> None:
    text = "\n".join(f"\x1b[32m{line}\x1b[0m" for line in LONG.split("\n"))
    assert Redactor.of([LONG]).text(f"it is {text} now") == f"it is \x1b[32m{MASK}\x1b[0m now"


def test_what_only_begins_like_a_value_goes_on_in_its_next_line() -> None:
    text = f"{SECRET[:8]}\nnot {SECRET[8:]}\n\x1b[31mred\x1b[0m\n"
    assert Redactor.of([SECRET]).text(text) == text


# What is still being written

KEY = "-----BEGIN PRIVATE " + "KEY-----\nMIIEow\nAAAA+/==\n-----END PRIVATE " + "KEY-----"
BEFORE = ("-----BEGIN PRIVATE", "-----BEGIN", "Bearer", "Basic")
"""What is masked together with the secret behind it, and tells nothing of that."""
WORDS = "correct horse battery staple"
WRITTEN = {
    "one word": (Redactor.of([SECRET]), f"It is {SECRET} now, and so on.\n"),
    "several words": (Redactor.of([WORDS]), f"It is {WORDS} now.\n"),
    "several words inside of others": (Redactor.of([WORDS]), f"It is x{WORDS}y, {WORDS} now.\n"),
    "one word on two lines": (Redactor.of([SECRET]), f"It is\n{SECRET[:5]}\n {SECRET[5:]} now.\n"),
    "several lines": (Redactor.of(["first\nsecond\nthird"]), "It is\nfirst\nsecond\nthird\nnow.\n"),
    "one that ends where another begins": (
        Redactor.of(["Qcorre", WORDS]),
        f"It is Q{WORDS} now.\n",
    ),
    "one within another": (Redactor.of(["x corr", WORDS, "is x"]), f"It is x {WORDS} now.\n"),
    "a private key": (NOTHING, f"It is\n{KEY}\nand more.\n"),
    **{
        name: (
            NOTHING,
            " ".join(("It is", "".join((*AROUND.get(name, ("", ""))[:1], known)))) + "@x now.\n",
        )
        for name, known in WELL_KNOWN.items()
    },
}


@pytest.mark.parametrize("name", WRITTEN)
def test_of_a_text_that_is_being_written_nothing_is_shown_that_is_not_shown_of_the_whole(
    name: str,
) -> None:
    redactor, text = WRITTEN[name]
    whole = redactor.text(text)
    assert MASK in whole
    for at in range(len(text) + 1):
        shown = redactor.so_far(text[:at]).rstrip()
        said = next((shown.removesuffix(one) for one in BEFORE if shown.endswith(one)), shown)
        assert whole.startswith(said), text[:at]
    assert redactor.so_far(text) == whole


def test_a_text_that_is_being_written_is_shown_up_to_its_last_whole_word() -> None:
    assert Redactor.of([SECRET]).so_far("It is the") == "It is "
    assert NOTHING.so_far("It") == ""
    assert NOTHING.so_far("") == ""


def test_what_begins_like_a_secret_of_several_words_is_shown_once_it_goes_on_otherwise() -> None:
    redactor = Redactor.of([WORDS])
    assert redactor.so_far("the correct horse ") == "the "
    assert redactor.so_far("the correct horse is ") == "the correct horse is "


@given(st.text(alphabet="ab \n", max_size=40), st.integers(min_value=0, max_value=40))
def test_no_beginning_of_any_text_shows_more_than_the_whole_does(text: str, at: int) -> None:
    redactor = Redactor.of(["ab ab ab", "ba\nab a", "bbbbbb"])
    assert redactor.text(f"{text} ").startswith(redactor.so_far(text[:at]).rstrip())
