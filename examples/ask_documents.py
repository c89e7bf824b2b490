"""A cited report from a folder of documents.

python examples/ask_documents.py "Why does hot water make green tea bitter?"
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from orchestra import OrchestraError, Runtime

LIBRARY = Path(__file__).parent / "library"
QUESTION = "Why does green tea turn bitter when the water is too hot?"


async def main(question: str) -> None:
    async with Runtime() as runtime:
        report = await runtime.research(question, documents=LIBRARY)
    print(report.title)
    for sentence in report.summary:
        print(f"- {sentence.text} {list(sentence.citations)}")
    for reference in report.references:
        print(f"[{reference.n}] {reference.title} ({reference.locator}): {len(reference.quotes)} quotes")


if __name__ == "__main__":
    try:
        anyio.run(main, " ".join(sys.argv[1:]) or QUESTION)
    except OrchestraError as error:
        sys.exit(f"{error}")
