"""Words that carry little: what the extractive model knows of English and Chinese.

No word of any subject stands here; the lists hold what questions and explanations on every subject share.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from orchestra.text.terms import query_terms, stem, terms

_CJK = re.compile("[\u3400-\u9fff\u3041-\u30ff]")

# Words of questions and explanations that rarely say what a text is about.
_PALE = """able call standard told abstract actual actually add ago allow almost alone along already always
    among another answer anything apply approach appropriate ask aspect available away background
    bad base basic become begin behave behavior best better big bit bring care case cause certain
    change choose clear come common compare complete concern conclusion consider consist contain
    context correct correspond couple create current decide define describe detail differ difference
    different directly discuss easy effect enable end enough ensure equal especially even exact
    example exist expect explain extra fact far few find first follow following form full gain
    general get give go good great happen help hence high hold however imply important include
    indeed intend introduce involve issue keep kind know known large last later lead least leave
    less let like likely list little long look lot low main make many matter mean mention mere
    method motivation need needed new next normal note nothing number obtain obvious occur often old
    only open originally otherwise overall overview part particular perhaps piece place point
    possible prefer present prevent previous problem produce proper proposal propose provide purpose
    put question quick quite raise rather rationale reach real really reason receive recent
    recommend refer related remain replace require respective rest result return right role same say
    second section see seem sense separate serve set several short show side significant similar
    simple simply single situation small solve someone something sometimes sort sound special
    specific specify start state step still stop sufficient suggest summary sure system take talk
    therefore thing think third though time together total towards treat true try turn two typical
    typically under understand unless until upon use used useful usual usually value variety various
    view want way well whether whole word work world would written yes yet""".split()

_INTERROGATIVE = r"what|which|who|whom|whose|when|where|why|how"
QUESTION_WORD = re.compile(rf"\b(?:{_INTERROGATIVE})\b", re.IGNORECASE)
LEADS = re.compile(
    rf"(?:in |for |to |from |of |at |by |with |on |under |since |until "
    rf")?(?:{_INTERROGATIVE})\b",
    re.IGNORECASE,
)
AUXILIARIES = frozenset(
    "is are was were do does did can could should must may might will would has have had shall be "
    "been".split()
)
CHINESE_QUESTION = re.compile(
    "为什么|为何|怎么样|怎么|怎样|如何|什么时候|什么|哪些|哪个|哪里|哪种|哪几|哪|几|多少|多久|多长|多大|是否|能否|可否|谁|何时|何种|吗|呢"
)
_CHINESE_PALE = re.compile(
    "为什么|为何|怎么样|怎么|怎样|如何|什么时候|什么|哪些|哪个|哪里|哪种|哪几|哪|多少|多久|多长|多大|是否|能否|可否|何时|何种|"
    "以及|并且|而且|或者|还是|但是|因为|所以|如果|之间|它们|他们|这些|那些|这个|那个|这种|请问|请|介绍|说明|告诉我|应该|需要|可以|"
    "不同|区别|差别|差异|异同|相比|对比|进行|通过|关于|对于|其中|之后|以后|以前|之前|时候|分别|各自|主要|一般|通常|[的了吗呢吧啊是在有和与及或它他她其这那们把被让使对从到由于为以而且并则也都就还要会能又很最更谁几请么]"
)


# What an answer is likely to say: (pattern in the question, words to look for as well).
_HINTS = (
    (r"\b(?:called|name of)\b", ("named", "name")),
    (r"\bhow (?:often|frequently)\b", ("every", "annual", "months", "year", "interval")),
    (r"\bhow long\b", ("months", "years", "days", "weeks", "hours", "minutes", "duration", "period")),
    (r"\b(?:when|since when)\b", ("year", "date", "version", "since")),
    (r"\bhow (?:much|many)\b|\bcosts?\b", ("percent", "number", "amount", "overhead")),
    (r"\bwhy\b", ("because", "reason", "motivation", "problem", "advantage", "rationale")),
    (r"\bkinds?|types? of\b", ("kind", "type", "types")),
    (
        r"\b(?:differ|difference|compare|compared|versus"
        r"|vs)\b",
        ("unlike", "difference", "whereas", "instead", "contrast"),
    ),
    (
        r"\b(?:allowed|permitted|restrictions?|limits?"
        r"|limitations?)\b",
        ("not allowed", "restriction", "limitation", "invalid"),
    ),
    (r"\blicen[cs]e\b", ("license", "licence")),
    (
        r"^(?:about [^:]+: )?what (?:is|are|was"
        r"|were)\b",
        ("introduces", "definition", "defined", "means", "purpose"),
    ),
    (r"为什么|为何|原因", ("因为", "由于", "原因")),
    (r"多久|多长", ("分钟", "小时", "天", "年")),
)


def hints(question: str) -> list[str]:
    """Words that an answer to `question` is likely to use, from the way it is asked."""
    found: dict[str, None] = {}
    for pattern, words in _HINTS:
        if re.search(pattern, question, re.IGNORECASE):
            found.update(dict.fromkeys(words))
    return list(found)


def is_chinese(text: str) -> bool:
    """Whether `text` is written mostly in Chinese or Japanese characters."""
    wide = len(_CJK.findall(text))
    return wide * 3 > len(re.findall(r"[A-Za-z]", text)) and wide > 0


@lru_cache(maxsize=1)
def pale_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in _PALE)


def strong_terms(text: str) -> list[str]:
    """The search terms of a question that say what it is about; all of them when none does."""
    terms = [term for term in query_terms(without_chinese_pale(text)) if len(term) > 1 or not term.isascii()]
    strong = [term for term in terms if term not in pale_stems()]
    return strong or terms


def phrases(text: str) -> list[str]:
    """Pairs of telling terms that stand side by side in a question, with no small word between them."""
    found: dict[str, None] = {}
    chunk: list[str] = []
    pale = pale_stems()
    for word in re.findall(
        r"[^\s,;:?!()，。？！、；：]+|[,;:?!()，。？！、；：]", without_chinese_pale(text)
    ):
        own = terms(word)
        if own and own[0] not in pale:
            pairs = zip([*chunk[-1:], *own], own, strict=False) if chunk else itertools.pairwise(own)
            found.update((f"{one} {two}", None) for one, two in pairs)
            chunk = own
        else:
            chunk = []
    return list(found)


def without_chinese_pale(text: str) -> str:
    """`text` with the Chinese words that only ask or join replaced by spaces."""
    return _CHINESE_PALE.sub(" ", text) if _CJK.search(text) else text
