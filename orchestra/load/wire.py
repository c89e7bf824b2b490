"""What a simulated endpoint writes: replies, streams and errors, as bytes of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from orchestra.load.behaviour import Provider, Say

_encode = msgspec.json.Encoder().encode
_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    401: b"Unauthorized",
    404: b"Not Found",
    429: b"Too Many Requests",
}


def response(
    status: int, body: bytes, content_type: bytes = b"application/json", extra: bytes = b""
) -> bytes:
    """A whole HTTP response. `extra`: more header lines, each with its line end."""
    return b"HTTP/1.1 %d %s\r\ncontent-type: %s\r\n%scontent-length: %d\r\n\r\n%s" % (
        status,
        _REASONS.get(status, b"Status"),
        content_type,
        extra,
        len(body),
        body,
    )


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM_END = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


def usage_of(given: int, made: int, cached: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": given,
        "completion_tokens": made,
        "total_tokens": given + made,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def completion(serial: int, model: str, say: Say, usage: Mapping[str, Any]) -> bytes:
    """The body of a whole reply."""
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if say.reasoning:
        message["reasoning_content"] = say.reasoning
    if say.calls:
        message["tool_calls"] = _calls(serial, say)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if say.calls else "stop"}
    return _encode(
        {
            "id": f"chatcmpl-{serial}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [choice],
            "usage": usage,
        }
    )


def _calls(serial: int, say: Say) -> list[dict[str, Any]]:
    return [
        {
            "index": place,
            "id": f"call_{serial}_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for place, call in enumerate(say.calls)
    ]


def stream_events(serial: int, model: str, say: Say, usage: Mapping[str, Any] | None) -> list[bytes]:
    """The events of a stream as HTTP chunks, about a token each; the end mark is not among them."""
    start = {"id": f"chatcmpl-{serial}", "object": "chat.completion.chunk", "created": 0, "model": model}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if say.reasoning:
        deltas += [{"reasoning_content": piece} for piece in pieces(say.reasoning)]
    deltas += [{"content": piece} for piece in pieces(say.text)]
    for call in _calls(serial, say):
        arguments = call["function"]["arguments"]
        deltas.append({"tool_calls": [{**call, "function": {**call["function"], "arguments": ""}}]})
        deltas += [
            {"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]}
            for piece in pieces(arguments)
        ]
    events = [
        _event({**start, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        for delta in deltas
    ]
    finish = "tool_calls" if say.calls else "stop"
    events.append(_event({**start, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    if usage is not None:
        events.append(_event({**start, "choices": [], "usage": usage}))
    return events


def pieces(text: str) -> list[str]:
    """A text in pieces of about a token: words with the blank before them; joined they are the text."""
    if not text:
        return []
    cut = text.split(" ")
    return [cut[0], *(" " + word for word in cut[1:])]


def _event(body: Mapping[str, Any]) -> bytes:
    data = b"data: " + _encode(body) + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def error(provider: Provider, status: int, message: str, code: str, extra: bytes = b"") -> bytes:
    """An error in a provider's shape, as a whole response."""
    if provider == "html":
        page = f"<html><head><title>{status} {message}</title></head><body><h1>{message}</h1></body></html>"
        return response(status, page.encode(), b"text/html", extra)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    shapes: dict[str, Any] = {
        "openai": {"error": {"message": message, "type": kind, "param": None, "code": code}},
        "anthropic": {"type": "error", "error": {"type": code, "message": message}},
        "gemini": [{"error": {"code": status, "message": message, "status": code.upper()}}],
        "mistral": {"object": "error", "message": message, "type": code, "param": None, "code": str(status)},
        "fastapi": {"detail": message},
    }
    return response(status, _encode(shapes[provider]), extra=extra)


def models(names: tuple[str, ...], window: int) -> bytes:
    """The list of models, with the window where vLLM puts it."""
    rows = [
        {"id": name, "object": "model", "created": 0, "owned_by": "simulated", "max_model_len": window}
        for name in names
    ]
    return response(200, _encode({"object": "list", "data": rows}))
