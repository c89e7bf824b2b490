"""Blocks as they stand in a prompt, in order, which the next prompt as a rule only adds to."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from orchestra.context.blocks import Block, Entry
from orchestra.context.trimming import without_unpaired
from orchestra.values.messages import Message

_place = attrgetter("place")
_entry = attrgetter("entry")


class Woven(Struct, frozen=True, gc=False):
    """Blocks in the order of a prompt: their messages, their lines in its manifest, their tokens.

    `run`: the last of them, not in `messages`, which the next block or the end of the prompt may join.
    """

    blocks: tuple[Block, ...] = ()
    messages: tuple[Message, ...] = ()
    run: tuple[Block, ...] = ()
    entries: tuple[Entry, ...] = ()
    tokens: int = 0


NOTHING = Woven()


class Joins:
    """Remembers one context's last prompt, so that of the next only what is new is looked at.

    Neighbouring blocks that were put into one message stay the same object, and are encoded once.
    """

    __slots__ = ("_given", "_messages", "_woven")

    def __init__(self) -> None:
        self._given: tuple[Block, ...] = ()  # in the order in which they were given
        self._woven = NOTHING
        self._messages: dict[tuple[int, ...], Message] | None = None

    def clear(self) -> None:
        self._given, self._woven, self._messages = (), NOTHING, None

    def woven(self, blocks: Sequence[Block]) -> tuple[Woven, list[Entry]]:
        """All blocks in order, without those of a broken pair, and these ones' entries."""
        given, known = tuple(blocks), self._given
        woven: Woven | None = None
        if known and given[: len(known)] == known:
            woven = self.weave(self._woven, given[len(known) :])
        if woven is None and (woven := self.weave(NOTHING, sorted(given, key=_place))) is None:
            paired, gone = without_unpaired(sorted(given, key=_place))
            return self.weave(NOTHING, paired) or NOTHING, gone
        self._given, self._woven = woven.blocks if woven.blocks == given else given, woven
        return woven, []

    def weave(self, woven: Woven, new: Sequence[Block]) -> Woven | None:
        """The same with more behind it; None for a broken pair, and for blocks that belong further up.

        Neighbours of the system and of the user are one message each.
        """
        if not new:
            return woven
        messages: list[Message] = []
        run = list(woven.run)
        role = run[0].message.role if run else ""
        place, tokens = woven.blocks[-1].place if woven.blocks else 0, woven.tokens
        waiting: list[str] = []  # calls without their results
        for block in new:
            if block.place < place:
                return None
            place = block.place
            tokens += block.tokens
            message = block.message
            speaker = message.role
            if speaker == role:
                run.append(block)
                continue
            if run:
                messages.append(self.joined(run))
                run, role = [], ""
            if speaker == "tool":
                if message.call_id not in waiting:
                    return None
                waiting.remove(message.call_id)
            elif waiting:
                return None
            elif speaker != "assistant":
                run, role = [block], speaker
                continue
            elif message.calls:
                waiting = [call.id for call in message.calls]
            messages.append(message)
        if waiting:
            return None
        return Woven(
            (*woven.blocks, *new),
            (*woven.messages, *messages),
            tuple(run),
            (*woven.entries, *map(_entry, new)),
            tokens,
        )

    def joined(self, run: Sequence[Block]) -> Message:
        """One message of neighbours."""
        if len(run) == 1:
            return run[0].message
        key = tuple([block.number for block in run])
        text = "\n\n".join([block.message.text for block in run])
        if self._messages is None:
            self._messages = {}
        known = self._messages.get(key)
        if known is None or known.text != text:
            known = self._messages[key] = Message(run[0].message.role, text)
        return known
