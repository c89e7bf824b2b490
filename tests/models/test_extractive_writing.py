"""The extractive model's draft and review."""

from __future__ import annotations

import json

import pytest

from orchestra.context.fence import fence
from orchestra.errors import OutputInvalid
from orchestra.models.extractive.model import Extractive
from orchestra.session.outputs import as_json
from orchestra.values.drafts import Draft
from orchestra.values.messages import Message, OutputSpec, Request
from tests.models.asking import answer, brief, claim

pytestmark = pytest.mark.anyio

QUESTION = "What is a stone arch, and how is it kept dry?"
PARTS = ["What is a stone arch?", "How is a stone arch kept dry?"]
CLAIMS = [
    claim("c1", 1, "A stone arch is a curve of wedges that stands by pressure alone."),
    claim("c2", 1, "The keystone of a stone arch is the last wedge to be set."),
    claim("c3", 1, "Roman builders set each arch over a wooden frame.", "b.md"),
    claim("c4", 2, "A stone arch is kept dry by drains behind its walls.", "b.md"),
    claim("c5", 2, "Clay above the vault leads water to the drains.", "b.md"),
    claim("c6", 2, "Wet mortar loses 30 per cent of its strength in frost.", "a.md"),
]


def sentences(draft: Draft) -> list[str]:
    return [s.text for s in draft.summary] + [s.text for part in draft.sections for s in part.sentences]


async def written(text: str) -> Draft:
    reply = await answer(text, "Draft")
    assert isinstance(reply.value, Draft)
    return reply.value


async def test_a_draft_tells_each_claim_once_under_its_question() -> None:
    """Summary on top, a section for each sub-question, nothing said twice."""
    draft = await written(brief(QUESTION, PARTS, CLAIMS))
    told = sentences(draft)
    assert len(told) == len(set(told)) == len(CLAIMS)
    assert 2 <= len(draft.summary) <= 4
    assert [part.heading for part in draft.sections] == ["Stone arch", "How a stone arch is kept dry"]
    dry = draft.sections[1].sentences
    assert {name for sentence in dry for name in sentence.claims} <= {"c4", "c5", "c6"}


async def test_the_summary_answers_every_part() -> None:
    """One sentence for each sub-question stands on top."""
    draft = await written(brief(QUESTION, PARTS, CLAIMS))
    assert [sentence.claims for sentence in draft.summary] == [("c1",), ("c4",)]


async def test_a_draft_keeps_its_budget() -> None:
    """However many claims there are, the report keeps under 900 words."""
    many = [
        claim(
            f"c{n}",
            1 + n % 2,
            f"Arch number {n} of the river {'abcdefghij'[n % 10] * 3}{n} is kept dry by {n} drains.",
        )
        for n in range(300)
    ]
    draft = await written(brief(QUESTION, PARTS, many))
    words = sum(
        len(text.split()) for text in [draft.title, *(p.heading for p in draft.sections), *sentences(draft)]
    )
    assert 600 < words <= 900


async def test_both_sides_of_a_conflict_stand_together() -> None:
    """What the brief shows as a conflict is told from both sides, one after the other."""
    sides = [*CLAIMS, claim("c7", 2, "Wet mortar loses 45 per cent of its strength in frost.", "c.md")]
    draft = await written(brief(QUESTION, PARTS, sides, "Conflicts:\n- c6 / c7: the strength of wet mortar"))
    order = [name for part in draft.sections for sentence in part.sentences for name in sentence.claims]
    assert abs(order.index("c6") - order.index("c7")) == 1


async def test_one_long_answer_is_divided_by_document() -> None:
    """A single question with much to say gets a section for each document."""
    many = [
        claim(
            f"c{n}", 1, f"Stone arch {word} stands over the {word[::-1]} valley.", "a.md" if n % 2 else "b.md"
        )
        for n, word in enumerate("red blue green white black brown grey pink gold amber ivory coral".split())
    ]
    draft = await written(
        brief("Where does each stone arch stand?", ["Where does each stone arch stand?"], many)
    )
    assert sorted(part.heading for part in draft.sections) == ["A.Md", "B.Md"]


async def test_an_empty_brief_gives_an_empty_draft() -> None:
    """Without claims nothing is said."""
    draft = await written(brief(QUESTION, PARTS, []))
    assert sentences(draft) == []
    assert draft.title == "Bridges"


async def test_a_chinese_brief_gives_a_chinese_draft() -> None:
    """Headings follow the question's language."""
    claims = [
        claim("c1", 1, "石桥是用石块砌成的桥。"),
        claim("c2", 1, "石桥的拱圈由楔形石块组成。"),
        claim("c3", 2, "石桥每年检查一次排水沟。"),
        claim("c4", 2, "维护石桥时要清除缝里的草。"),
    ]
    draft = await written(
        brief("石桥是什么，它应该怎样维护？", ["石桥是什么？", "石桥应该怎样维护？"], claims)
    )
    assert all("\u3400" <= part.heading[0] <= "\u9fff" for part in draft.sections)


async def test_review_names_what_rules_can_see() -> None:
    """Sentences without claims, unknown ids, repeats and unanswered parts are remarked."""
    draft = {
        "title": "Arch",
        "summary": [{"text": "A stone arch is a curve of wedges.", "claims": []}],
        "sections": [{"heading": "x", "sentences": [{"text": "It stands.", "claims": ["c99"]}]}],
    }
    text = brief(QUESTION, PARTS, CLAIMS) + "\n\n" + fence("Draft", json.dumps(draft))
    reply = await answer(text, "Review")
    problems = " ".join(remark.problem for remark in reply.value.remarks)
    assert "names no claim" in problems
    assert "c99" in problems
    assert "does not answer: How is a stone arch kept dry?" in problems


async def test_a_draft_that_stands_gets_no_remark() -> None:
    """The model's own draft passes its own review."""
    draft = await written(brief(QUESTION, PARTS, CLAIMS))
    reply = await answer(brief(QUESTION, PARTS, CLAIMS) + "\n\n" + fence("Draft", as_json(draft)), "Review")
    assert reply.value.remarks == ()


async def test_other_outputs_are_refused_in_one_sentence() -> None:
    """What only a language model can make is said plainly."""
    spec = OutputSpec("Poem", {}, json.loads)
    with pytest.raises(OutputInvalid, match="but not Poem"):
        await Extractive().reply(Request(messages=(Message("user", "Sing."),), output=spec))
