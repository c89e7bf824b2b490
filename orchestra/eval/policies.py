"""Which policy a word on the command line means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestra.config.load import load_settings
from orchestra.config.nearest import hint
from orchestra.config.settings import PRESETS, ContextOverride
from orchestra.context.policy import MECHANISMS, Policy, policy_for
from orchestra.errors import InputError
from orchestra.roles.read import load_role

NAIVE = "naive"
BUILT_IN = "default:"


class Chosen(Struct, frozen=True, kw_only=True):
    """A preset with other figures. `name`: how the table calls it."""

    name: str
    preset: str
    figures: Mapping[str, Any] = {}

    @property
    def override(self) -> ContextOverride:
        """The figures as a setting."""
        return ContextOverride(**self.figures)

    @property
    def policy(self) -> Policy:
        """Raises ConfigError for a figure out of its range."""
        return policy_for(self.preset, self.figures)


def choose(word: str, contexts: Mapping[Any, ContextOverride], flag: str = "--policy") -> Chosen:
    """The policy of a name: `chat`, `chat-pins-facts` (without these), `naive`, `default:chat`, a file.

    A file is an orchestra.toml whose one context preset is meant (`my.toml#chat` of several), or a role's.
    `contexts`: what the configuration says of presets; `default:` leaves that out. Raises UserError; `flag`:
    where the word stands.
    """
    file, _, preset = word.partition("#")
    if file.endswith(".toml"):
        chosen = _of_config(word, file, preset)
    elif file.endswith(".md"):
        chosen = _of_preset(word, load_role(file).context, contexts)
    elif word == NAIVE:
        chosen = Chosen(name=word, preset="chat", figures={"without": MECHANISMS})
    else:
        preset, *without = word.removeprefix(BUILT_IN).split("-")
        for mechanism in without:
            if mechanism not in MECHANISMS:
                sentence = f'there is no mechanism "{mechanism}" to do without.{hint(mechanism, MECHANISMS)}'
                raise InputError(f"{flag}: {sentence}", key=flag)
        known = (*PRESETS, NAIVE)
        if preset not in PRESETS:
            raise InputError(f'{flag}: there is no policy "{preset}".{hint(preset, known)}', key=flag)
        built_in = word.startswith(BUILT_IN)
        chosen = _of_preset(word, preset, {} if built_in else contexts, without)
    policy_for(chosen.preset, chosen.figures)  # says what does not fit before anything runs
    return chosen


def _of_preset(
    word: str, preset: str, contexts: Mapping[Any, ContextOverride], without: Iterable[str] = ()
) -> Chosen:
    figures = contexts[preset].figures() if preset in contexts else {}
    off = tuple(dict.fromkeys((*figures.get("without", ()), *without)))
    return Chosen(name=word, preset=preset, figures={**figures, "without": off} if off else figures)


def _of_config(word: str, file: str, preset: str) -> Chosen:
    contexts = load_settings(config=Path(file), environ={}, for_models=False).settings.context
    if not preset:
        if len(contexts) != 1:
            said = f"has {len(contexts)} context presets" if contexts else "says nothing of a context preset"
            raise InputError(
                f"The file {said}; write [context.chat] for one, or name one of several as {file}#chat.",
                file=file,
            )
        preset = next(iter(contexts))
    elif preset not in PRESETS:
        raise InputError(f'There is no context preset "{preset}".{hint(preset, PRESETS)}', file=file)
    return _of_preset(word, preset, contexts)
