"""Sick prompts for `benchmarks.doctor`: one disease planted into a recorded prompt, ten of each kind."""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct, structs

from benchmarks.doctor_talks import COUNTER, Recorded, order
from orchestra.context.blocks import Entry
from orchestra.context.fence import fence
from orchestra.values.messages import Message, ToolCall


class Case(Struct, frozen=True):
    """`block`: where it was planted. `prompt` is sick of one thing."""

    disease: str
    what: str
    prompt: Recorded
    blocks: tuple[str, ...]


def insert(prompt: Recorded, at: int, *messages: Message) -> Recorded:
    """Before the message at `at`; from the end when negative. The manifest gets a block p7 for message 7."""
    known = prompt.messages
    at = at if at >= 0 else len(known) + at
    assert prompt.manifest is not None
    ends = sum(message.role in ("assistant", "tool") for message in known[:at])
    entries = list(prompt.manifest.entries)
    place = 0
    while ends:
        entry = entries[place]
        place += 1
        ends -= entry.zone == "history" and entry.source != "input" and entry.fate in ("kept", "trimmed")
    for step, message in enumerate(messages):
        source = {"user": "input", "assistant": "reply", "tool": "find_order"}[message.role]
        tokens = COUNTER.message(message)
        entries.insert(place + step, Entry(f"p{at + step + 1}", "history", source, tokens, tokens))
    manifest = structs.replace(prompt.manifest, entries=tuple(entries))
    return structs.replace(prompt, messages=(*known[:at], *messages, *known[at:]), manifest=manifest)


def replaced(prompt: Recorded, at: int, text: str) -> Recorded:
    known = list(prompt.messages)
    known[at] = structs.replace(known[at], text=text)
    return structs.replace(prompt, messages=tuple(known))


def gap(prompt: Recorded, share: float) -> int:
    """Where one round ends and the next begins, from that share of the prompt's messages on."""
    for at in range(max(2, int(share * len(prompt.messages))), len(prompt.messages)):
        last = prompt.messages[at - 1]
        if prompt.messages[at].role == "user" and last.role == "assistant" and not last.calls:
            return at
    raise ValueError(prompt.name)


def place(prompt: Recorded, at: int) -> str:
    """The name of an inserted message."""
    return f"p{(at if at >= 0 else len(prompt.messages) + at) + 1}"


def looked_up(arguments: str, text: str) -> tuple[Message, Message]:
    call = ToolCall("planted", "find_order", arguments)
    shown = fence(f"find_order | {arguments}", text)
    return Message("assistant", calls=(call,)), Message("tool", shown, call_id=call.id)


def kept(prompt: Recorded) -> list[Entry]:
    assert prompt.manifest is not None
    return [entry for entry in prompt.manifest.entries if entry.tokens and entry.block[1:].isdigit()]


def input_of(prompt: Recorded) -> str:
    """The current input's block."""
    return [entry.block for entry in kept(prompt) if entry.source == "input"][-1]


def results_of(prompt: Recorded) -> list[tuple[int, str]]:
    """Place of the message and block of each result."""
    places = [at for at, message in enumerate(prompt.messages) if message.role == "tool"]
    blocks = [
        entry.block
        for entry in kept(prompt)
        if entry.zone == "history" and entry.source not in ("input", "reply")
    ]
    return list(zip(places, blocks, strict=True))


def asks(prompt: Recorded, text: str) -> Recorded:
    """The same prompt with another current input."""
    pieces, gap, _ = prompt.messages[-1].text.rpartition("\n\n")
    return replaced(prompt, len(prompt.messages) - 1, f"{pieces}{gap}{text}")


def _last(prompt: Recorded) -> str:
    return prompt.messages[-1].text.rpartition("\n\n")[2]


def alone(prompt: Recorded, text: str) -> Recorded:
    """Only the role and an input: what the talk was about is gone."""
    assert prompt.manifest is not None
    first, last = prompt.messages[0], structs.replace(prompt.messages[-1], text=text)
    entries = [entry for entry in prompt.manifest.entries if not entry.block[1:].isdigit()]
    mine = [kept(prompt)[0], next(entry for entry in kept(prompt) if entry.block == input_of(prompt))]
    manifest = structs.replace(prompt.manifest, entries=(*entries, *mine))
    return structs.replace(prompt, messages=(first, last), manifest=manifest)


LOG = "\n".join(f"kernel[{at}]: eth0 link flap, carrier lost, retry {at * 37}" for at in range(400))


def polluted(english: Recorded, chinese: Recorded, long: Recorded) -> list[Case]:
    old = looked_up('{"order": "Q71"}', order("Q71", 110))
    first, start, zh_start = gap(long, 0.02), gap(english, 0.1), gap(chinese, 0.1)
    early = insert(long, first, *old)
    again = english.messages[results_of(english)[0][0]].text.split("```")[1].strip("\n")
    said = [Message("user", "My hotel costs 640 dollars."), Message("assistant", "Noted.")]
    moved = [
        Message("user", "Actually the hotel costs 710 dollars, not 640."),
        Message("assistant", "Noted."),
    ]
    zh = [Message("user", "运费是85元。"), Message("assistant", "好的。")]
    zh_moved = [Message("user", "更正一下，运费不是85元，是92元。"), Message("assistant", "好的。")]
    log = looked_up('{"order": "syslog"}', LOG)
    other = looked_up('{"order": "K30"}', order("K30", 4))
    zh_other = looked_up('{"order": "H66"}', order("H66", 4))
    made = [
        ("stale result", early, (f"p{first + 2}",)),
        (
            "stale result",
            insert(long, first, *looked_up('{"order": "W12"}', order("W12", 120))),
            (f"p{first + 2}",),
        ),
        (
            "duplicate result",
            insert(english, -1, *looked_up('{"order": "A17"}', again)),
            (place(english, -1),),
        ),
        (
            "duplicate result",
            insert(chinese, -1, *[chinese.messages[at] for at in _pair(chinese)]),
            (place(chinese, -1),),
        ),
        ("large and unused", insert(english, start, *log), (f"p{start + 2}",)),
        ("large and unused", insert(chinese, zh_start, *log), (f"p{zh_start + 2}",)),
        (
            "another order",
            insert(asks(english, "When does order B52 arrive?"), start, *other),
            (f"p{start + 2}",),
        ),
        (
            "another order",
            insert(asks(chinese, "订单 D09 什么时候到？"), zh_start, *zh_other),
            (f"p{zh_start + 2}",),
        ),
        ("superseded", insert(insert(english, start, *said), -1, *moved), (f"p{start + 1}",)),
        ("superseded", insert(insert(chinese, zh_start, *zh), -1, *zh_moved), (f"p{zh_start + 1}",)),
    ]
    return [
        Case("pollution", what, prompt, (*blocks, _after(blocks[0], what))) for what, prompt, blocks in made
    ]


def _pair(prompt: Recorded) -> tuple[int, int]:
    at = results_of(prompt)[0][0]
    return at - 1, at


def _after(block: str, what: str) -> str:
    """A pair was inserted: the result is its second message."""
    return f"p{int(block[1:]) + 1}" if what == "duplicate result" else block


def lacking(english: Recorded, chinese: Recorded, long: Recorded, cut: Recorded) -> list[Case]:
    at, block = results_of(english)[0]
    zh_at, zh_block = results_of(chinese)[-1]
    cut_at, cut_block = results_of(cut)[-1]
    bare = english.messages[at].text.split("\n", 1)[1]
    shown = cut.messages[cut_at].text
    beginning = structs.replace(english, messages=(*english.messages[:at], *english.messages[at + 1 :]))
    orphan = structs.replace(chinese, messages=chinese.messages[: zh_at - 1] + chinese.messages[zh_at:])
    caller = [entry.block for entry in kept(english)][at - 1]
    last = len(english.messages) - 1
    made = [
        ("it", alone(english, "Please cancel it and tell me when you are done."), input_of(english)),
        ("that order", alone(english, "Can I return that order?"), input_of(english)),
        ("the second one", alone(long, "I would like the second one, please."), input_of(long)),
        ("as I said", alone(english, "As I said, no calls before noon."), input_of(english)),
        ("它", alone(chinese, "把它取消吧。"), input_of(chinese)),
        ("result without a label", replaced(english, at, bare), block),
        ("call without a result", beginning, caller),
        ("result without a call", orphan, zh_block),
        (
            "recall of nothing",
            replaced(english, last, f'{english.messages[last].text}\nSee recall("r97").'),
            input_of(english),
        ),
        ("cut without a mark", replaced(cut, cut_at, shown[: shown.rindex("\nshown ")]), cut_block),
    ]
    return [Case("absence", what, prompt, (block,)) for what, prompt, block in made]


def misplaced(english: Recorded, chinese: Recorded, long: Recorded, brief: Recorded) -> list[Case]:
    last, zh_last = _last(english), _last(chinese)
    middle = gap(long, 0.3)
    notes = fence("shop notes | opening hours", "The shop opens at nine and closes at six.")
    zh_notes = fence("店铺说明 | 营业时间", "九点开门，六点关门。")
    rule = (Message("user", "Never mention the supplier's name."), Message("assistant", "Understood."))
    zh_rule = (Message("user", "请不要提到供应商的名字。"), Message("assistant", "好的。"))
    form = 'Output format: Order. Answer with one JSON object that fits this schema:\n{"type": "object"}'
    role = english.messages[0].text
    made = [
        ("buried constraint", insert(long, middle, *rule), f"p{middle + 1}"),
        ("buried constraint", insert(long, middle, *zh_rule), f"p{middle + 1}"),
        ("data behind the input", asks(english, f"{last}\n\n{notes}"), f"m{len(english.messages)}"),
        ("data behind the input", asks(chinese, f"{zh_last}\n\n{zh_notes}"), f"m{len(chinese.messages)}"),
        ("language", replaced(english, 0, f"{role} Answer in English. Always answer in Chinese."), "b1"),
        ("language", replaced(asks(chinese, f"{zh_last}请用英文回答。"), 0, f"{role}请用中文回答。"), ""),
        (
            "format",
            replaced(asks(english, f"{last} Answer in a table."), 0, f"{role} Answer in JSON."),
            input_of(english),
        ),
        (
            "do and don't",
            _told(english, "Always mention the delivery date.", "Never mention the delivery date."),
            "",
        ),
        ("format not last", asks(english, f"{form}\n\n{last}"), "output format"),
        ("format not last", _first_of_last(brief, form), "output format"),
    ]
    cases = []
    for what, prompt, block in made:
        blocks = (block or input_of(prompt),)
        cases.append(Case("misorder", what, prompt, blocks))
    return cases


def _told(prompt: Recorded, role: str, said: str) -> Recorded:
    first, last = prompt.messages[0].text, _last(prompt)
    return replaced(asks(prompt, f"{said} {last}"), 0, f"{first} {role}")


def _first_of_last(prompt: Recorded, form: str) -> Recorded:
    at = max(place for place, message in enumerate(prompt.messages) if message.role == "user")
    return replaced(prompt, at, f"{form}\n\n{prompt.messages[at].text}")


def sick(healthy: Sequence[Recorded]) -> list[Case]:
    """Thirty, from recorded prompts found by name."""
    named = {prompt.name: prompt for prompt in healthy}
    english, chinese, long = named["english 12"], named["chinese 10"], named["long 120"]
    cut = next(p for p in healthy if any("\nshown " in m.text for m in p.messages if m.role == "tool"))
    brief = next(p for p in healthy if " writer" in p.name)
    assert json.loads(english.messages[2].calls[0].arguments)
    return [
        *polluted(english, chinese, long),
        *lacking(english, chinese, long, cut),
        *misplaced(english, chinese, long, brief),
    ]
