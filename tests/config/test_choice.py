"""Which models are chosen, and the sentence that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestra.config.load import load_settings
from orchestra.config.settings import Resolved
from orchestra.errors import ConfigError

KEY = {"OPENAI_API_KEY": "sk-test-0000"}
LOCAL = "http://localhost:11434/v1"
FILE = f"""
[endpoints.home]
url = "{LOCAL}"
[tiers.small]
model = "little"
window = 8_000
[tiers.large]
endpoint = "openai"
model = "gpt-6-astra"
"""


def resolved(
    folder: Path, flags: dict[str, Any] | None = None, environ: dict[str, str] | None = None
) -> Resolved:
    return load_settings(flags, environ=environ or {}, folder=folder)


def models(found: Resolved) -> list[tuple[str, str]]:
    return [
        (found.settings.tiers[name].endpoint, found.settings.tiers[name].model) for name in ("small", "large")
    ]


def test_nothing_configured_is_the_built_in_model(tmp_path: Path) -> None:
    """No key and no file: the extractive model, said with its reason."""
    found = resolved(tmp_path)
    assert all(tier.built_in for tier in found.settings.tiers.values())
    assert found.choice == "models: extractive (built in) - no OPENAI_API_KEY and no orchestra.toml"
    assert "an empty OPENAI_API_KEY" in resolved(tmp_path, environ={"OPENAI_API_KEY": " "}).choice


def test_a_key_means_openai(tmp_path: Path) -> None:
    """A key in the environment chooses a small and a large model of OpenAI's."""
    found = resolved(tmp_path, environ=KEY)
    small, large = (found.settings.tiers[name] for name in ("small", "large"))
    assert small.endpoint == large.endpoint == "openai"
    assert small.model != large.model
    assert (
        found.choice == f"models: small {small.model}, large {large.model} at openai - OPENAI_API_KEY is set"
    )


def test_a_base_url_moves_openai(tmp_path: Path) -> None:
    """OPENAI_BASE_URL is where the key goes, and the choice shows it."""
    found = resolved(tmp_path, environ={**KEY, "OPENAI_BASE_URL": LOCAL})
    assert found.settings.endpoints["openai"].url == LOCAL
    assert f"openai ({LOCAL})" in found.choice
    assert "no model is named" in resolved(tmp_path, environ={"OPENAI_BASE_URL": LOCAL}).choice


def test_tiers_of_the_file_are_used(tmp_path: Path) -> None:
    """The only endpoint of the file is the default one; the choice names the file."""
    (tmp_path / "orchestra.toml").write_text(FILE)
    found = resolved(tmp_path, environ=KEY)
    assert models(found) == [("home", "little"), ("openai", "gpt-6-astra")]
    assert found.choice == (
        f"models: small little at home ({LOCAL}), large gpt-6-astra at openai - tiers in orchestra.toml"
    )


def test_one_tier_of_the_file_serves_both(tmp_path: Path) -> None:
    """A file with one tier does not mix it with a model that nobody named."""
    (tmp_path / "orchestra.toml").write_text(FILE.partition("[tiers.large]")[0])
    assert models(resolved(tmp_path, environ=KEY)) == [("home", "little"), ("home", "little")]


def test_a_figure_for_a_default_tier_keeps_the_rest(tmp_path: Path) -> None:
    """`[tiers.small] window = ...` alone changes the window of OpenAI's small model."""
    (tmp_path / "orchestra.toml").write_text("[tiers.small]\nwindow = 9_000\n")
    found = resolved(tmp_path, environ=KEY).settings.tiers
    assert found["small"].window == 9_000
    assert found["large"].model != found["small"].model


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"models": "extractive"}, [("extractive", "extractive")] * 2),
        ({"models": "home"}, [("home", "little")] * 2),
        ({"small": "x"}, [("home", "x"), ("openai", "gpt-6-astra")]),
        ({"large": "y", "endpoint": "home"}, [("home", "little"), ("home", "y")]),
        ({"small": "x", "endpoint": "http://lab:1/v1"}, [("lab:1", "x")] * 2),
        ({"models": "x", "endpoint": "http://lab:1/v1"}, [("lab:1", "x")] * 2),
        ({"endpoint": LOCAL + "/"}, [("home", "little")] * 2),
        ({"small": "extractive"}, [("extractive", "extractive"), ("openai", "gpt-6-astra")]),
    ],
)
def test_flags_choose_over_the_file(
    tmp_path: Path, flags: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    """Models by name, endpoints by name or URL; what was set for a model that stays is kept."""
    (tmp_path / "orchestra.toml").write_text(FILE)
    found = resolved(tmp_path, flags, KEY)
    assert models(found) == expected
    assert all(f"--{name} {value}" in found.choice for name, value in flags.items())
    assert all(tier.window == 8_000 for tier in found.settings.tiers.values() if tier.model == "little")


def test_flags_choose_over_variables(tmp_path: Path) -> None:
    """A model named by flag is used although a variable asks for the built-in one."""
    environ = {**KEY, "ORCHESTRA_MODELS": "extractive"}
    assert resolved(tmp_path, environ=environ).choice.endswith("- ORCHESTRA_MODELS=extractive")
    found = resolved(tmp_path, {"models": "openai"}, environ)
    assert found.settings.tiers["small"].endpoint == "openai"


def test_openais_key_goes_to_no_other_server(tmp_path: Path) -> None:
    """An endpoint given as a URL is sent ORCHESTRA_API_KEY or nothing."""
    flags = {"endpoint": "https://api.elsewhere.example/v1", "small": "m"}
    endpoint = resolved(tmp_path, flags, KEY).settings.endpoints["api.elsewhere.example"]
    assert endpoint.key is None
    endpoint = resolved(tmp_path, flags, {**KEY, "ORCHESTRA_API_KEY": "other"}).settings.endpoints[
        "api.elsewhere.example"
    ]
    assert endpoint.key is not None
    assert endpoint.key.reveal() == "other"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"models": "opnai"}, '--models: there is no endpoint "opnai". Did you mean "openai"?'),
        ({"endpoint": "hme"}, '--endpoint: there is no endpoint "hme". Did you mean "home"?'),
        ({"endpoint": "http://lab/v1"}, 'no tier uses the endpoint "lab"; name its models with --small'),
        ({"endpoint": "http://user:pass@lab/v1", "small": "m"}, "must not carry a user name or a password"),
        ({"models": "openai"}, 'the endpoint "openai" reads its key from OPENAI_API_KEY, which is not set'),
        ({"small": ""}, "--small: is set but empty"),
    ],
)
def test_a_wrong_choice_is_one_sentence(tmp_path: Path, flags: dict[str, str], sentence: str) -> None:
    """What, where, and what to do; a password is not repeated."""
    (tmp_path / "orchestra.toml").write_text(FILE)
    with pytest.raises(ConfigError) as caught:
        resolved(tmp_path, flags)
    assert sentence in str(caught.value)
    assert "pass@" not in str(caught.value)


def test_commands_that_ask_no_model_need_no_key(tmp_path: Path) -> None:
    """`orchestra show` works where the key is not set."""
    (tmp_path / "orchestra.toml").write_text(FILE)
    assert load_settings(environ={}, folder=tmp_path, for_models=False).settings.tiers["large"].model
