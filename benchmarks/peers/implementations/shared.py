"""One client for the libraries that go through OpenAI's: no limit of connections, its fastest transport."""

# mypy: ignore-errors
from __future__ import annotations

import openai
import workload


def http_client():
    limits = type(openai._constants.DEFAULT_CONNECTION_LIMITS)(
        max_connections=20_000, max_keepalive_connections=20_000
    )
    return openai.DefaultAioHttpClient(limits=limits)


def openai_client():
    return openai.AsyncOpenAI(
        base_url=workload.BASE_URL, api_key=workload.API_KEY, http_client=http_client(), timeout=600
    )
