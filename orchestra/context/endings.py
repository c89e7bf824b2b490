"""The pieces at the end of a prompt, made anew when what they say has changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from orchestra.context.assembly import Piece
from orchestra.context.blocks import Block
from orchestra.context.labels import data
from orchestra.context.pins import Pins
from orchestra.context.policy import Policy
from orchestra.context.state import EMPTY, TaskState, render
from orchestra.context.tokens import MESSAGE_TOKENS, Counter, joins_cleanly
from orchestra.values.messages import OutputSpec

Pieces = tuple[Piece, ...]

PINNED = "pinned facts"
PINNED_LABEL = "pinned facts | said earlier in this talk"

_NOTHING: tuple[str, Pieces] = ("", ())
_NO_STATE: tuple[TaskState, Pieces] = (EMPTY, ())
_NO_OUTPUT: tuple[OutputSpec | None, bool, Pieces] = (None, False, ())

ONCE_MORE = "The current input once more:\n"


def schema_pieces(output: OutputSpec, counter: Counter) -> Pieces:
    """A schema that the endpoint holds the reply to: sent beside the messages, counted and not shown."""

    def make(_schema: object, counter: Counter) -> Pieces:
        text, tokens = counter.output(output)
        return (Piece("fixed", "output schema", text, tokens + MESSAGE_TOKENS, output.name),)

    made: Pieces = counter.once(output.schema, make)
    return made


class Endings:
    """Remembers the last piece of each kind, so that the same state and schema are counted once."""

    __slots__ = (
        "_constraints",
        "_counter",
        "_marks",
        "_output",
        "_reminder",
        "_state",
        "_without",
    )

    def __init__(self, counter: Counter, without: Collection[str] = ()) -> None:
        self._counter = counter
        self._without = without
        self._state: tuple[TaskState, Pieces] = _NO_STATE
        self._constraints = self._marks = self._reminder = _NOTHING
        self._output: tuple[OutputSpec | None, bool, Pieces] = _NO_OUTPUT

    def state(self, state: TaskState) -> Pieces:
        """The task state, nothing when nothing is known."""
        if self._state[0] is not state:
            text = render(state)
            self._state = (
                state,
                (self._piece("state", "state", f"State of the task:\n{text}", "kept by code"),),
            )
            if not text or "state" in self._without:
                self._state = (state, ())
        return self._state[1]

    def pinned(self, pins: str) -> Pieces:
        """Pinned facts of what a recalled view does not show; nothing for ""."""
        if not pins:
            return ()
        return (self._piece("memory", PINNED, data(PINNED_LABEL, pins), "said once and binding"),)

    def superseded(self, marks: str) -> Pieces:
        """A word on each value that is still to be seen and holds no longer; nothing for ""."""
        if not marks:
            return ()
        if self._marks[0] != marks:
            text = f"Superseded:\n{marks}"
            self._marks = (
                marks,
                (self._piece("state", "superseded", text, "an old value is in the prompt"),),
            )
        return self._marks[1]

    def reminder(self, blocks: Sequence[Block], policy: Policy) -> Pieces:
        """The current input once more when much stands behind it."""
        behind = 0
        for block in reversed(blocks):
            if block.zone == "input":
                break
            behind += block.tokens
        else:
            return ()
        if behind <= policy.restate_after:
            return ()
        if self._reminder[0] != block.message.text:
            self._reminder = (block.message.text, (self._once_more(block, policy.restate_tokens),))
        return self._reminder[1]

    def _once_more(self, block: Block, tokens: int) -> Piece:
        counter, said = self._counter, block.message.text
        text = counter.cut(said, tokens)
        if len(text) < len(said):
            return self._piece("input", "reminder", f"{ONCE_MORE}{text} …", "stands far above")
        shown = ONCE_MORE + said
        if counter.lines_add_up and joins_cleanly(said):  # it is counted already
            head = counter.known(ONCE_MORE)
            return Piece("input", "reminder", shown, head + block.tokens, "stands far above")
        return self._piece("input", "reminder", shown, "stands far above")

    def constraints(self, pins: Pins, blocks: Sequence[Block], policy: Policy) -> Pieces:
        """What the user demanded far above, newest first: in the middle of a long prompt it is overlooked."""
        if "pins" in self._without:
            return ()
        bound = pins.binding
        if not bound:
            return ()
        behind = 0
        room, after = policy.restate_tokens, policy.restate_after
        lines: list[str] = []
        for block in reversed(blocks):
            if behind > after and block.number in bound:
                for pin in reversed(pins.bound_in(block.number)):
                    if pin.tokens <= room and not pin.loose:
                        room -= pin.tokens
                        lines.append(pin.line)
            behind += block.tokens
        told = "\n".join(dict.fromkeys(lines))
        if not told:
            return ()
        if self._constraints[0] != told:
            text = f"Still binding:\n{told}"
            self._constraints = (told, (self._piece("state", "constraints", text, "said far above"),))
        return self._constraints[1]

    def output(self, output: OutputSpec, *, tools: bool) -> Pieces:
        """The format of the answer, for an endpoint that does not hold replies to a schema."""
        if self._output[0] is not output or self._output[1] is not tools:
            when = "When you need no more tools, answer" if tools else "Answer"
            text = (
                f"Output format: {output.name}. {when} with one JSON object that fits this schema, "
                f"and with nothing else:\n{self._counter.output(output)[0]}"
            )
            self._output = (output, tools, (self._piece("fixed", "output format", text, output.name),))
        return self._output[2]

    def ask(self, text: str) -> Pieces:
        """A last word to the model; nothing for ""."""
        return (self._piece("input", "ask", text, "a word of the runtime"),) if text else ()

    def _piece(self, zone: str, name: str, text: str, why: str) -> Piece:
        tokens = self._counter.count(text) + MESSAGE_TOKENS
        return Piece(zone, name, text, tokens, why)  # type: ignore[arg-type]  # one of three zones
