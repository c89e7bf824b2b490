"""A stream of events, put together as it comes."""

from __future__ import annotations

import msgspec

from orchestra.models.compatible.calls import is_object, object_text, trusted_id
from orchestra.models.compatible.events import Events
from orchestra.models.compatible.parse import (
    Parsed,
    RawCall,
    WireBody,
    WireCall,
    WireFunction,
    WireMessage,
    decode_body,
    parsed,
    raw_call,
    text_of,
    thoughts_in,
)
from orchestra.models.compatible.shape import Outgoing
from orchestra.values.messages import Delta, Request, ToolCall

_NOTHING_SENT = Outgoing()


class Pieces:
    """What has come of one streamed reply.

    `reply` is whole after `end`; `given` counts the calls that went out as deltas already; `finished` is
    True once the endpoint said that it was done, in whichever way it says so. After a failure in the
    middle, `failure` is the endpoint's error object.
    """

    def __init__(self, request: Request) -> None:
        self.sent = _NOTHING_SENT
        self.reply = Parsed()
        self.given = 0
        self.done = False
        self.failure: object = None
        self._request = request
        self._events = Events()
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._refusals: list[str] = []
        self._slots: list[tuple[object, RawCall]] = []
        self._used = {call.id for message in request.messages for call in message.calls}

    @property
    def finished(self) -> bool:
        return self.done or bool(self.reply.finish_reason)

    def feed(self, chunk: bytes) -> list[Delta]:
        """The deltas of the events that this chunk completes."""
        deltas: list[Delta] = []
        for data in self._events.feed(chunk):
            if data == b"[DONE]":
                self.done = True
                break
            self._event(data, deltas)
        return deltas

    def end(self) -> list[Delta]:
        """What was still open when the stream ended; `reply` is whole after it."""
        deltas: list[Delta] = []
        for data in self._events.rest():
            if data == b"[DONE]":
                self.done = True
            else:
                self._event(data, deltas)
        self.reply.text = "".join(self._texts)
        self.reply.reasoning = "".join(self._thoughts)
        self.reply.refusal = "".join(self._refusals)
        self.reply.calls = [call for _, call in self._slots]
        if self.reply.finish_reason not in {"length", "max_tokens"}:
            while self.given < len(self._slots):
                self._give(deltas)
        return deltas

    def _event(self, data: bytes, deltas: list[Delta]) -> None:
        try:
            body = decode_body(data)
        except msgspec.DecodeError:
            return  # a comment of some proxy; a broken stream shows by having no end
        if body.usage is not None:
            self.reply.usage = body.usage
        if not body.choices:
            if body.error:
                self.failure = body.error
            return
        choice = body.choices[0]
        if choice.finish_reason:
            self.reply.finish_reason = str(choice.finish_reason)
        delta = choice.delta
        if delta is None:
            if choice.message is not None:
                self._whole(body)
            return
        if not self.reply.model and body.model:
            self.reply.model = str(body.model)
        content = delta.content
        if content:
            text = content if isinstance(content, str) else text_of(content)
            self._texts.append(text)
            if text and not self.sent.emulated:  # there the text is an action, and no one's to read
                deltas.append(Delta(text))
            if isinstance(content, str) and not (
                delta.tool_calls or delta.reasoning or delta.reasoning_content or delta.refusal
            ):
                return
        self._more(delta, deltas)

    def _more(self, delta: WireMessage, deltas: list[Delta]) -> None:
        """What a delta may hold beside its text."""
        thought = delta.reasoning_content or delta.reasoning or thoughts_in(delta.content)
        if thought:
            thought = text_of(thought)
            self._thoughts.append(thought)
            deltas.append(Delta("", thought))
        if delta.refusal:
            self._refusals.append(text_of(delta.refusal))
        for part in delta.tool_calls or ():
            self._part(part)
        if delta.function_call is not None:
            self._part(WireCall(function=delta.function_call))
        while self.given < len(self._slots) and _is_whole(self._slots[self.given][1]):
            self._give(deltas)

    def _whole(self, body: WireBody) -> None:
        """A message where a delta should be: some servers send the whole reply as one event."""
        whole = parsed(body)
        self._texts.append(whole.text)
        self._thoughts.append(whole.reasoning)
        self._refusals.append(whole.refusal)
        self._slots += [(place, call) for place, call in enumerate(whole.calls)]

    def _part(self, part: WireCall) -> None:
        """A fragment of a call, put where it belongs.

        Servers that give every fragment the index 0 tell calls apart by id, or by a name after arguments
        that are whole.
        """
        function = part.function or WireFunction()
        fresh = raw_call(part)
        slot = next((call for index, call in reversed(self._slots) if index == part.index), None)
        if slot is None and part.index is None and self._slots:
            slot = self._slots[-1][1]
        if slot is None or _begins_another(slot, fresh):
            self._slots.append((part.index, fresh))
            return
        slot.id = slot.id or fresh.id
        if function.name and not slot.name:
            slot.name = fresh.name
        elif function.name and fresh.name != slot.name and not slot.arguments:
            slot.name += fresh.name
        slot.arguments += fresh.arguments
        slot.extra = slot.extra or fresh.extra

    def _give(self, deltas: list[Delta]) -> None:
        """The next call goes out as a delta, with an id and arguments that can be trusted."""
        raw = self._slots[self.given][1]
        raw.id = trusted_id(raw, self._used, len(self._request.messages), self.given)
        raw.arguments = object_text(raw.arguments)
        self._used.add(raw.id)
        self.given += 1
        deltas.append(Delta("", "", ToolCall(raw.id, raw.name, raw.arguments, raw.extra)))


def _begins_another(slot: RawCall, fresh: RawCall) -> bool:
    """True where a fragment for a known place is the first of another call."""
    if fresh.id and slot.id and fresh.id != slot.id:
        return True
    return bool(fresh.name and slot.name and fresh.arguments.startswith("{") and is_object(slot.arguments))


def _is_whole(call: RawCall) -> bool:
    """True once the arguments are an object: nothing that could follow would keep them JSON."""
    return call.arguments.endswith("}") and is_object(call.arguments)
