"""What the scripted summarisers say: the same for `orchestra` and for its peers."""

from __future__ import annotations

import json

from benchmarks.compactions_talk import PLANTED, Planted, filler, wrong_digit

KINDS = ("faithful", "forgetful", "wrong", "verbose", "failing")
REFUSAL = "I'm sorry, I cannot summarise this conversation."


def wrong(fact: Planted) -> str:
    """A fact with a digit changed or its negation turned round; "" for one that has neither."""
    if fact.flip:
        return fact.flip
    changed = wrong_digit(fact.value)
    return changed if changed != fact.value else ""


def lines(kind: str, text: str) -> list[str]:
    """The lines of a summary of `text`: the planted facts in it, as this kind of summariser says them."""
    # A summariser that wrote something wrong once reads its own words the next time.
    held = [
        fact
        for fact in PLANTED
        if fact.value in text
        or fact.text in text
        or (kind == "wrong" and wrong(fact) and wrong(fact) in text)
    ]
    said = []
    for fact in held:
        told = flat(fact.text) if fact.who == "tool" else fact.text
        if kind == "wrong" and wrong(fact):
            told = f"{fact.flip}." if fact.flip else told.replace(fact.value, wrong(fact))
        said.append(told)
    if kind == "forgetful":
        said = [line for at, line in enumerate(said) if at % 3 != 2]
    if kind == "verbose":
        said += [filler(at)[1] for at in range(len(text) // 300)]
    return said


def draft(kind: str, text: str, calls: int) -> dict[str, object] | str:
    """The structured summary, as JSON values; a string is an error that the endpoint raises."""
    fields: dict[str, object] = dict.fromkeys(
        ("constraints", "exclusions", "decisions", "done", "open", "entities", "numbers"), ()
    )
    if kind == "failing":
        if calls % 3 == 0:
            return "503 Service Unavailable"
        return {**fields, "goal": "", "narrative": "" if calls % 3 == 1 else REFUSAL}
    return {**fields, "goal": "", "numbers": lines(kind, text), "narrative": "The plan was talked through."}


def prose(kind: str, text: str, calls: int) -> str:
    """The same as running text, for peers; raises RuntimeError where the endpoint would fail."""
    if kind == "failing":
        if calls % 3 == 0:
            raise RuntimeError("503 Service Unavailable")
        return "" if calls % 3 == 1 else REFUSAL
    return "\n".join(lines(kind, text)) + "\nThe plan was talked through."


def flat(text: str) -> str:
    return "; ".join(f"{key}={value}" for key, value in json.loads(text).items())
