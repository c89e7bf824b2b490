"""Every mistake in the configuration is one sentence with file, line, key and what to do."""

from __future__ import annotations

import pickle
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orchestra.config.load import examine_settings, load_settings
from orchestra.config.reference import spliced
from orchestra.config.secret import Secret
from orchestra.errors import ConfigError

ROOT = Path(__file__).parent.parent.parent
HOME = '[endpoints.home]\nurl = "http://localhost:1"\n'


def fault(folder: Path, text: str | bytes, environ: dict[str, str] | None = None) -> ConfigError:
    data = text.encode() if isinstance(text, str) else text
    (folder / "orchestra.toml").write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load_settings(environ=environ or {}, folder=folder)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("\n[limits]\ntokns = 1", 3, "limits.tokns", 'is not a setting. Did you mean "tokens"?'),
        ("[limts]\ntokens = 1", 1, "limts", 'Did you mean "limits"?'),
        ("limits = 3", 1, "limits", "must be a table, not 3"),
        ("[limits]\nagents = 'many'", 2, "limits.agents", 'a whole number above 0, not "many"'),
        ("[limits]\nagents = true", 2, "limits.agents", "a whole number above 0, not True"),
        ("[limits]\nseconds = -1.5", 2, "limits.seconds", "a number above 0"),
        ("[limits]\nseconds = nan", 2, "limits.seconds", "a number above 0"),
        ("[limits]\nseconds = inf", 2, "limits.seconds", '"unlimited"'),
        ("[logging]\nlevel = 'warn'", 2, "logging.level", 'Did you mean "warning"?'),
        ("[endpoints.x]\nkey_env = 'K'", 1, "endpoints.x", "has no url"),
        ("[endpoints.x]\nurl = 'lab:80'", 2, "endpoints.x.url", "must begin with http:// or https://"),
        ("[endpoints.x]\nurl = 'http://'", 2, "endpoints.x.url", "names no host"),
        ("[endpoints.x]\nurl = 'http://h:99999'", 2, "endpoints.x.url", "is not a URL"),
        ("[endpoints.x]\nurl = 'http://h/v1?a=1'", 2, "endpoints.x.url", "without ? and #"),
        ("[endpoints.x]\nurl = 'http://h h'", 2, "endpoints.x.url", "holds a blank"),
        ("[endpoints.extractive]\nurl = 'http://h'", 1, "endpoints.extractive", "is not free"),
        (HOME + "key = ''", 3, "endpoints.home.key", "is set but empty"),
        (HOME + "headers = {a = 1}", 3, "endpoints.home.headers", '"a" must be a text'),
        (HOME + "quirks = {a = 1979-05-27}", 3, "endpoints.home.quirks", '"a" must be a table'),
        (
            "[tiers.small]\nendpoint = 'hom'\nmodel = 'm'\n" + HOME,
            2,
            "tiers.small.endpoint",
            'Did you mean "home"?',
        ),
        (HOME + "[tiers.large]\nwindow = 1", 3, "tiers.large", "has no model"),
        (HOME + "[tiers.small]\nmodel = 'm'\nfallback = ['larg']", 5, "tiers.small.fallback", '"large"'),
        (
            HOME + "[tiers.small]\nmodel = 'm'\nfallback = 'large'",
            5,
            "tiers.small.fallback",
            "a list of words",
        ),
        ("[context.chats]\nmargin = 0.1", 1, "context.chats", 'Did you mean "chat"?'),
        ("[context.chat]\nmargin = 0.9", 2, "context.chat.margin", "from 0 to 0.5"),
        ("[context.chat.shares]\nhistory = 1\nhist = 1", 3, "context.chat.shares", 'Did you mean "history"?'),
        ("models = 'nobody'", 1, "models", 'there is no endpoint "nobody"'),
        ("a = \n", 1, None, "This is not valid TOML: Invalid value."),
        ("a = 1\nb = '''", 2, None, "This is not valid TOML"),
        ("a = 1\na = 2", 2, None, "This is not valid TOML"),
        (b"a = 1\nb = '\xff'", 2, None, "not UTF-8"),
        ("a = 1".encode("utf-16"), None, None, "UTF-16"),
        ("a = " + "[" * 5_000, None, None, "nested too deeply"),
        ("a = " + "1" * 5_000, None, None, "not valid TOML"),
    ],
)
def test_file_line_and_key(
    tmp_path: Path, text: str | bytes, line: int | None, key: str | None, words: str
) -> None:
    """Each fault names where it is, what is wrong, and the nearest valid word where there is one."""
    error = fault(tmp_path, text)
    assert (error.file, error.line, error.key) == ("orchestra.toml", line, key)
    assert words in str(error)
    assert "\n" not in str(error)


def test_a_missing_key_names_its_variable(tmp_path: Path) -> None:
    """Not set and set but empty are told apart; the line is that of key_env."""
    text = HOME + "key_env = 'LAB'\n[tiers.small]\nmodel = 'm'"
    assert "reads its key from LAB, which is not set" in str(fault(tmp_path, text))
    error = fault(tmp_path, text, {"LAB": ""})
    assert "which is set but empty" in str(error)
    assert error.line == 3


def test_all_problems_at_once(tmp_path: Path) -> None:
    """`examine_settings` lists them all: those of the file, of variables and of flags."""
    (tmp_path / "orchestra.toml").write_text("a = 1\n[limits]\nagents = 0\n")
    found = examine_settings({"limits.tokens": 0}, environ={"ORCHESTRA_LIMITS_SECONDS": "x"}, folder=tmp_path)
    assert [problem.key for problem in found.problems] == [
        "a",
        "limits.agents",
        "limits.seconds",
        "limits.tokens",
    ]
    assert found.resolved is None


@pytest.mark.parametrize(
    ("name", "words"), [("none.toml", "There is no such file"), (".", "This is a folder")]
)
def test_a_named_file_must_be_there(tmp_path: Path, name: str, words: str) -> None:
    """--config that leads nowhere is an error, not a silent default."""
    with pytest.raises(ConfigError, match=words):
        load_settings(config=name, environ={}, folder=tmp_path)


def test_a_secret_never_shows(tmp_path: Path) -> None:
    """Keys and header values stand in no repr, text, encoding, pickle, error or warning."""
    word = "sk-very-secret-0123"
    (tmp_path / "orchestra.toml").write_text(
        f'[endpoints.home]\nurl = "http://lab:1"\nkey = "{word}"\nheaders = {{ a = "{word}" }}\n'
        '[tiers.small]\nmodel = "m"'
    )
    resolved = load_settings(environ={}, folder=tmp_path)
    assert any("a key stands in the file" in warning for warning in resolved.warnings)
    assert any("unencrypted" in warning for warning in resolved.warnings)
    secret = resolved.settings.endpoints["home"].key
    assert secret == Secret(word)
    assert word not in repr(resolved) + str(secret) + f"{secret:>30}" + "".join(resolved.warnings)
    with pytest.raises(TypeError):
        msgspec.json.encode(secret)
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert word not in str(fault(tmp_path, HOME + f"key = ['{word}']"))


JSON = st.recursive(
    st.one_of(
        st.text(max_size=8),
        st.integers(),
        st.floats(),
        st.booleans(),
        st.sampled_from(["unlimited", "small"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=8), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMES = """
    limits agents tokens endpoints url key headers tiers small model fallback window context chat models
"""
WORDS = st.sampled_from(NAMES.split())


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return msgspec.json.encode(value).decode() if isinstance(value, (str, bool)) else repr(value)


@given(
    st.dictionaries(
        WORDS, st.one_of(JSON, st.dictionaries(WORDS, st.one_of(JSON, st.dictionaries(WORDS, JSON))))
    )
)
@example({"tiers": {"small": {}}})
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=150)
def test_any_file_gives_settings_or_an_error(tmp_path: Path, table: dict[str, object]) -> None:
    """Whatever stands in the file, the answer is Settings or ConfigError, never another exception."""
    text = "\n".join(f"{key} = {toml(value)}" for key, value in table.items())
    try:
        tomllib.loads(text)
    except ValueError:
        return
    (tmp_path / "orchestra.toml").write_text(text, encoding="utf-8")
    found = examine_settings(environ={}, folder=tmp_path)
    assert (found.resolved is None) == bool(found.problems)


def test_the_page_lists_every_setting() -> None:
    """docs/configuration.md is what the code says; `python -m orchestra.config.reference` writes it anew."""
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert spliced(page) == page
