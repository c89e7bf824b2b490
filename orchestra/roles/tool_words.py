"""Names of tools: how a list of them is written, and whether a name begins with a verb."""

from __future__ import annotations

import re

_DETAIL = re.compile(r"\([^()]*\)")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")

_LIST = """
    abort accept access add allow analyse analyze answer append apply approve archive ask assign attach
    bash begin block book browse build calculate call cancel capture change chat check choose classify
    clean clear click clone close collect combine commit compare compile complete compose compress
    compute configure confirm connect consult continue convert copy correct count crawl create cut debit
    decide decode define delegate delete deliver deploy describe detect diff disable dispatch display
    download draft draw drop duplicate edit embed enable encode encrypt end enqueue ensure enter
    escalate estimate evaluate examine execute expand explain explore export extract fetch fill filter
    find finish fix flag follow forecast forget format forward generate get give go grant grep group
    guess handle hide identify import index infer inform insert inspect install invite invoke join judge
    keep kill label launch learn limit link list load locate lock log login logout look lookup make map
    mark match measure merge mint modify monitor move name navigate note notify observe obtain offer
    open order pack parse pause pay perform pick pin ping plan play post predict prepare preview print
    process produce propose provide publish pull purge push put query quit quote raise rank rate reach
    read rebuild recall receive recommend reconcile record redact redo refresh refund refuse register
    reject release reload remember remind remove rename render reorder repair repeat replace reply
    report request reserve reset resolve restart restore resume retrieve return revert review revoke
    rewrite rotate route run sample save scan schedule score scrape scroll search select send set share
    show sign simulate skip sleep solve sort spawn split start stop store stream submit subscribe
    suggest sum summarise summarize suspend swap switch sync tag take tell terminate test think toggle
    track transcribe transfer transform translate trigger trim try turn type undo unlock unpack
    unsubscribe update upgrade upload use validate verify view visit wait walk watch withdraw write zip
"""
_VERBS = frozenset(_LIST.split())


def split_tools(text: str) -> tuple[str, ...]:
    """Names with commas between them; what stands in brackets after a name is another program's detail."""
    plain = _DETAIL.sub("", text)
    return tuple(word.strip() for word in plain.split(",") if word.strip())


def begins_with_verb(name: str) -> bool:
    """Whether a tool's name says what it does. Names in other scripts are not judged."""
    words = _WORDS.findall(name.rpartition("__")[2])
    if not words or not words[0].isascii():
        return True
    return words[0].lower() in _VERBS
