"""Statuses that no other request would change: errors in the providers' many words."""

from __future__ import annotations

from typing import Any

import pytest

from orchestra.errors import ContextTooLong, ModelRefused
from tests.models.loopback import error, serving
from tests.models.opened import asks, opened

pytestmark = pytest.mark.anyio

TOO_LONG: list[tuple[Any, int, int | None]] = [
    (
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your messages "
                "resulted in 9000 tokens.",
                "code": "context_length_exceeded",
            }
        },
        400,
        8192,
    ),
    (
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 210000 tokens > 200000 maximum",
            },
        },
        400,
        200_000,
    ),
    (
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1200000) exceeds the maximum number of tokens allowed "
                    "(1048576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        400,
        1_048_576,
    ),
    (
        {
            "object": "error",
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
            "maximum context length",
            "type": "invalid_request_error",
        },
        400,
        32_768,
    ),
    (
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size (512 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_ctx": 512,
            }
        },
        400,
        512,
    ),
    (
        {
            "error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is "
            "loaded with context length of only 4096 tokens, which is not enough."
        },
        400,
        4096,
    ),
    (
        {
            "error": {
                "message": "Input validation error: `inputs` tokens + `max_new_tokens` "
                "must be <= 8193. Given: 9000"
            }
        },
        422,
        8193,
    ),
    (
        {
            "error": {
                "message": "Please reduce the length of the messages or completion.",
                "code": "context_length_exceeded",
            }
        },
        400,
        None,
    ),
    ({"detail": "Request too large: too many tokens in the prompt"}, 413, None),
]


@pytest.mark.parametrize(("body", "status", "window"), TOO_LONG)
async def test_too_long_in_many_words(body: Any, status: int, window: int | None) -> None:
    """The context's length in the providers' words is one error, and a window that is named is remembered."""
    async with serving(error(status, body)) as here, opened(here.url, window=2_000_000) as model:
        with pytest.raises(ContextTooLong) as long:
            await model.reply(asks())
        assert model.window == (window or 2_000_000)
    assert long.value.window == window
    assert len(here.seen) == 1


STATUSES = [
    (
        401,
        {"error": {"message": "Incorrect API key provided: sk-secret-key."}},
        "Check the key of endpoint here",
    ),
    (402, {"error": {"message": "Insufficient Balance"}}, "Add credit"),
    (403, {"error": {"message": "Country not supported"}}, "Check the key's rights"),
    (
        404,
        {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}},
        "has no such model",
    ),
    (404, {"detail": "Not Found"}, "Check the url of endpoint here"),
    (
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
                "management policy.",
                "code": "content_filter",
            }
        },
        "filtered this prompt out",
    ),
    (
        429,
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
        "Add credit",
    ),
    (418, "I'm a teapot", "refused the request"),
]


@pytest.mark.parametrize(("status", "body", "advice"), STATUSES)
async def test_statuses(status: int, body: Any, advice: str) -> None:
    """Each status that waiting cannot cure is a sentence with endpoint, model, status and advice."""
    async with serving(error(status, body)) as here, opened(here.url) as model:
        with pytest.raises(ModelRefused) as refused:
            await model.reply(asks())
    told = str(refused.value)
    assert told.startswith(f"Endpoint here (model m, status {status}) ")
    assert advice in told
    assert "sk-secret-key" not in told
