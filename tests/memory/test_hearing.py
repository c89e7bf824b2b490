"""What is kept of a user's words, by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.memory.hearing import statements, without_statements


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ("My budget is $1,200.", "budget", "$1,200"),
        ("Our staging server is srv-12.", "staging server", "srv-12"),
        ("The deadline for the report is 5 March 2027.", "deadline for the report", "5 March 2027"),
        ("Remember that the staging server is called atlas.", "staging server", "atlas"),
        ("Call me Anna.", "name", "Anna"),
        ("My flight is LH454 on 5 May. Which train do I take?", "flight", "LH454 on 5 May"),
        ("我叫李雷，我住在上海。", "名字", "李雷"),
        ("我的预算是3000元。", "预算", "3000元"),
        ("项目的截止日期是2027年3月5日。", "截止日期", "2027年3月5日"),
    ],
)
def test_a_fact_has_its_key(said: str, key: str, value: str) -> None:
    """What somebody says of himself, or of a thing by its name."""
    assert [(each.key, each.value) for each in statements(said)] == [(key, value)]


@pytest.mark.parametrize(
    "said",
    [
        "Never book hotels without breakfast.",
        "I am allergic to peanuts.",
        "I don't eat meat.",
        "From now on answer in German.",
        "Only recommend vegetarian restaurants.",
        "不要推荐海鲜，我对海鲜过敏。",
    ],
)
def test_a_constraint_is_kept_word_for_word(said: str) -> None:
    """Negation and all, and it always holds."""
    (kept,) = statements(said)
    assert (kept.text, kept.key, kept.always) == (said, "", True)


def test_a_constraint_beside_a_question_is_of_that_question() -> None:
    """Unless it says that it lasts, or is about the person."""
    first, *_ = statements("How is tea made? Do not use sources before 2015.")
    assert not first.always
    lasting, *_ = statements("How is tea made? Never use sources before 2015.")
    assert lasting.always
    own, *_ = statements("Which nuts are in it? I am allergic to peanuts.")
    assert own.always


@pytest.mark.parametrize(
    "said",
    [
        "What is my budget?",
        "How is green tea made?",
        "Change the subject.",
        "The capital of France is Paris.",
        "I want to know how tea is made.",
        "I have a question.",
        "Thanks, that was great!",
        "I'm really excited to try out my new camera.",
        "I like the idea of using a tray.",
        "I'll make sure to arrive early.",
        "I can only imagine the pressure.",
        "I was looking for some new vegan recipes.",
        "Don't worry about it.",
        "No.",
        "The campaign was a huge success, and her followers increased by over 50% in a week.",
        "Remember to customise your materials.",
        "我的预算是多少？",
        "谢谢你",
    ],
)
def test_what_states_nothing_is_not_kept(said: str) -> None:
    """Questions, requests, small talk, general knowledge."""
    assert all(each.loose for each in statements(said))


@pytest.mark.parametrize(
    "said",
    [
        "My password is hunter22.",
        "Remember that my PIN is 4711.",
        "My api key is abcdef0123456789.",
        "my email is a@b.de and api_key=[redacted]",
        "My credit card number is 4111 1111 1111 1111.",
        "记住我的密码是 hunter22。",
        "我的信用卡号是4111111111111111。",
    ],
)
def test_a_secret_is_not_kept_however_it_looks(said: str) -> None:
    """The word alone is enough; it does not stand in a kept question either."""
    assert statements(said) == ()
    assert "4711" not in without_statements(said)
    assert "hunter22" not in without_statements(said)


def test_pasted_text_is_not_said() -> None:
    """What is fenced is somebody else's, and so is what nobody would type."""
    assert statements("Read this:\n```\nMy budget is $9,000.\n```") == ()
    assert statements("My budget is $9,000. " * 1_000) == ()


@given(st.text())
def test_any_text_is_heard(text: str) -> None:
    """What is kept is a part of what was said."""
    for each in statements(text):
        assert each.text in text
    without_statements(text)
