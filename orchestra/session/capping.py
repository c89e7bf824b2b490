"""The cap of a hand-off: what fits is handed on, best first; the rest stays in the journal."""

from __future__ import annotations

from copy import copy
from typing import Any

from msgspec import Struct, structs
from pydantic import BaseModel

from orchestra.context.budget import budget_of
from orchestra.context.policy import Policy
from orchestra.context.tokens import Counter
from orchestra.session.outputs import as_json
from orchestra.values.handoffs import HandOff, Outcome

# A task handed to an agent takes at most this share of what its prompt may hold, and no more tokens than a
# writer can use: five researchers' hand-offs at their default cap are 20,000.
TASK_SHARE = 0.7
TASK_TOKENS = 20_000


def task_room(window: int, policy: Policy) -> int:
    """Tokens that the task of an agent with such a window may have."""
    return max(min(TASK_TOKENS, int(budget_of(window, policy).usable * TASK_SHARE)), 1)


def capped(value: Any, cap: int, counter: Counter) -> tuple[Any, int, int]:
    """The value within `cap` tokens, its tokens, and how many items were left out.

    Lists in an output are written best first, so the longest list loses its end, again and again.
    A text is cut at a character boundary with a visible mark. A value that cannot be made to fit
    is handed on as it is with `left_out` 0: it is the caller's to refuse.
    """
    if isinstance(value, str):
        return _capped_text(value, cap, counter)
    left_out = 0
    while (tokens := counter.count(_text(value))) > cap and isinstance(value, BaseModel | Struct):
        shorter = _without_last(value)
        if shorter is None:
            break
        value, left_out = shorter, left_out + 1
    return value, tokens, left_out


def _capped_text(text: str, cap: int, counter: Counter) -> tuple[str, int, int]:
    tokens = counter.count(text)
    if tokens <= cap:
        return text, tokens, 0
    mark = f"\n… shown {cap:,} of {tokens:,} tokens"
    kept = counter.cut(text, max(cap - counter.count(mark), 0)) + mark
    return kept, counter.count(kept), 1


def _without_last(value: BaseModel | Struct) -> BaseModel | Struct | None:
    """The value with one item less in its longest list; None when no list has two items."""
    parts = structs.asdict(value) if isinstance(value, Struct) else dict(value)
    lists = {name: part for name, part in parts.items() if isinstance(part, tuple | list) and len(part) > 1}
    if not lists:
        return None
    name = max(lists, key=lambda key: len(_text(lists[key])))
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: lists[name][:-1]})
    shorter = copy(value)  # a twin that nobody has seen; its type's own checks are of what a model gives
    structs.force_setattr(shorter, name, lists[name][:-1])
    return shorter


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, BaseModel | Struct):
        return as_json(value)
    return " ".join(_text(part) for part in value) if isinstance(value, tuple | list) else str(value)


def enveloped(
    outcome: Outcome, receiver: str, cap: int, counter: Counter, *, session: str
) -> tuple[HandOff[Any], str]:
    """What an agent of this session made, in its envelope, within the cap; and the text that was counted.

    That is the model's own, which need not be written anew, where it is exactly the value and fits; else "".
    """
    value = outcome.value if outcome.value is not None else outcome.text or None
    written, left_out = outcome.written, 0
    tokens = counter.count(written) if written else 0
    if tokens > cap:
        written = ""
    if value is not None and not written:
        value, tokens, left_out = capped(value, cap, counter)
    handoff = HandOff(
        sender=outcome.agent,
        receiver=receiver,
        value=value,
        status=outcome.status,
        reason=outcome.reason,
        tokens=tokens,
        cap=cap,
        left_out=left_out,
        references=(f"{session}/{outcome.agent}",) if left_out else (),
    )
    return handoff, written
