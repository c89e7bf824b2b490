"""What of a user's words is worth keeping beyond the session: by rule, in English and Chinese.

Statements about oneself, figures under a name, and what binds. A question states nothing; what sounds like a
secret is not kept at all, however it looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from orchestra.context.facts import find_facts, is_hard, plain
from orchestra.context.keys import key_of
from orchestra.context.sayings import Saying, is_question, sayings
from orchestra.redact import MASK

LONGEST_TEXT = 8_000
"""Characters of what was said that are read; what is longer is material and no statement."""
MOST = 20
"""Statements of one text that are kept."""
LONGEST_SENTENCE = 300

_SECRET = re.compile(
    r"(?i)\b(?:pass(?:word|phrase|code|wd)|pin(?: code| number)?|secret|api[ _-]?keys?|access[ _-]?tokens?"
    r"|tokens?|credentials?|private key|cvv|cvc|ssn|social security|credit card|card number|iban|otp)\b"
    r"|密码|口令|密钥|秘钥|验证码|信用卡|身份证|银行卡|令牌|暗号"
)
_LEAD = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|also|ok(?:ay)?|well|hi|hello|by the way|actually|correction|sorry|please"
    r"|note|for the record|to be clear|fyi)\b[,: ]*"
    r"|(?:remember|note|keep in mind|don't forget)(?: that)?\b[,: ]*"
    r"|(?:另外|还有|其实|更正|对了|请|顺便说一下|注意)[，,：: ]*|(?:请?记住|记一下|别忘了)[，,：: ]*)+"
)
_ASKED_TO = re.compile(
    r"(?i)\b(?:remember|note|keep in mind|don't forget|for the record)\b|记住|记一下|别忘了"
)
_IS = re.compile(
    r"(?i)^(?P<whose>my|our|the|his|her|their|this)\s+(?P<key>[^,;:.!?]{1,60}?)\s*"
    r"(?:\b(?:is|are|was|were|will be|has changed to|changed to)\b(?: now)?(?: called| named)?|=|:)"
    r"\s*(?P<value>.+)$",
    re.DOTALL,
)
_NAME = re.compile(r"(?i)^(?:call me|i am called|i'm called|my name is|my name's)\s+(?P<value>.+)$")
_AM = re.compile(
    r"(?i)^(?:i am|i'm|we are|we're)\s+"
    r"(?!(?:looking|trying|wondering|going|interested|thinking|planning|writing|asking|sure|not sure|curious"
    r"|here|sorry|afraid|glad|happy|about|currently|just|still|having|getting|working on|considering"
    r"|preparing|done|ready|back|in a hurry|unsure|confused|stuck|talking)\b)(?P<value>.+)$"
)
_DO = re.compile(
    r"(?i)^(?:i|we)\s+(?:(?:really|also|always|usually|only|strongly|mostly|never)\s+)*"
    r"(?P<verb>prefer|like|love|enjoy|hate|dislike|avoid|eat|drink|speak|live|work|study|own|drive|use|have)\s+"
    r"(?!(?:to\b|a question|some questions|an idea|no idea|a problem|trouble|been|it\b|that\b|this\b|your\b))"
    r"(?P<value>.+)$"
)
_ABOUT_ME = frozenset("prefer like love enjoy hate dislike avoid eat drink speak live work".split())
_NAME_ZH = re.compile(r"^(?:我叫|我的名字[是叫]|我名叫|叫我)(?P<value>[^，,。！!；;]{1,20})")
_IS_ZH = re.compile(
    r"^(?:我们?的?|本项目的?|这个项目的?|项目的?|该)?(?P<key>[^，,。！？!?；;：:是为]{1,16}?)(?:现在)?(?:改?[是为]|改成|[：:])"
    r"(?P<value>[^？?]{1,80})$"
)
_AM_ZH = re.compile(r"^(?:我|我们)是(?!不是|否|想|要|说|在|来)(?P<value>[^，,。！!；;]{1,40})")
_DO_ZH = re.compile(
    r"^(?:我|我们)(?:平时|一般|通常|更|比较|很|特别|最|一直|总是)*(?P<verb>喜欢|爱|讨厌|偏好|偏爱|习惯|住在|住|对|吃|喝|会说|用|有|在)"
    r"(?P<value>[^？?]{1,60})$"
)
_MINE = re.compile(r"(?i)\b(?:i|my|me|mine|myself|we|our|us|ours|i'm|i've|i'd|we're|we've)\b|我")
_STANDING = re.compile(
    r"(?i)\b(?:always|never|from now on|in (?:the )?future|every time|whenever|by default|in general)\b"
    r"|总是|永远|从不|以后|今后|每次|默认|一律|从现在起|往后"
)
_END = re.compile(r"[\s.!。！;；,，]+$")
_STOP = frozenset(
    "a an the in at on of for with to and or from as by is are was were my our i we not very".split()
)
_WORD = re.compile(r"[\w'-]+")


class Statement(Struct, frozen=True):
    """One thing to keep: `key` and `value`, or (`key` "") a constraint; `text`: the sentence as it was said.

    `always`: it holds whatever the task is. `named`: it says of its key what it is, so that a later one takes
    its place. `corrects`: it says that something has changed; `loose`: and is kept only where it finds what.
    """

    text: str
    key: str = ""
    value: str = ""
    always: bool = False
    named: bool = False
    corrects: bool = False
    loose: bool = False


def statements(text: str) -> tuple[Statement, ...]:
    """What is kept of what a user said, in the order in which it was said."""
    if len(text) > LONGEST_TEXT:
        return ()
    said = [saying for saying in sayings(text) if len(saying.text) <= LONGEST_SENTENCE]
    found: list[Statement] = []
    for saying in said:
        if is_question(saying.text) or _is_secret(saying.text):
            continue
        found += _of(saying, alone=not _has_a_task(said, saying))
    return tuple(dict.fromkeys(found))[:MOST]


def without_statements(text: str) -> str:
    """What was said without what is kept of it or may be secret: what was asked."""
    gone = {each.text for each in statements(text)}
    parts = [s.text for s in sayings(text) if s.text not in gone and not _is_secret(s.text)]
    return " ".join(parts)


def _is_secret(sentence: str) -> bool:
    return MASK in sentence or _SECRET.search(sentence) is not None


def _has_a_task(said: Sequence[Saying], but: Saying) -> bool:
    """Whether something beside this sentence asks for an answer."""
    return any(
        is_question(other.text) or not (_states(other) or other.binds) for other in said if other is not but
    )


def _states(saying: Saying) -> bool:
    return next(_stated(saying), None) is not None


def _of(saying: Saying, *, alone: bool) -> Iterator[Statement]:
    stated = list(_stated(saying))
    if saying.binds and not any(each.named for each in stated):
        lasting = alone or _STANDING.search(saying.text) is not None or _MINE.search(saying.text) is not None
        yield Statement(saying.text, always=lasting, corrects=saying.corrects)
        return
    yield from stated


def _stated(saying: Saying) -> Iterator[Statement]:
    """What the sentence says of the user or of a thing that has a name."""
    asked = _ASKED_TO.search(saying.text) is not None
    bare = _END.sub("", _LEAD.sub("", plain(saying.text), count=1))
    found = _self(bare) or _thing(bare, asked=asked)
    if found is not None:
        key, value, always, named = found
        yield Statement(saying.text, key, _END.sub("", value), always, named, saying.corrects)
        return
    hard = (
        [fact for fact in find_facts(bare) if is_hard(fact)]
        if saying.corrects or asked or _MINE.search(bare)
        else []
    )
    loose = saying.corrects and not asked and not _MINE.search(bare)
    for fact in hard:
        yield Statement(saying.text, key_of(bare, fact), fact.text, corrects=saying.corrects, loose=loose)
    if asked and not hard:  # whatever it is, it is to be remembered
        yield Statement(saying.text, _words(bare), bare, always=True)


def _self(bare: str) -> tuple[str, str, bool, bool] | None:
    """key, value, whether it always holds, whether it names its key; of a sentence about oneself."""
    if match := _NAME.match(bare):
        return "name", match["value"], True, True
    if match := _NAME_ZH.match(bare):
        return "名字", match["value"], True, True
    if match := _AM.match(bare) or _AM_ZH.match(bare):
        return _words(match["value"]), match["value"], True, False
    if match := _DO.match(bare):
        return (
            _words(match["value"]),
            f"{match['verb']} {match['value']}",
            match["verb"].lower() in _ABOUT_ME,
            False,
        )
    if match := _DO_ZH.match(bare):
        return match["value"][:12], f"{match['verb']}{match['value']}", match["verb"] not in "用有在", False
    return None


def _thing(bare: str, *, asked: bool) -> tuple[str, str, bool, bool] | None:
    """The same of "my budget is 1,200"; with a figure, or where it was asked for, of "the deadline ..."."""
    match = _IS.match(bare)
    if match is not None:
        mine = match["whose"].lower() in ("my", "our")
        if mine or asked or any(map(is_hard, find_facts(match["value"]))):
            return match["key"].strip(), match["value"], False, True
        return None
    match = _IS_ZH.match(bare)
    if match is None:
        return None
    mine = bare.startswith("我") or asked
    if mine or any(map(is_hard, find_facts(match["value"]))):
        return match["key"].strip("的 "), match["value"], False, True
    return None


def _words(text: str) -> str:
    """The first three telling words."""
    found = [word for word in _WORD.findall(text) if word.lower() not in _STOP]
    return " ".join(found[:3]) or text[:20]
