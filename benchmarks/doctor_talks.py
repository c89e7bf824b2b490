"""Healthy prompts for `benchmarks.doctor`: recorded research runs, and chats through a Context."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from orchestra.config.load import load_settings
from orchestra.context.assembly import Prompt
from orchestra.context.context import Context
from orchestra.context.manifest import Manifest, from_json
from orchestra.context.policy import policy_for
from orchestra.context.returned import Result
from orchestra.context.tokens import counter_for
from orchestra.journal.prompts import read_prompt
from orchestra.journal.reading import read_journal
from orchestra.runtime import Runtime
from orchestra.values.messages import Message, Reply, ToolCall, ToolSpec

LIBRARY = Path(__file__).parent.parent / "examples" / "library"
QUESTIONS = (
    "Why does green tea turn bitter when the water is too hot?",
    "How much caffeine is in a cup of black tea, and how does it affect sleep?",
    "龙井茶怎么制作？茶叶应该怎么储存？",
)
TOOL = ToolSpec(
    "find_order",
    "Look an order up. Returns its lines, state and dates.",
    {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
)
COUNTER = counter_for("gpt-4o")
AT = 1_795_000_000.0


class Recorded(Struct, frozen=True):
    """One prompt as it was sent."""

    name: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    manifest: Manifest | None


class Turn(Struct, frozen=True):
    """What the user says, the order that is looked up for it ("" none), and the answer."""

    said: str
    order: str
    answer: str


def order(name: str, lines: int, turn: int = 1) -> str:
    """What the tool says of an order: the same for the same name and turn."""
    seed = sum(map(ord, name))
    state = "shipped" if turn < 10 else f"arrived on day {turn}"
    rows = [
        {"item": f"{name}-{at}", "colour": ("red", "blue", "green")[(seed + at) % 3], "count": 2 + at}
        for at in range(lines)
    ]
    return json.dumps({"order": name, "state": state, "total": 100 + seed, "lines": rows})


ENGLISH = (
    Turn("Hello, I need help with order A17.", "A17", "Order A17 is shipped; its total is 269 dollars."),
    Turn("When did it leave the warehouse?", "", "It left on Monday; line A17-1 was packed last."),
    Turn("Never call me by phone.", "", "Understood, only by mail."),
    Turn("And order B52, is that one shipped too?", "B52", "Order B52 is shipped; its total is 269 dollars."),
    Turn(
        "My budget is 3,200 dollars. What can I add?", "", "1. a red lamp\n2. a blue desk\n3. a green chair"
    ),
    Turn("Tell me more about the second one.", "", "The blue desk is made of oak and ships in a week."),
    Turn("Actually my budget is 4,500 dollars, not 3,200.", "", "Noted: 4,500 dollars."),
    Turn("Is it possible to send it with that order?", "", "Yes, the desk can go with order B52."),
    Turn("As I said, no phone calls. What is the price of the desk?", "", "The desk costs 950 dollars."),
    Turn("What is the state of order A17 now?", "A17", "Order A17 arrived; the total of 269 was paid."),
    Turn("Thanks, that is all for the moment.", "", "You are welcome."),
)
CHINESE = (
    Turn("你好，请帮我查一下订单 C88。", "C88", "订单 C88 已发货，总额 279 元。"),
    Turn("它什么时候到？", "", "预计周三到，C88-1 最后装箱。"),
    Turn("请不要给我打电话。", "", "好的，只用邮件联系。"),
    Turn("订单 D09 呢？", "D09", "订单 D09 已发货，总额 273 元。"),
    Turn("我的预算是3200元，还能买什么？", "", "1. 红色台灯\n2. 蓝色书桌\n3. 绿色椅子"),
    Turn("第二个多少钱？", "", "蓝色书桌 950 元。"),
    Turn("更正一下，预算不是3200元，是4500元。", "", "好的，预算 4500 元。"),
    Turn("那个订单可以一起发吗？", "", "可以和订单 D09 一起发。"),
    Turn("上面说的书桌有现货吗？", "", "有现货。"),
    Turn("谢谢，就这些。", "", "不客气。"),
)
SMALL = (
    ("What woods do you use for desks?", "We use oak, walnut and beech, all from Europe."),
    ("How are they treated?", "They are oiled twice and dried for a day."),
    ("Do you also sell shelves?", "Yes, in four widths and three heights."),
    ("Which of these hold heavy books?", "The two narrower ones, with a board at the back."),
)


class Chat:
    """A talk through a Context; every prompt that it made is kept."""

    def __init__(self, name: str, *, window: int, lines: int, preset: str = "chat") -> None:
        self.name = name
        self.lines = lines
        self.prompts: list[Recorded] = []
        policy = policy_for(preset, {"output_tokens": 400})
        role = "You help customers of a furniture shop. Be brief. Look orders up before you speak of them."
        self.context = Context("helper", role, policy=policy, window=window, counter=COUNTER)

    def play(self, turns: tuple[Turn, ...]) -> Chat:
        for turn in turns:
            self.context.add_input(turn.said, at=AT)
            if turn.order:
                self._keep()
                arguments = json.dumps({"order": turn.order})
                call = ToolCall(f"call_{self.context.turn}", TOOL.name, arguments)
                self.context.record_reply(Reply(calls=(call,)), at=AT)
                result = Result(call=call, text=order(turn.order, self.lines, self.context.turn))
                self.context.record_results([result], at=AT)
            self._keep()
            self.context.record_reply(Reply(text=turn.answer), at=AT)
        return self

    def small_talk(self, turns: int) -> Chat:
        for at in range(turns):
            said, answer = SMALL[at % len(SMALL)]
            self.play((Turn(said, "", f"{answer} We can send a sample of it."),))
        return self

    def _keep(self) -> None:
        made: Prompt = self.context.prompt((TOOL,), at=AT)
        name = f"{self.name} {len(self.prompts) + 1}"
        self.prompts.append(Recorded(name, made.messages, made.tools, made.manifest))


def chats() -> dict[str, Chat]:
    """By name: short ones, ones that were compacted, English and Chinese."""
    return {
        "english": Chat("english", window=32_000, lines=8).play(ENGLISH),
        "chinese": Chat("chinese", window=32_000, lines=8).play(CHINESE),
        "compacted": Chat("compacted", window=2_600, lines=12).small_talk(8).play(ENGLISH).small_talk(9),
        "压缩": Chat("压缩", window=2_600, lines=12).small_talk(8).play(CHINESE).small_talk(9),
        "large": Chat("large", window=32_000, lines=150).play(ENGLISH[:5]),
        "long": Chat("long", window=16_000, lines=20).play(ENGLISH).small_talk(110).play(ENGLISH[:3]),
    }


async def research() -> list[Recorded]:
    """Every prompt of research runs over the library, read back from the journal."""
    found: list[Recorded] = []
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            {"models": "extractive", "store": str(Path(folder) / "store.db")},
            environ={},
            folder=Path(folder),
        ).settings
        async with Runtime(settings) as runtime:
            for question in QUESTIONS:
                await runtime.research(question, documents=LIBRARY)
        async with read_journal(settings.store) as reader:
            for session in await reader.sessions():
                asked = await reader.events(session.id, kinds=("prompt",))
                for agent, turn in dict.fromkeys((event.agent, event.turn) for event in asked):
                    prompt = await read_prompt(reader, session.id, agent, turn)
                    manifest = from_json(prompt.manifest) if prompt.manifest else None
                    name = f"research {len(found) + 1} {agent} {turn}"
                    found.append(Recorded(name, prompt.messages, prompt.tools, manifest))
    return found


def spread(prompts: list[Recorded], count: int) -> Iterator[Recorded]:
    """`count` of them, evenly spread, the last among them."""
    step = len(prompts) / count
    for at in range(1, count + 1):
        yield prompts[min(len(prompts), round(at * step)) - 1]
