"""What endpoints say about themselves: their models and windows, and which run on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from orchestra.errors import ModelError
from orchestra.models.compatible.failures import of_answer, refused
from orchestra.models.compatible.known import known_endpoints
from orchestra.models.compatible.transport import Place, Transport
from orchestra.models.settings import Endpoint, Network, Times

_WINDOWS = (
    "max_model_len",  # vLLM, SGLang
    "loaded_context_length",  # LM Studio, as loaded
    "context_length",  # OpenRouter, Together
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "inputTokenLimit",  # Gemini
    "max_input_tokens",
)
LOCAL_KINDS = ("ollama", "lmstudio", "llamacpp", "vllm", "sglang")


class Offered(Struct, frozen=True):
    """A model that an endpoint lists; `window` in tokens, None where it is not said."""

    name: str
    window: int | None = None
    max_output: int | None = None


class LocalServer(Struct, frozen=True, kw_only=True):
    """A server that answers on a usual port of this machine."""

    kind: str
    title: str
    url: str
    models: tuple[Offered, ...]

    @property
    def sentence(self) -> str:
        """One line that offers it by name."""
        names = ", ".join(model.name for model in self.models[:4]) or "no model loaded"
        more = f" and {len(self.models) - 4} more" if len(self.models) > 4 else ""
        use = f"; use it with --endpoint {self.url} --small {self.models[0].name}" if self.models else ""
        return f"{self.title} is running at {self.url} ({names}{more}){use}"


async def offered(transport: Transport, place: Place) -> tuple[Offered, ...]:
    """The models that an endpoint lists. Raises ModelError."""
    answer = await transport.get(place, "/models")
    if answer.status >= 300:
        raise of_answer(place, answer)
    try:
        body = msgspec.json.decode(answer.body)
    except msgspec.DecodeError as wrong:
        raise refused(place, "does not list its models in JSON: check its url", answer.status) from wrong
    rows = body.get("data", body.get("models", ())) if isinstance(body, Mapping) else body
    return tuple(_offered(row) for row in rows or () if isinstance(row, Mapping))


def _offered(row: Mapping[str, Any]) -> Offered:
    name = str(row.get("id") or row.get("name") or row.get("model") or "")
    meta = row.get("meta") or {}  # llama.cpp: n_ctx is one slot's, n_ctx_train the model's own
    top = row.get("top_provider") or {}  # OpenRouter
    candidates = [row.get(key) for key in _WINDOWS]
    candidates = [top.get("context_length"), *candidates, meta.get("n_ctx"), meta.get("n_ctx_train")]
    output = top.get("max_completion_tokens") or row.get("max_completion_tokens")
    return Offered(name, _first(candidates), _first([output]))


def _first(values: Sequence[Any]) -> int | None:
    return next((int(value) for value in values if isinstance(value, int | float) and value > 0), None)


async def local_servers(*, seconds: float = 0.5, ports: Mapping[str, int] | None = None) -> list[LocalServer]:
    """What answers on the usual ports, asked all at once. `ports`: kind → port, in place of the table's."""
    found: list[LocalServer] = []
    usual = {kind: known_endpoints()[kind].port for kind in LOCAL_KINDS}
    async with anyio.create_task_group() as group:
        for kind, port in (ports or usual).items():
            if port is not None:
                group.start_soon(_look, kind, port, seconds, found)
    order = list(ports or usual)
    return sorted(found, key=lambda server: order.index(server.kind))


async def _look(kind: str, port: int, seconds: float, found: list[LocalServer]) -> None:
    from orchestra.models.compatible.direct import Direct

    url = f"http://127.0.0.1:{port}/v1"
    times = Times(connect_seconds=seconds, first_byte_seconds=seconds, total_seconds=seconds)
    transport = Direct(Endpoint(name=kind, url=url, times=times), Network())
    try:
        models = await offered(transport, Place(kind, ""))
    except ModelError:
        return
    finally:
        await transport.close()
    found.append(LocalServer(kind=kind, title=known_endpoints()[kind].title, url=url, models=models))
