"""Settings come from file, environment and flags, in rising order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestra.config.load import load_settings
from orchestra.config.settings import Documents, Endpoint, SessionLimits
from orchestra.errors import ConfigError


def written(folder: Path, text: str, name: str = "orchestra.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


COUNTS = st.one_of(st.none(), st.integers(1, 10**6))


@given(file=COUNTS, variable=COUNTS, flag=COUNTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_the_highest_source_wins(
    tmp_path: Path, file: int | None, variable: int | None, flag: int | None
) -> None:
    """For any of them set, a flag beats a variable, a variable the file, the file the default."""
    written(tmp_path, f"[limits]\nagents = {file}" if file is not None else "")
    environ = {"ORCHESTRA_LIMITS_AGENTS": str(variable)} if variable is not None else {}
    found = load_settings({"limits.agents": flag}, environ=environ, folder=tmp_path).settings.limits.agents
    default = SessionLimits().agents
    assert found == next(value for value in (flag, variable, file, default) if value is not None)


def test_the_file_of_a_folder_above_is_found_and_paths_start_from_it(tmp_path: Path) -> None:
    """Like git: from a sub-folder the project's file, store and roles are the same."""
    written(tmp_path, 'store = "runs/store.db"')
    (tmp_path / "agents").mkdir()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    resolved = load_settings(environ={}, folder=below)
    assert resolved.settings.store == f"sqlite:///{tmp_path}/runs/store.db"
    assert resolved.settings.agents == f"{tmp_path}/agents"
    assert resolved.settings.reports == f"{tmp_path}/.orchestra/reports"
    assert resolved.file == f"{tmp_path}/orchestra.toml"


def test_a_named_file_may_lie_anywhere(tmp_path: Path) -> None:
    """What it says is relative to it, what it leaves out to the current folder."""
    elsewhere = tmp_path / "etc"
    elsewhere.mkdir()
    path = written(elsewhere, 'agents = "roles"', "mine.toml")
    for found in (
        load_settings(config=path, environ={}, folder=tmp_path),
        load_settings(config="etc/mine.toml", environ={}, folder=tmp_path),
        load_settings(environ={"ORCHESTRA_CONFIG": str(path)}, folder=tmp_path),
    ):
        assert found.settings.agents == f"{elsewhere}/roles"
    assert load_settings(config=path, environ={}, folder=tmp_path).settings.store == (
        f"sqlite:///{tmp_path}/.orchestra/store.db"
    )


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("runs.db", "sqlite:///{}/runs.db"),
        ("sqlite:///runs.db", "sqlite:///{}/runs.db"),
        ("sqlite:////var/runs.db", "sqlite:////var/runs.db"),
        (":memory:", ":memory:"),
        ("postgresql://host/name", "postgresql://host/name"),
    ],
)
def test_a_store_is_a_path_or_a_url(tmp_path: Path, text: str, url: str) -> None:
    """Relative paths become absolute; servers stay as they are."""
    found = load_settings({"store": text}, environ={}, folder=tmp_path).settings.store
    assert found == url.format(tmp_path)


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("ORCHESTRA_LIMITS_TOKENS", "200k", 200_000),
        ("ORCHESTRA_LIMITS_TOKENS", "1_000", 1_000),
        ("ORCHESTRA_LIMITS_TOKENS", "1.5M", 1_500_000),
        ("ORCHESTRA_LIMITS_TOKENS", "unlimited", None),
        ("ORCHESTRA_LIMITS_SECONDS", "5m", 300),
        ("ORCHESTRA_LIMITS_SECONDS", "2h", 7_200),
        ("ORCHESTRA_LIMITS_DOLLARS", ".5", 0.5),
        ("ORCHESTRA_LIMITS_TOKENS", "  ", None),
    ],
)
def test_numbers_from_the_shell(tmp_path: Path, name: str, word: str, value: Any) -> None:
    """Thousands, millions, minutes, hours, no limit; an empty variable counts as not set."""
    limits = load_settings(environ={name: word}, folder=tmp_path).settings.limits
    assert getattr(limits, name.rpartition("_")[2].lower()) == value


def test_truth_values_from_the_shell(tmp_path: Path) -> None:
    """`yes` is true, `0` is false."""
    for word, value in (("yes", True), ("0", False), ("TRUE", True)):
        assert (
            load_settings(environ={"ORCHESTRA_LOGGING_JSON": word}, folder=tmp_path).settings.logging.json
            is value
        )


def test_no_limit_is_written_as_a_word(tmp_path: Path) -> None:
    """TOML has no null, so "unlimited" takes a default limit away."""
    written(tmp_path, '[documents]\nfile_bytes = "unlimited"\n')
    assert load_settings(environ={}, folder=tmp_path).settings.documents == Documents(file_bytes=None)


def test_an_unknown_variable_is_a_warning(tmp_path: Path) -> None:
    """Other programs may use the prefix, so it is named and not refused."""
    warnings = load_settings(environ={"ORCHESTRA_LIMIT_TOKENS": "9"}, folder=tmp_path).warnings
    assert len(warnings) == 1
    assert 'Did you mean "ORCHESTRA_LIMITS_TOKENS"?' in warnings[0]


def test_endpoints_tiers_and_contexts_are_read(tmp_path: Path) -> None:
    """Every kind of table, with its values in their types."""
    written(
        tmp_path,
        """
        [endpoints.lab]
        url = "https://lab.example.com/v1"
        key_env = "LAB_KEY"
        headers = { x-team = "blue" }
        silence_seconds = 5
        total_seconds = "unlimited"
        quirks = { output = "json" }
        [tiers.small]
        model = "little"
        window = 32_000
        price_in = 0
        fallback = ["large"]
        [tiers.large]
        model = "big"
        [context.research]
        margin = 0.2
        shares.history = 0.7
        """,
    )
    found = load_settings(environ={"LAB_KEY": "k-123456"}, folder=tmp_path).settings
    lab: Endpoint = found.endpoints["lab"]
    assert (lab.silence_seconds, lab.total_seconds, lab.quirks) == (5.0, None, {"output": "json"})
    assert lab.key is not None
    assert (lab.key.reveal(), lab.headers["x-team"].reveal()) == ("k-123456", "blue")
    small = found.tiers["small"]
    assert (small.endpoint, small.window, small.price_in, small.fallback) == ("lab", 32_000, 0.0, ("large",))
    assert found.context["research"].figures() == {"margin": 0.2, "shares": {"history": 0.7}}


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    """Files saved on Windows are read, and the line is still right."""
    path = tmp_path / "orchestra.toml"
    path.write_bytes(b"\xef\xbb\xbf[limits]\r\nagents = 3\r\ntokens = 0\r\n")
    with pytest.raises(
        ConfigError, match=r"orchestra\.toml:3: limits\.tokens: must be a whole number above 0"
    ):
        load_settings(environ={}, folder=tmp_path)
