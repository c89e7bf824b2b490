"""LangGraph's SQLite checkpointer on the same turns; run by `benchmarks/journal.py`.

    PEER/bin/python benchmarks/journal_langgraph.py TEXTS.json

TEXTS.json: a list of texts, one a turn. A graph of one node answers each with a word, and its state is
checkpointed as it comes. Prints one JSON object: bytes of the store, milliseconds of CPU a turn.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph


def answer(_: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage("noted")]}


def main(texts: list[str]) -> dict[str, float]:
    graph = StateGraph(MessagesState)
    graph.add_node("model", answer)
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "store.db")
        with SqliteSaver.from_conn_string(path) as saver:
            compiled = graph.compile(checkpointer=saver)
            began = time.process_time()
            for text in texts:
                turn = {"messages": [HumanMessage(text)]}
                compiled.invoke(turn, {"configurable": {"thread_id": "one"}})
            spent = time.process_time() - began
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    return {"bytes": size, "cpu_ms": 1_000 * spent / len(texts)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
