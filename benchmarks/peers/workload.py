"""Workload W, as every implementation runs it. Standard library only: every peer's environment imports it.

One session: 1 planner call, 3 researchers at once with 2 rounds of `search` and a final answer each (9 calls,
6 tool calls), 1 writer call over what they found. 11 calls to the model, the longest chain is 5.
"""

from __future__ import annotations

import json
import os

BASE_URL = os.environ.get("BENCH_BASE_URL", "http://127.0.0.1:8089/v1")
API_KEY = "sk-bench"
MODEL = "gpt-4o-mini"  # a name that every library knows; the server ignores it
CALLS, TOOL_CALLS, CHAIN = 11, 6, 5

PLANNER = (
    "ROLE:planner. You are a research planner. Break the topic into exactly three sub-questions. "
    'Answer with JSON only, of the form {"title": "...", "questions": ["...", "...", "..."]}.'
)
RESEARCHER = (
    "ROLE:researcher. You are a careful researcher. Use the search tool as often as needed, then report your "
    "findings as JSON: claims with verbatim quotes and their sources, in about 200 tokens."
)
WRITER = (
    "ROLE:writer. You are a technical writer. Merge the findings that you are given into one report of about "
    "600 tokens, as JSON: a title, a summary and sections of sentences that name their claims."
)
TOPIC = "Topic {number}: capacity planning for services that call large language models"
QUESTIONS = (
    "Part 1: what do measurements of serving systems say of load?",
    "Part 2: what do measurements of serving systems say of latency?",
    "Part 3: what do measurements of serving systems say of cost?",
)
HITS = 10
_PROSE = (
    "The tail of the response time followed the depth of the shared queue and not the size of the prompt, "
    "and the teams that bounded their queues kept it flat. "
)


def statement(hit: int) -> str:
    """The sentence of a hit that a claim quotes; no two hits have the same."""
    return f"Site R{hit} served {1_000 + 37 * hit:,} requests a minute with a queue of {20 + hit} entries."


def claim(hit: int) -> str:
    """The same in a model's own words, so that it has to be held against the quote."""
    load = f"{1_000 + 37 * hit:,} requests a minute"
    return f"With {20 + hit} entries in its queue, Site R{hit} could take {load}."


def snippet(hit: int) -> str:
    """About 500 characters."""
    return f"{statement(hit)} {_PROSE * 2}Measured over four weeks in region {hit}."


def title(hit: int) -> str:
    return f"Result {hit}: queueing, batching and retries in model-serving systems"


def locator(hit: int) -> str:
    return f"https://example.org/doc/{hit}"


_HITS_JSON = json.dumps(
    [
        {
            "rank": hit,
            "title": title(hit),
            "url": locator(hit),
            "score": round(0.97 - hit * 0.03, 2),
            "published": "2026-03-01",
            "snippet": snippet(hit),
        }
        for hit in range(HITS)
    ]
)

TOOL_SCHEMA = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the web and return the ten best hits.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What to look for."}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}


async def search(query: str) -> str:
    """Search the web and return the ten best hits.

    Args:
        query: What to look for.
    """
    return '{"query": %s, "hits": %s}' % (json.dumps(query), _HITS_JSON)  # noqa: UP031 - braces of JSON


def questions_of(text: str) -> list[str]:
    questions: list[str] = json.loads(text)["questions"]
    assert len(questions) == 3
    return questions


def writer_prompt(topic: str, findings: list[str]) -> str:
    parts = [f"## Findings {number}\n{text}" for number, text in enumerate(findings, 1)]
    return "\n\n".join([topic, *parts])


def check_report(text: str) -> None:
    assert len(json.loads(text)["sections"]) == 3, text[:80]
