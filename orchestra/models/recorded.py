"""A model whose answers are recorded, and come back from the record where there is one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any

import anyio
import msgspec
from msgspec import structs
from pydantic import BaseModel

from orchestra import errors
from orchestra.errors import ModelError, RecordDiffers
from orchestra.journal.past import CALL_FAILED
from orchestra.journal.prompts import reply_data
from orchestra.journal.records import EventRecord
from orchestra.journal.track import Track
from orchestra.models.port import Model, inner_window, parts_of
from orchestra.models.screen import Screen
from orchestra.redact import Redactor
from orchestra.values.messages import Delta, OutputSpec, Reply, Request, ToolCall
from orchestra.values.usage import Usage

# A reply that was paid for is recorded even while everything is being cancelled, but not for longer.
_SHIELD_SECONDS = 1.0
_ATTRIBUTES = ("endpoint", "model", "status", "retry_after", "window", "problem")


class Recorded:
    """One agent's view of one tier. What it returns is what is recorded: without secrets."""

    __slots__ = ("_model", "_tier", "_track", "cost", "name")

    def __init__(self, model: Model, tier: str, track: Track) -> None:
        self._model = model
        self.name = model.name
        self.cost = model.cost
        self._tier = tier
        self._track = track

    window = inner_window

    async def reply(self, request: Request) -> Reply:
        track = self._track
        outcome = await track.outcome(request, self.name, self._tier)
        if outcome is not None:
            return await self._comes_again(outcome, request)
        try:
            reply = await self._model.reply(request)
        except ModelError as error:
            await self._failed(error)
            raise
        reply, data, texts = self._recordable(reply, request)
        track.replied = at = track.clock()
        if not track.put_now("reply", at, data, texts):
            await self._put_later("reply", data, texts, at)
        return reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Pieces pass through without secrets; what is recorded is the whole reply, before it is given.

        A recorded reply comes again in whole parts.
        """
        outcome = await self._track.outcome(request, self.name, self._tier)
        if outcome is not None:
            reply = await self._comes_again(outcome, request)
            for part in parts_of(reply):
                yield part
            yield reply
            return
        screened = _Screened(self._track.recording.clean)
        whole: Reply | None = None
        try:
            async with aclosing(self._model.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, Reply):
                        whole = item
                        continue
                    for piece in screened.more(item):
                        yield piece
        except ModelError as error:
            await self._failed(error)
            raise
        assert whole is not None, f"the stream of {self.name} ended without a Reply"
        reply = await self._keep(whole, request)
        for piece in screened.rest():
            yield piece
        yield reply

    async def _failed(self, error: ModelError) -> None:
        about = {"tier": self._tier, **self._track.aside}
        await self._put("note", {"what": CALL_FAILED, **about, **_failure(error)}, {})

    async def _keep(self, reply: Reply, request: Request) -> Reply:
        """The reply as it is recorded, once it is."""
        reply, data, texts = self._recordable(reply, request)
        await self._put("reply", data, texts)
        return reply

    def _recordable(
        self, reply: Reply, request: Request
    ) -> tuple[Reply, Mapping[str, Any], Mapping[str, str]]:
        """The reply without secrets, and what the journal gets of it."""
        valued = reply.value is not None
        if reply.text or reply.reasoning or valued:
            reply = self._clean(reply, request.output)
        data, texts = reply_data(reply)
        if valued and not reply.exact:
            texts |= _value_text(reply, request.output)
        data["tier"], data["purpose"], data["value"] = self._tier, request.purpose, valued
        if reply.waited_seconds:
            data["waited"] = f"{reply.waited_seconds:.3f}"
        return reply, data, texts

    async def _comes_again(self, outcome: EventRecord, request: Request) -> Reply:
        """What the record has of a call: its reply, or its failure, which is raised."""
        if outcome.kind == "note":
            await self._put("note", outcome.data, {})
            raise _raised(outcome.data)
        reply = _restored(outcome, self._track, request.output)
        await self._put("reply", outcome.data, {})
        return reply

    async def _put(self, kind: Any, data: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        track = self._track
        track.replied = at = track.clock()
        if not track.put_now(kind, at, data, texts):
            await self._put_later(kind, data, texts, at)

    async def _put_later(
        self, kind: Any, data: Mapping[str, Any], texts: Mapping[str, str], at: float
    ) -> None:
        """Where the journal has to be waited for."""
        with anyio.move_on_after(_SHIELD_SECONDS, shield=True):
            await self._track.put(kind, data, texts, at=at)

    def _clean(self, reply: Reply, output: OutputSpec | None) -> Reply:
        """The reply without secrets; calls keep their arguments, which a tool may need."""
        clean = self._track.recording.clean
        text = clean(reply.text) if reply.text else ""
        reasoning = clean(reply.reasoning) if reply.reasoning else ""
        value = reply.value
        exact = reply.exact and text == reply.text
        if output is not None and value is not None and not exact:
            written = _as_json(value)
            cleaned = clean(written)
            if cleaned != written:
                value = output.validate(cleaned)
        if text == reply.text and reasoning == reply.reasoning and value is reply.value:
            return reply
        return structs.replace(reply, text=text, reasoning=reasoning, value=value, exact=exact)


class _Screened:
    """Deltas without secrets. Calls keep their arguments, as they do in the record."""

    def __init__(self, clean: Redactor) -> None:
        self._text = Screen(clean)
        self._thoughts = Screen(clean)

    def more(self, delta: Delta) -> Iterator[Delta]:
        if delta.anew:
            self._text.rest()
            self._thoughts.rest()
            yield delta
            return
        text = self._text.more(delta.text) if delta.text else ""
        thoughts = self._thoughts.more(delta.reasoning) if delta.reasoning else ""
        if text or thoughts or delta.call is not None:
            yield Delta(text, thoughts, delta.call)

    def rest(self) -> Iterator[Delta]:
        """What was held to the end."""
        text, thoughts = self._text.rest(), self._thoughts.rest()
        if text or thoughts:
            yield Delta(text, thoughts)


def _as_json(value: Any) -> str:
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    return msgspec.json.encode(value, enc_hook=str).decode()


def _value_text(reply: Reply, output: OutputSpec | None) -> dict[str, str]:
    """The value as a text of its own, where the reply's text does not give it."""
    try:
        if output is not None and output.validate(reply.text) == reply.value:
            return {}
    except ValueError:
        pass
    return {"value": _as_json(reply.value)}


def _restored(outcome: EventRecord, track: Track, output: OutputSpec | None) -> Reply:
    data = outcome.data
    texts = {name: track.texts[where] for name, where in outcome.texts.items()}
    value = None
    if data.get("value") and output is not None:
        try:
            value = output.validate(texts.get("value", texts.get("text", "")))
        except ValueError as error:
            raise RecordDiffers(
                f"{track.path} differs from its record in turn {track.turn}: the recorded reply is no "
                f"{output.name} any more ({error}). Undo the change, or fork the session from before it.",
                agent=track.path,
                turn=track.turn,
            ) from None
    calls = msgspec.json.decode(texts["calls"], type=tuple[ToolCall, ...]) if "calls" in texts else ()
    usage = {name: data[name] for name in Usage.__struct_fields__ if name in data}
    return Reply(
        text=texts.get("text", ""),
        calls=calls,
        value=value,
        reasoning=texts.get("reasoning", ""),
        usage=Usage(**usage),
        finish=data.get("finish", "stop"),
        model=data.get("model", ""),
        seconds=data.get("seconds", 0.0),
    )


def _failure(error: ModelError) -> dict[str, Any]:
    """An endpoint's failure as data; usage only where something was billed."""
    about = {name: getattr(error, name) for name in _ATTRIBUTES if getattr(error, name, None)}
    billed = structs.asdict(error.usage) if error.usage is not None else {}
    return {"error": type(error).__name__, "reason": str(error), "about": about, **billed}


def _raised(data: Mapping[str, Any]) -> ModelError:
    """The failure again; an error of a class that is not ours comes back as a plain ModelError."""
    known = getattr(errors, str(data["error"]), None)
    about = {str(name): value for name, value in data["about"].items()}
    if not (isinstance(known, type) and issubclass(known, ModelError)):
        known = ModelError
        about = {name: value for name, value in about.items() if name in _ATTRIBUTES[:3]}
    error = known(data["reason"], **about)
    if "input_tokens" in data:
        error.usage = Usage(**{name: data[name] for name in Usage.__struct_fields__ if name in data})
    return error
