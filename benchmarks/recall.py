"""Is what was said in the prompt when it is needed? `python benchmarks/recall.py [FILE]`.

Each conversation is loaded turn by turn into a chat agent's context; each question is asked with the context
limited to N tokens; a turn counts when it stands whole in the assembled prompt. Without FILE: LoCoMo, chosen
on conversations 1 to 5, held out 6 to 10. FILE: {"turns": [{"id", "speaker", "text", "time"}], "questions":
[{"id", "question", "evidence": [turn ids]}]} or a list of such.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orchestra.context.budget import budget_of
from orchestra.context.context import Context
from orchestra.context.policy import policy_for
from orchestra.context.recall.dense import Vector
from orchestra.context.recall.embedding import Embedder, embedder_for
from orchestra.context.tokens import counter_for
from orchestra.errors import UserError

LOCOMO = Path(__file__).parents[2] / "shared/data/locomo/locomo10.json.gz"
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
COUNTER = counter_for("cl100k_base")
INSTRUCTIONS = "Answer from the conversation."


class Question(NamedTuple):
    text: str
    evidence: tuple[str, ...]
    kind: str = ""


class Chat(NamedTuple):
    """Turns as id, speaker, text and time, and what is asked about them."""

    name: str
    turns: list[tuple[str, str, str, str | float]]
    questions: list[Question]


class Found(NamedTuple):
    """One question under one budget: the share of its evidence that is in the prompt, 0 to 1."""

    chat: str
    kind: str
    budget: int
    share: float
    tokens: int
    seconds: float


class Remembered:
    """An embedding model whose vectors are made once in a run; `seconds` of CPU and `texts` it took."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._vectors: dict[str, Vector] = {}
        self.name = model.name
        self.seconds = 0.0
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        started = time.process_time()
        for first in range(0, len(new), 64):
            some = new[first : first + 64]
            self._vectors.update(zip(some, self._model.embed(some), strict=True))
        self.seconds += time.process_time() - started
        self.texts += len(new)
        return [self._vectors[text] for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, help="a conversation as JSON; LoCoMo without one")
    parser.add_argument("--budgets", default="1000,2000,4000,8000", help="tokens of the whole context")
    parser.add_argument("--embedding", default="none", help="none, auto, or a model's name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    try:
        model = embedder_for(options.embedding)
    except UserError as error:
        sys.exit(str(error))
    embedder = Remembered(model) if model else None
    chats = list(read_file(options.file) if options.file else read_locomo(LOCOMO))
    found = [one for chat in chats for one in ask_all(chat, budgets, embedder)]
    figures: dict[str, Any] = {"embedding": embedder.name if embedder else "none"}
    if embedder:
        figures["ms a text"] = round(1000 * embedder.seconds / max(1, embedder.texts), 2)
    figures["rows"] = table(found, budgets, split=options.file is None)
    if options.json:
        print(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show(figures, budgets)


def ask_all(chat: Chat, budgets: Iterable[int], embedder: Embedder | None) -> Iterator[Found]:
    """Every question under every budget, each asked of a fork of the loaded context."""
    context = Context(
        "chat", INSTRUCTIONS, policy=policy_for("chat"), window=1_000_000, counter=COUNTER, embedder=embedder
    )
    blocks = {id_: add(context, speaker, text, when) for id_, speaker, text, when in chat.turns}
    lines = {id_: f"{speaker}: {text}" for id_, speaker, text, _ in chat.turns}
    if chat.questions:
        context.recollector.find(chat.questions[0].text, 100)  # indexes what was said, before the clock runs
    for budget in budgets:
        settled = limited(context, budget)
        for question in chat.questions:
            if embedder:
                embedder.embed([question.text])
            agent = settled.fork()
            started = time.process_time()
            agent.add_input(question.text)
            prompt = agent.prompt()
            seconds = time.process_time() - started
            if prompt.tokens > budget:
                raise AssertionError(f"a prompt of {prompt.tokens} tokens under a budget of {budget}")
            text = "\n".join(message.text for message in prompt.messages)
            kept = {entry.block for entry in prompt.manifest.entries if entry.fate == "kept"}
            recalled = agent.recollector.last
            kept |= {hit.id for hit in recalled.hits if hit.whole} if recalled else set()
            there = sum(blocks[turn] in kept and lines[turn] in text for turn in question.evidence)
            share = there / len(question.evidence)
            yield Found(chat.name, question.kind, budget, share, prompt.tokens, seconds)


def limited(context: Context, budget: int) -> Context:
    """A fork whose prompts have at most `budget` tokens, after it has made room."""
    fork = context.fork()
    fork.policy = policy_for("chat", {"prompt_tokens": budget})
    fork.budget = budget_of(1_000_000, fork.policy)
    fork.prompt()
    return fork


def add(context: Context, speaker: str, text: str, when: str | float) -> str:
    if isinstance(when, str):
        return context.add_said(speaker, text, when=when)
    return context.add_said(speaker, text, at=when)


def read_file(file: Path) -> Iterator[Chat]:
    raw = file.read_bytes()
    data = json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)
    for number, chat in enumerate(data if isinstance(data, list) else [data], 1):
        turns = [
            (str(turn["id"]), turn.get("speaker") or "", turn["text"], turn.get("time") or 0.0)
            for turn in chat["turns"]
        ]
        known = {turn[0] for turn in turns}
        questions = [
            Question(one["question"], evidence, str(one.get("kind", "")))
            for one in chat["questions"]
            if (evidence := tuple(str(id_) for id_ in one["evidence"] if str(id_) in known))
        ]
        yield Chat(str(chat.get("id", number)), turns, questions)


def read_locomo(file: Path) -> Iterator[Chat]:
    """LoCoMo with the captions of shared images in their turns; questions without evidence left out."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        data: list[dict[str, Any]] = json.load(stream)
    for number, sample in enumerate(data, 1):
        talk = sample["conversation"]
        turns: list[tuple[str, str, str, str | float]] = []
        session = 1
        while f"session_{session}_date_time" in talk:
            for turn in talk.get(f"session_{session}", ()):
                image = f" [shared image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                turns.append(
                    (
                        turn["dia_id"],
                        turn["speaker"],
                        turn["text"] + image,
                        talk[f"session_{session}_date_time"],
                    )
                )
            session += 1
        known = {turn[0] for turn in turns}
        questions: list[Question] = []
        for entry in sample["qa"]:
            named = re.findall(r"D:?(\d+):(\d+)", " ".join(entry.get("evidence", ())))
            evidence = tuple(dict.fromkeys(f"D{int(part)}:{int(turn)}" for part, turn in named))
            evidence = tuple(turn for turn in evidence if turn in known)
            if evidence:
                questions.append(Question(entry["question"], evidence, KINDS[entry["category"]]))
        yield Chat(str(number), turns, questions)


def table(found: list[Found], budgets: list[int], *, split: bool) -> list[dict[str, Any]]:
    """Rows of mean evidence recall in % by budget: all questions, the two halves of LoCoMo, each kind."""
    groups: dict[str, list[Found]] = {"all": found}
    if split:
        groups["conversations 1-5"] = [one for one in found if int(one.chat) <= 5]
        groups["conversations 6-10"] = [one for one in found if int(one.chat) > 5]
    for kind in dict.fromkeys(one.kind for one in found if one.kind):
        groups[kind] = [one for one in found if one.kind == kind]
    rows: list[dict[str, Any]] = []
    for name, members in groups.items():
        row: dict[str, Any] = {"questions": name, "count": len(members) // max(1, len(budgets))}
        for budget in budgets:
            shares = [one.share for one in members if one.budget == budget]
            row[str(budget)] = round(100 * sum(shares) / max(1, len(shares)), 1)
            row[f"complete {budget}"] = round(
                100 * sum(share == 1 for share in shares) / max(1, len(shares)), 1
            )
        row["ms"] = round(1000 * sum(one.seconds for one in members) / max(1, len(members)), 2)
        rows.append(row)
    return rows


def show(figures: dict[str, Any], budgets: list[int]) -> None:
    print(f"mean evidence recall in % (all of it present in %), embedding: {figures['embedding']}")
    if "ms a text" in figures:
        print(f"embedding takes {figures['ms a text']} ms of CPU a text, which is not in the last column")
    print(f"{'':<22}{'count':>6}" + "".join(f"{budget:>16,}" for budget in budgets) + f"{'ms CPU':>9}")
    for row in figures["rows"]:
        cells = "".join(f"{row[str(budget)]:>9.1f} ({row[f'complete {budget}']:.1f})" for budget in budgets)
        print(f"{row['questions']:<22}{row['count']:>6}{cells}{row['ms']:>9.2f}")


if __name__ == "__main__":
    main()
