"""The small model of a scenario: how it sums up, well or badly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import json

from orchestra.context.fence import fenced
from orchestra.errors import ModelUnreachable
from orchestra.eval.scenario import Behaviour, KeyFact, Scenario

_SENTENCE = re.compile(r"(?:[^.!?\n。！？]|[.!?](?=\S))+[.!?。！？]?")
_LISTS = ("constraints", "exclusions", "decisions", "done", "open", "entities", "numbers")
_REFUSAL = "I'm sorry, I cannot summarise this conversation."
_LOOP = "The talk went on and on and the same was said again."


def summary(scenario: Scenario, behaviour: Behaviour, task: str) -> str:
    """What it answers to a `task`, as the JSON that was asked for. Raises ModelUnreachable."""
    if behaviour == "fails":
        raise ModelUnreachable("503 Service Unavailable", endpoint="scripted", model="scripted")
    said: list[str] = []
    story = scenario.story or "The talk went on as before."
    if behaviour in ("faithful", "forgets", "lies", "longer"):
        said = list(_lines(scenario, behaviour, task))
    if behaviour == "forgets":
        said = [line for at, line in enumerate(said) if at % 3 != 2]
    if behaviour == "lies":
        story = " ".join(said)
    elif behaviour == "longer":
        story = " ".join((task, task))
    elif behaviour == "repeats":
        story, said = " ".join([_LOOP] * 40), [_LOOP] * 20
    elif behaviour == "refuses":
        story = _REFUSAL
    elif behaviour == "empty":
        story = ""
    fields: dict[str, object] = dict.fromkeys(_LISTS, ())
    return json.encode({**fields, "goal": "", "numbers": said, "narrative": story}).decode()


def _lines(scenario: Scenario, behaviour: Behaviour, task: str) -> Iterator[str]:
    """The sentences with key facts, as they stand there or with a wrong value in their place."""
    told: set[str] = set()
    for part in fenced(task):
        for match in _SENTENCE.finditer(part.text):
            sentence = match[0].strip()
            for fact in scenario.facts:
                line = _told(fact, behaviour, sentence)
                if line and line not in told:
                    told.add(line)
                    yield line


def _told(fact: KeyFact, behaviour: Behaviour, sentence: str) -> str:
    spelling = next((one for one in (*fact.spellings, *fact.old) if one in sentence), "")
    if not spelling:
        return ""
    if behaviour == "lies" and fact.wrong:
        return sentence.replace(spelling, fact.wrong[0])
    return sentence
