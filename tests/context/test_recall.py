"""What recall brings back, in which order, and under which headings."""

from __future__ import annotations

import string
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.context.fence import fenced
from orchestra.context.recall.index import RecallIndex
from orchestra.context.recall.turns import Recalled, Turn

WORDS = (
    "dog",
    "walk",
    "lake",
    "Paris",
    "museum",
    "guitar",
    "was",
    "the",
    "went",
    "2023",
    "公园",
    "猫",
    "三月",
    "?",
    "\n",
    "```",
)
TIMES = (None, "1:56 pm on 8 May, 2023", "2023-05-25 10:00", "2023年6月9日", "some evening")

texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join) | st.text(max_size=60)
turn_lists = st.lists(
    st.tuples(st.sampled_from(("Ann", "Bob", "user", "")), texts, st.sampled_from(TIMES)), max_size=25
)


def count(text: str) -> int:
    """Tokens for these tests: words and marks, so that parts add up to the whole or more."""
    return len(text.split()) + text.count("\n") + sum(char not in string.printable for char in text)


def index_of(turns: list[tuple[str, str, str | None]]) -> RecallIndex:
    index = RecallIndex(count)
    for number, (speaker, text, time) in enumerate(turns):
        index.add(Turn(id=f"t{number}", speaker=speaker, text=text, time=time))
    return index


@given(turn_lists, texts, st.integers(0, 300))
@settings(max_examples=80, deadline=None)
def test_what_is_recalled_fits_and_says_so(
    turns: list[tuple[str, str, str | None]], question: str, tokens: int
) -> None:
    """The text never has more tokens than allowed, and the count given is the text's own."""
    recalled = index_of(turns).recall(question, tokens)
    assert recalled.tokens == count(recalled.text) <= max(tokens, 0)
    assert bool(recalled.text) == bool(recalled.hits)
    assert recalled.note


@given(turn_lists, texts, st.integers(20, 300))
@settings(max_examples=60, deadline=None)
def test_recall_is_in_the_order_of_time_and_verbatim(
    turns: list[tuple[str, str, str | None]], question: str, tokens: int
) -> None:
    """Hits come oldest first, and each shown span stands letter by letter in the text."""
    recalled = index_of(turns).recall(question, tokens)
    numbers = [int(hit.id[1:]) for hit in recalled.hits]
    assert numbers == sorted(set(numbers))
    for hit in recalled.hits:
        for start, end in hit.spans:
            assert turns[int(hit.id[1:])][1][start:end].strip() in recalled.text


def same(found: Iterable[Recalled]) -> bool:
    """Whether all brought back the same for the same reasons."""
    return len({(one.text, one.tokens, one.hits, one.units, one.note) for one in found}) == 1


@given(turn_lists, texts)
@settings(max_examples=40, deadline=None)
def test_the_same_turns_and_question_give_the_same_recall(
    turns: list[tuple[str, str, str | None]], question: str
) -> None:
    """Two indexes of the same turns agree, and asking changes nothing."""
    one, other = index_of(turns), index_of(turns)
    one.recall("dog", 50)
    assert same(index.recall(question, 100) for index in (one, other, one))


@given(turn_lists, turn_lists, texts)
@settings(max_examples=40, deadline=None)
def test_an_index_asked_while_it_grows_equals_one_made_at_once(
    first: list[tuple[str, str, str | None]], then: list[tuple[str, str, str | None]], question: str
) -> None:
    """Adding turn by turn, with questions between and through a copy, ends where adding at once does."""
    growing = index_of(first)
    growing.recall(question, 80)
    copied = growing.copied()
    for number, (speaker, text, time) in enumerate(then, len(first)):
        for index in (growing, copied):
            index.add(Turn(id=f"t{number}", speaker=speaker, text=text, time=time))
    whole = index_of([*first, *then])
    assert same(index.recall(question, 100) for index in (growing, whole, copied))


@given(turn_lists, texts, st.integers(20, 200))
@settings(max_examples=40, deadline=None)
def test_what_is_shown_anyway_is_not_recalled(
    turns: list[tuple[str, str, str | None]], question: str, tokens: int
) -> None:
    """Turns to skip are never among the hits."""
    skip = {f"t{number}" for number in range(0, len(turns), 2)}
    assert not skip & {hit.id for hit in index_of(turns).recall(question, tokens, skip=skip).hits}


def chat() -> RecallIndex:
    return index_of(
        [
            ("Ann", "I went to the aquarium with my nephew.", "1:56 pm on 8 May, 2023"),
            ("Bob", "How was the trip?", "1:56 pm on 8 May, 2023"),
            ("Ann", "He loved the penguins!", "1:56 pm on 8 May, 2023"),
            ("Bob", "My guitar broke yesterday.", "4:10 pm on 25 May, 2023"),
            ("Ann", "Oh no. Mine is fine.", "4:10 pm on 25 May, 2023"),
            ("Bob", "We adopted a puppy called Rex.", "4:10 pm on 30 June, 2023"),
        ]
    )


def test_recall_is_labelled_and_dated() -> None:
    """The block is fenced under a label, each sitting under its day."""
    recalled = chat().recall("When did Ann go to the aquarium?", 40)
    (part,) = fenced(recalled.text)
    assert part.label == "Recalled from earlier, oldest first"
    assert part.text.startswith("Mon 8 May 2023\nAnn: I went to the aquarium")
    assert "words alone" in recalled.note


def test_irregular_forms_meet() -> None:
    """`go` finds `went`, and the reason names what matched."""
    hit = chat().recall("go aquarium", 30).hits[0]
    assert hit.id == "t0"
    assert "aquarium" in hit.why


def test_a_topic_finds_its_words() -> None:
    """A question about a pet finds the puppy though no word is shared."""
    assert "t5" in {hit.id for hit in chat().recall("Which pet does he have?", 30).hits}


def test_a_day_finds_what_was_said_then() -> None:
    """Dates are searchable in either script."""
    for question in ("What happened on 25 May?", "2023-05-25", "5月25日发生了什么？"):
        assert "t3" in {hit.id for hit in chat().recall(question, 30).hits}


def test_nothing_found_is_said() -> None:
    """No match gives no text, and the note says so."""
    recalled = chat().recall("quantum chromodynamics", 100)
    assert (recalled.text, recalled.tokens, recalled.hits) == ("", 0, ())
    assert "nothing earlier matches" in recalled.note


def test_chinese_questions_find_chinese_turns() -> None:
    """Question words and particles do not stand in the way, and numerals meet digits."""
    index = index_of(
        [
            ("林晓雨", "团子最近胖到十四斤了。", "2023年3月4日"),
            ("陈志强", "我三月买了新车。", "2023年3月19日"),
            ("林晓雨", "弟弟考上了武汉大学。", "2023年4月8日"),
        ]
    )
    assert {hit.id for hit in index.recall("志强什么时候买的车？", 35).hits} == {"t1"}
    assert "t2" in {hit.id for hit in index.recall("晓雨的弟弟在哪所大学？", 40).hits}


def test_a_long_turn_is_shown_in_part() -> None:
    """Of a long turn only the pieces that match are shown, with marks where something is left out."""
    filler = " ".join(f"Sentence number {number} is about nothing much at all." for number in range(60))
    index = index_of([("user", f"{filler} The access code is tulip-42. {filler}", None)])
    recalled = index.recall("What is the access code?", 120)
    (hit,) = recalled.hits
    assert "tulip-42" in recalled.text
    assert not hit.whole
    assert "… " in recalled.text


def test_adding_touches_only_the_turn_itself() -> None:
    """The work of adding a turn is the same at turn 10 and at turn 2,000: one count for each of its lines."""
    calls = 0

    def counting(text: str) -> int:
        nonlocal calls
        calls += 1
        return count(text)

    index = RecallIndex(counting)
    costs = []
    for number in range(2_000):
        before = calls
        index.add(Turn(id=f"t{number}", speaker="Ann", text=f"word{number} dog", time=None))
        costs.append(calls - before)
    assert costs[10] == costs[-1] == 1
