"""Which embedding model a setting names: one that is installed, or an endpoint's."""

from __future__ import annotations

from collections.abc import Mapping

from orchestra.config.endpoints import Endpoint
from orchestra.config.given import Given
from orchestra.config.nearest import hint

INSTALLED = ("auto", "none", "use", "minilm")


def endpoint_of(word: str) -> tuple[str, str] | None:
    """Endpoint and model of `openai/text-embedding-3-small`; None for an installed model. Models' names may
    hold slashes, endpoints' do not.
    """
    name, slash, model = word.partition("/")
    return (name, model) if slash else None


def embedding_fault(given: Given, endpoints: Mapping[str, Endpoint]) -> str:
    """What is wrong with a setting's word, as a sentence, or ""."""
    word = str(given.value)
    at = endpoint_of(word)
    if at is None:
        if word in INSTALLED:
            return ""
        return (
            f'there is no embedding model "{word}".{hint(word, INSTALLED)} An endpoint\'s is ENDPOINT/MODEL.'
        )
    name, model = at
    if name not in endpoints:
        return f'there is no endpoint "{name}".{hint(name, endpoints)}'
    return "" if model.strip() else f'no model is named at the endpoint "{name}"; write {name}/MODEL.'
