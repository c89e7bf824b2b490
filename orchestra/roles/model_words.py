"""What the word after `model:` in a role file means."""

from __future__ import annotations

from collections.abc import Mapping

from orchestra.roles.foreign import SIZES

INHERIT = "inherit"


def tier_of(word: str, models: Mapping[str, str], inherited: str) -> str | None:
    """The tier that a role's `steps` or `final` goes to.

    `models`: each tier's name to its model. A tier's name is itself, `inherit` is `inherited`, a model's name
    is the first tier that has this model, `haiku` is small, `sonnet` and `opus` are large. None: no tier has
    this model; the caller says so.
    """
    if word in models:
        return word
    if word == INHERIT:
        return inherited
    for tier, model in models.items():
        if model == word:
            return tier
    return SIZES.get(word.lower())
