"""Words of the current input that point at something said before, and whether there is such a thing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestra.context.doctor.reading import Part, Reading
from orchestra.context.fence import Fenced, parts
from orchestra.text.terms import terms

_THINGS = (
    "order|invoice|document|file|report|email|mail|message|ticket|booking|flight|result|list|table|error|option"
    "|question|answer|price|plan|meeting|customer|project|paper|article|book|city|hotel|function|contract"
    "|account|product|shipment|refund|claim|case|proposal|draft|chart|figure|page|section|passage|quote|task"
)
_THAT = re.compile(
    rf"(?i)(?:\b(?:that\s+(?P<one>{_THINGS})|those\s+(?P<more>(?:{_THINGS})s))"
    rf"|\bthe\s+(?:same|other|previous|aforementioned)\s+(?P<other>(?:{_THINGS})s?))\b"
)
_THAT_ZH = re.compile(
    r"(?:那|该)(?:个|份|张|条|篇|封|家|项|笔|些|本)?(?P<thing>订单|发票|文件|文档|报告|邮件|消息|工单|预订|航班|结果|列表|表格|错误|选项"
    r"|问题|答案|价格|计划|会议|客户|项目|论文|文章|书|城市|酒店|函数|合同|账户|产品|方案|包裹)"
)
_STOPS = (
    r"(?=[，。？！；,.?!;\s]|$|怎么|是|有|的(?!人)|呢|吗|吧|好|行|能|可以"
    r"|多少|什么|为|都|也|要|给|发|改|删|取消|和|与|比|贵|便宜)"
)
_NTH = re.compile(
    r"(?i)\bthe (?:first|second|third|fourth|fifth|last|former|latter|other)"
    r" (?:one|ones|option|item|point|choice|result|suggestion|alternative)\b"
    r"|\bthe (?:former|latter)\b(?=\s*(?:[.,?!;]|$|is\b|was\b|and\b|or\b))"
    rf"|第[一二三四五六七八九十\d]+(?:个|条|项|种|款|份|家){_STOPS}|前者|后者|(?:最后|另)一个{_STOPS}"
)
_SAID = re.compile(
    r"(?i)\bas (?:i|we) (?:just |already |have )?(?:said|told|mentioned|asked|wrote|explained"
    r"|described)\b"
    r"|\b(?:what|like|the \w+(?: that)?) i (?:just |already )?(?:said|told you|mentioned|gave you"
    r"|sent you|described)\b"
    r"|\bas (?:mentioned|discussed|agreed|described|noted|said) (?:above|before|earlier"
    r"|previously)\b|\bas before\b"
    r"|\b(?:you|we) (?:just |already )?(?:said|told me|mentioned|agreed|suggested"
    r"|discussed)(?: (?:above|before|earlier))?\b"
    r"|我(?:刚才|之前|前面|上次|已经)?(?:说过|提过|提到过?|讲过|说的|提到的|讲的|告诉你的|发给你的)|如(?:上|前)所述|你(?:刚才|之前|前面)(?:说|提|建议|推荐)"
    r"|(?:前面|之前|刚才|上次)(?:提到|说|讲|讨论|谈)"
)
_ABOVE = re.compile(
    r"(?:^|[，,。！？把将按照据用从对续结译看读改]|根据|参考|请)\s*(?:上面|上述)|以上(?:内容|所述|要求|文字|信息)"
    r"|(?i:\b(?:the above|see above|listed above|shown above)\b)"
)
_BARE = re.compile(
    r"(?i)\b(?:it|its|they|them|their|he|him|his|she|her|these|those|this|that)\b(?!\s+(?:way"
    r"|kind|sort|time|year|week|month|day))"
)
_BARE_ZH = re.compile(rf"它们?|他们?(?!人)|她们?|(?<![的在去])(?:那个|这个|那些|这些){_STOPS}")
_PERSON = re.compile(r"(?i)h(?:e|im|is|er)|she")
_EMPTY_IT = re.compile(
    r"(?i)\b(?:is|was|isn't|would|will|might|could|does)\s+it\s+(?:be\s+)?(?:possible|true|ok"
    r"|okay|right|correct|better|best|worth|safe|legal"
    r"|necessary|normal|raining|going to rain|snowing|late|easy|hard|common|important|allowed"
    r"|still|always|really|take|matter)\b"
    r"|\bit(?:'s| is| was| would be| will be)\s+(?:possible|true|ok|okay|important|better|best"
    r"|worth|necessary|known|clear|said|time|late|raining"
    r"|snowing|hard|easy|likely|unlikely|\d)|\bit\s+(?:takes?|took|seems?|rains?|snows?"
    r"|depends|turns? out|appears?)\b"
    r"|\bit (?:would|will|could|might) be (?:great|nice|good|helpful|fun|better|best)\b"
    r"|\b(?:how (?:long|far|late|often)|what time|what day)\b[^.?!]*\bit\b"
    r"|\bi take it\b"
)
_NO_NOUN = frozenset(
    terms(
        "please cancel send change show tell explain summarise summarize translate fix delete"
        " update compare check do does"
        " make give open read write use help want need know mean think like work works cost costs"
        " buy sell can could would"
        " should will shall may might must now again still just also then so and or but what"
        " which who whom whose when where"
        " why how is are was were be been being am i we you me us my our your the a an of in on"
        " at to for from with by about"
        " not no yes ok okay more less much many very into out up down off over under again back"
        " first last next there here"
        " have has had get got go going come see look find say said ask let put take keep did"
        " happen happened try continue"
        " repeat rewrite shorten improve expand describe elaborate add remove move start stop run"
        " print list sort convert turn"
        " tomorrow today yesterday soon later thing things bit detail details short long better"
        " good great thanks thank hello"
        " hi hey sure really exactly same other else all any some every each than as if because"
        " once twice do it that this"
    )
)
_NO_NOUN_ZH = re.compile(
    r"请问?|那|这|帮我?|把|将|给|我们?|你们?|您|取消|删除|翻译|总结|一下|解释|修改|更新|比较|检查|发送|告诉|知道|想|要|能|可以|什么|怎么|如何|为什么|为何|多少|哪"
    r"|是|的|了|吗|呢|吧|有|没有|不|在|和|与|也|都|再|又|还|就|现在|然后|继续|重复|详细|说明|写|改|看|查|一|个|会|到|从|对|用|做|成|中文|英文|这样"
    r"|时候|[，。？！、,.?!\s]"
)
_LIST = re.compile(
    r"(?m)^\s*(?:[-*•]|\d+[.)、．]|[一二三四五六七八九十]、|\([a-z\d]\)|\|)\s*\S|\b(?:first|second"
    r"|option [ab12])\b|第[一二]|\w+, [\w ]+,? (?:and|or) \w+"
    r"|、|或者|还是|\bor\b|\band\b|[{\[]\s*\"",
    re.IGNORECASE,
)


def dangling(reading: Reading) -> Iterator[tuple[str, str]]:
    """Each pointing word of the current input without what it points at, and what is missing."""
    current = reading.input
    if current is None:
        return
    words = "\n".join(part for part in parts(current.text) if not isinstance(part, Fenced))
    fences = [part for part in parts(current.text) if isinstance(part, Fenced)]
    earlier = [part for part in reading.parts if part is not current and _speaks(part)]
    things = list(_things(words, earlier))
    if things:
        yield from things
        return
    known = [part.text for part in earlier] + [part.text for part in fences]
    for match in _NTH.finditer(words):
        own = words[: match.start()] if len(terms(words[: match.start()])) > 1 else ""
        if not any(_LIST.search(text) for text in (*known, own)):
            yield match[0], "nothing in the prompt lists several things"
            return
    talk = any(part.kind in ("said", "reply") or _stands_in(part) for part in earlier)
    found = _SAID.search(words)
    if found and not talk:
        yield found[0].strip(" ，,。"), "nothing was said before"
        return
    found = _ABOVE.search(words)
    if found and not known and not _goes_on(words[found.end() :]):
        yield found[0].strip(" ，,。"), "nothing stands above"
        return
    if not known:
        yield from _pronoun(words)


def _speaks(part: Part) -> bool:
    """What the model can take an antecedent from; the role's instructions are not what people"
    " point at."""
    return (
        part.kind != "instructions" and part.name not in ("ask", "output format", "reminder") and _says(part)
    )


def _says(part: Part) -> bool:
    return bool(part.text.strip())


def _stands_in(part: Part) -> bool:
    return part.kind == "data" or part.name == "state"


def _things(words: str, earlier: list[Part]) -> Iterator[tuple[str, str]]:
    for match in (*_THAT.finditer(words), *_THAT_ZH.finditer(words)):
        thing = next(word for word in match.groups() if word).lower()
        stem = thing.removesuffix("s") if thing.isascii() else thing
        own = words[: match.start()].lower()
        if stem in own or any(stem in _text(part) for part in earlier):
            continue
        if earlier and stem in ("question", "answer", "问题", "答案", "result", "结果", "list", "task"):
            continue
        yield match[0], f"there is no {thing} in the prompt"
        return


def _goes_on(rest: str) -> bool:
    """Whether what is meant follows: "fix this: ..."."""
    return re.search(r"[:：]\s*\S|\n\s*\S", rest) is not None


def _text(part: Part) -> str:
    return " ".join((part.text, *(call.name + call.arguments for call in part.calls))).lower()


def _pronoun(words: str) -> Iterator[tuple[str, str]]:
    """In a prompt that holds nothing else a pronoun needs a noun of the input itself."""
    rest = _EMPTY_IT.sub(lambda match: " " * len(match[0]), words)
    for match in _BARE.finditer(rest):
        own = [term for term in terms(words[: match.start()]) if term not in _NO_NOUN]
        behind = rest[match.end() :]
        if own or _goes_on(behind):
            return
        if _PERSON.fullmatch(match[0]) and re.search(r"\s[A-Z][a-z]", behind):
            return
        if match[0].lower() in ("this", "that", "these", "those"):
            word = re.match(r"\s+([A-Za-z]+)", behind)
            if word and any(term not in _NO_NOUN for term in terms(word[1])):
                continue
        yield match[0], "nothing before it says what is meant"
        return
    for match in _BARE_ZH.finditer(words):
        if not _NO_NOUN_ZH.sub("", words[: match.start()]) and not _goes_on(words[match.end() :]):
            yield match[0], "nothing before it says what is meant"
        return
