"""Blocks as they stand in a prompt, in order, which the next prompt as a rule only adds to."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from orchestra.context.blocks import Block, Entry
from orchestra.context.trimming import without_unpaired
from orchestra.values.messages import Message

_place = attrgetter("place")
_entry = attrgetter("entry")
_id = attrgetter("id")
_number = attrgetter("number")
_NONE: tuple[Block, ...] = ()


class Joins:
    """Blocks in the order of a prompt: their messages, their lines in its manifest, their tokens.

    A context keeps those of its last prompt, so that of the next only what is new is looked at. Neighbouring
    blocks that were put into one message stay the same object, and are encoded once.

    `run`: the last of them, not in `messages`, which the next block or the end of the prompt may join.
    `unpaired`: the lines of those that are left out because their pair is broken.
    """

    __slots__ = ("_given", "_known", "_place", "blocks", "entries", "messages", "run", "tokens", "unpaired")

    def __init__(self, known: dict[tuple[int, ...], Message] | None = None) -> None:
        self._known = known  # messages of several blocks, by their numbers
        self.clear()

    def clear(self) -> None:
        """Begin anew, with what was joined before."""
        self.blocks = self._given = _NONE  # in the prompt's order, and in the one they were given in
        self.messages: list[Message] = []
        self.run: list[Block] = []
        self.entries: list[Entry] = []
        self.tokens = self._place = 0
        self.unpaired: Sequence[Entry] = ()

    def weave(self, blocks: Sequence[Block]) -> Joins:
        """All blocks in order; without those of a broken pair, and then not remembered."""
        given, known = tuple(blocks), self._given
        count = len(known)
        if given[:count] != known or not self._add(given[count:]):
            return self._anew(given)
        # Mostly they are given in their order, and one tuple serves for both.
        self.blocks = given if self.blocks is known else (*self.blocks, *given[count:])
        self._given = given
        return self

    def _anew(self, given: tuple[Block, ...]) -> Joins:
        self.clear()
        ordered = tuple(sorted(given, key=_place))
        if self._add(ordered):
            self._given, self.blocks = given, ordered
            return self
        self.clear()
        paired, gone = without_unpaired(ordered)
        apart = self.apart(paired)
        apart.unpaired = gone
        return apart

    def apart(self, blocks: Sequence[Block]) -> Joins:
        """These blocks, in order and in whole pairs, by themselves."""
        if self._known is None:
            self._known = {}
        other = Joins(self._known)
        other._add(blocks)
        other.blocks = tuple(blocks)
        return other

    def _add(self, new: Sequence[Block]) -> bool:
        """More behind it, but in `blocks`; False for a broken pair, and for what belongs further up.

        Neighbours of the system and of the user are one message each.
        """
        messages, run, tokens = self.messages, self.run, self.tokens
        place = self._place
        role = run[0].message.role if run else ""
        waiting: list[str] = []  # calls without their results
        for block in new:
            if block.place < place:
                return False
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
                    return False
                waiting.remove(message.call_id)
            elif waiting:
                return False
            elif speaker != "assistant":
                run, role = [block], speaker
                continue
            elif message.calls:
                waiting = list(map(_id, message.calls))
            messages.append(message)
        self.entries += map(_entry, new)
        self.run, self.tokens, self._place = run, tokens, place
        return not waiting

    def joined(self, run: Sequence[Block]) -> Message:
        """One message of neighbours."""
        if len(run) == 1:
            return run[0].message
        key = tuple(map(_number, run))
        text = "\n\n".join([block.message.text for block in run])
        if self._known is None:
            self._known = {}
        known = self._known.get(key)
        if known is None or known.text != text:
            known = self._known[key] = Message(run[0].message.role, text)
        return known
