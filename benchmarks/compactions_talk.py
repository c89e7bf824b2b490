"""The conversation of `benchmarks.compactions`: 60 turns, 40 planted facts in English and Chinese, 3 corrections."""

from __future__ import annotations

import json
import re

from msgspec import Struct

TURNS = 60


class Planted(Struct, frozen=True):
    """`value` stands in `text`, which `who` says in `turn`. `question` asks for it.

    `flip`: for a constraint or a negation, what a summary says that lost or gained it; "" for a figure or name.
    `until`: the turn in which it is corrected, 0 for never.
    """

    turn: int
    who: str
    text: str
    value: str
    question: str
    flip: str = ""
    until: int = 0


PLANTED: tuple[Planted, ...] = (
    Planted(1, "user", "I am planning a company retreat; my budget is $18,400 for everything.", "$18,400", "What is the budget for the retreat?", until=24),
    Planted(1, "user", "Do not book anything with Skyline Airways.", "Do not book anything with Skyline Airways", "Which airline must not be used?", "Book anything with Skyline Airways"),
    Planted(2, "user", "The group is 143 people.", "143", "How many people are in the group?"),
    Planted(3, "user", "会议室必须有投影仪。", "必须有投影仪", "会议室必须有什么?", "会议室不必有投影仪"),
    Planted(3, "user", "出发日期定在2027年4月12日。", "4月12日", "出发日期是哪天?", until=31),
    Planted(4, "user", "My booking reference is QX-77213.", "QX-77213", "What is my booking reference?"),
    Planted(5, "user", "Our contact at the venue is Marta Lindqvist.", "Marta Lindqvist", "Who is our contact at the venue?"),
    Planted(6, "user", "不要安排海鲜。", "不要安排海鲜", "有什么菜不能安排?", "安排海鲜"),
    Planted(7, "assistant", "The venue deposit is 2,350 euros and is due on 18 January 2027.", "2,350 euros", "How much is the venue deposit?"),
    Planted(8, "user", "Never call me before 9:30 in the morning.", "Never call me before 9:30", "Before what time must I not be called?", "Always call me before 9:30"),
    Planted(9, "user", "发票抬头是远山科技有限公司。", "远山科技有限公司", "发票抬头是什么?"),
    Planted(10, "tool", '{"order_id": "W-558201", "status": "confirmed", "total": 1276.5}', "W-558201", "What is the order id of the confirmed order?"),
    Planted(11, "user", "The projector rental costs 460 dollars.", "460 dollars", "What does the projector rental cost?", until=40),
    Planted(12, "user", "Only vegetarian lunches on the second day.", "Only vegetarian lunches", "What lunches are allowed on the second day?"),
    Planted(13, "user", "我的电话是13902817764。", "13902817764", "我的电话是多少?"),
    Planted(14, "assistant", "The shuttle leaves at 07:45 from gate C12.", "07:45", "When does the shuttle leave?"),
    Planted(15, "user", "Send the contract to marta.l@fjordvenue.example.", "marta.l@fjordvenue.example", "To which address does the contract go?"),
    Planted(16, "user", "住宿不要超过三家酒店。", "不要超过三家酒店", "住宿最多几家酒店?", "住宿可以超过三家酒店"),
    Planted(17, "user", "Our tax number is DE-4471-90.", "DE-4471-90", "What is our tax number?"),
    Planted(18, "tool", '{"room_code": "HZ-3308", "capacity": 34, "floor": 6}', "HZ-3308", "What is the code of the room?"),
    Planted(19, "user", "One colleague is allergic to peanuts.", "allergic to peanuts", "What is a colleague allergic to?", "One colleague likes peanuts"),
    Planted(20, "user", "合同编号是HT-2027-0913。", "HT-2027-0913", "合同编号是多少?"),
    Planted(21, "user", "The workshop must end by 17:20.", "17:20", "By when must the workshop end?"),
    Planted(22, "assistant", "The insurance premium is 315.80 dollars per group.", "315.80", "How high is the insurance premium?"),
    Planted(23, "user", "我们的司机叫赵立新。", "赵立新", "司机叫什么名字?"),
    Planted(24, "user", "Correction: the budget is $21,900, not $18,400.", "$21,900", "What is the budget now?"),
    Planted(25, "user", "No alcohol at the closing dinner.", "No alcohol at the closing dinner", "What is not allowed at the closing dinner?", "Alcohol at the closing dinner"),
    Planted(27, "user", "The hiking route is 11.4 km long.", "11.4 km", "How long is the hiking route?"),
    Planted(29, "user", "定金已付百分之四十，即8760元。", "8760元", "定金付了多少元?"),
    Planted(31, "user", "出发日期改为2027年4月19日。", "4月19日", "现在的出发日期是哪天?"),
    Planted(33, "user", "The emergency number of the lodge is 0047-555-0182.", "0047-555-0182", "What is the emergency number of the lodge?"),
    Planted(35, "assistant", "维修师傅的工号是K5029。", "K5029", "维修师傅的工号是多少?"),
    Planted(37, "user", "Please don't share the guest list with the press.", "don't share the guest list with the press", "With whom must the guest list not be shared?", "Share the guest list with the press"),
    Planted(39, "user", "Room key deposit: 75 francs.", "75 francs", "How much is the room key deposit?"),
    Planted(40, "user", "Actually the projector rental costs 520 dollars now.", "520 dollars", "What does the projector rental cost now?"),
    Planted(42, "user", "孩子的票价是128元。", "128元", "孩子的票价是多少?"),
    Planted(44, "tool", '{"ticket": "TK-90417", "seat": "14F", "fare": 233.4}', "TK-90417", "What is the ticket number?"),
    Planted(46, "user", "The keynote speaker is Oluwaseun Adeyemi.", "Oluwaseun Adeyemi", "Who is the keynote speaker?"),
    Planted(48, "user", "必须在5月2日之前提交名单。", "5月2日", "名单最晚什么时候提交?"),
    Planted(50, "user", "The wifi voucher code is ZR8-41K.", "ZR8-41K", "What is the wifi voucher code?"),
)  # fmt: skip

_SAID = (
    "Let us go on with the next part of the plan and look at what the teams would like to do together.",
    "我们继续讨论团队活动的安排,大家对户外活动很有兴趣,也想听听当地的音乐。",
    "I talked with the others at lunch, and most of them like the idea of a walk along the lake in the evening.",
    "请再介绍一下那边的环境和气候,同事们很想了解当地的文化和风景。",
    "The designers wonder whether the main hall feels warm enough, and they like wooden floors and soft light.",
)
_ANSWERED = (
    "The lake is known for its calm water and its long wooden piers. In spring the hills around it turn green, and "
    "the paths are easy to walk. Many groups begin the day with a slow breakfast on the terrace and talk about the "
    "plans of the day. The hall has large windows to the south, so that the light stays soft until the evening. "
    "Guests often praise the quiet, the friendly people and the smell of the forest after the rain.",
    "那里的春天气候温和,山坡上开满野花,湖边的小路很适合散步。当地人热情好客,喜欢在傍晚聚在一起唱歌聊天。"
    "木屋的大厅宽敞明亮,窗外就是湖水和森林。早餐通常在露台上享用,大家可以一边喝茶一边聊当天的计划。"
    "雨后的空气特别清新,很多客人都说这里让人放松,适合团队交流和思考。",
    "A good way to begin such a day is a round in which all say what they hope for. After that the teams can work in "
    "small circles, with walks between the sessions. The kitchen cooks with what the farms around the lake bring, and "
    "the bread is baked in the house. In the evening there is music by the fire, and those who like it quiet find a "
    "reading room with old books and deep chairs under the roof.",
)


def filler(turn: int) -> tuple[str, str]:
    """What user and assistant say in a turn beside the planted facts: no figure, no name, no constraint."""
    return _SAID[turn % len(_SAID)], _ANSWERED[turn % len(_ANSWERED)]


def said(turn: int, who: str) -> list[str]:
    return [fact.text for fact in PLANTED if fact.turn == turn and fact.who == who]


def wrong_digit(text: str) -> str:
    """The last digit of a text that is not a zero, one higher; the same text without one."""
    at = max((match.start() for match in re.finditer(r"[1-8]", text)), default=-1)
    return text if at < 0 else f"{text[:at]}{int(text[at]) + 1}{text[at + 1 :]}"


def as_json() -> str:
    """The talk for peers, which run in environments of their own: a list of turns of {role, text}."""
    turns = []
    for turn in range(1, TURNS + 1):
        user, assistant = filler(turn)
        told = [{"role": "user", "text": " ".join((user, *said(turn, "user")))}]
        told += [{"role": "tool", "text": text} for text in said(turn, "tool")]
        told.append({"role": "assistant", "text": " ".join((*said(turn, "assistant"), assistant))})
        turns.append(told)
    return json.dumps({"turns": turns})
