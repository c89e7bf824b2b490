"""PrecisionMemBench: what must come back does, and nothing else. `python benchmarks/precision.py`.

77 single questions and two sessions over 35 known facts: aliases, scopes, supersession, pinned facts, open
questions, slips of the pen, eviction. A case passes when every one of its expectations holds; what should
only be included has to be there, and nothing beside it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from msgspec import structs

from orchestra.context.recall.named import Known, Looked, look_up

DATA = Path(__file__).parents[2] / "shared/data/precisionmembench"
KINDS = {"open_question": "question", "relation": "relation"}
OTHER_USERS = ("b-other-user-leak-check",)
"""The seed marks this fact as another user's by its text only."""


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--failed", action="store_true", help="say what did not hold")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    seed = json.loads((options.data / "beliefs.seed.json").read_text("utf-8"))
    known = {row["_id"]: known_of(row) for row in seed}
    outcomes: list[tuple[str, bool, bool, list[str]]] = []
    for case in json.loads((options.data / "retrieval.cases.json").read_text("utf-8")):
        user = case.get("userId", "test-user")
        looked = look_up(
            case["query"],
            known.values(),
            case["scope"],
            user=user,
            most=case.get("budget", {}).get("maxBeliefs"),
        )
        outcomes.append((case["caseId"], is_active(case["expect"]), False, problems(looked, case["expect"])))
    for case in json.loads((options.data / "session-retrieval.cases.json").read_text("utf-8")):
        outcomes += session(case, known)
    show(outcomes, options)


def session(case: dict[str, Any], known: dict[str, Known]) -> list[tuple[str, bool, bool, list[str]]]:
    """Each turn of a session; facts made and changed on the way are known from the next turn on."""
    outcomes: list[tuple[str, bool, bool, list[str]]] = []
    for turn in case["turns"]:
        looked = look_up(turn["userMessage"], known.values(), turn["scope"], user="test-user")
        expect = turn["expect"]
        name = f"{case['caseId']} {turn['turnIndex']}"
        outcomes.append((name, is_active(expect), True, problems(looked, expect)))
        made = turn.get("createBeliefAtTurn")
        if made:
            known[made["_id"]] = known_of(made)
        changed = turn.get("updateBeliefAtTurn")
        if changed:
            id_ = changed["beliefId"]
            aliases = (*known[id_].aliases, *changed.get("addAliases", ()))
            known[id_] = structs.replace(known[id_], aliases=aliases)
    return outcomes


def known_of(row: dict[str, Any]) -> Known:
    other = row["_id"] in OTHER_USERS
    return Known(
        id=row["_id"],
        name=row["canonical_name"],
        text=row["content"],
        aliases=tuple(row.get("aliases", ())),
        scopes=tuple(row["scope"]),
        user="another" if other else row.get("user_id", "test-user"),
        kind=KINDS.get(row["type"], "fact"),  # type: ignore[arg-type]  # one of three
        pinned=bool(row.get("pinned")),
        current=row.get("epistemic_status") != "superseded" and not row.get("resolved_at"),
        weight=row.get("reinforcement_count", 0),
        at=row.get("last_reinforced_at") or "",
    )


def is_active(expect: dict[str, Any]) -> bool:
    """Whether something has to be found by the question, and not only kept out or pinned."""
    return bool(expect.get("relevantBeliefs", {}).get("shouldOnlyInclude"))


def problems(looked: Looked, expect: dict[str, Any]) -> list[str]:
    """What did not hold, in words; empty when all did."""
    wrong: list[str] = []
    places = {
        "pinnedFacts": looked.pinned,
        "relevantBeliefs": looked.relevant,
        "openQuestions": looked.questions,
    }
    for place, found in places.items():
        ids = {one.id for one in found}
        wanted = expect.get(place, {})
        wrong += [f"{place} lacks {id_}" for id_ in wanted.get("mustInclude", ()) if id_ not in ids]
        wrong += [f"{place} has {id_}" for id_ in wanted.get("mustExclude", ()) if id_ in ids]
        only = wanted.get("shouldOnlyInclude")
        if only is not None and ids != set(only):
            wrong.append(f"{place} is {sorted(ids)} and not {sorted(only)}")
    noise = expect.get("noiseCheck", {}).get("mustNotSurface", ())
    wrong += [f"{one.id} is noise" for one in looked.relevant if one.id in noise]
    prelude = "\n".join(one.text for one in looked.prelude)
    persona = expect.get("personaPrelude", {})
    if persona.get("nonEmpty") and not prelude:
        wrong.append("the prelude is empty")
    if persona.get("isNull") and prelude:
        wrong.append("the prelude is not empty")
    lacking = [word for word in persona.get("contains", ()) if word.lower() not in prelude.lower()]
    wrong += [f"the prelude lacks {word}" for word in lacking]
    wrong += [f"the prelude has {word}" for word in persona.get("mustNotContain", ()) if word in prelude]
    return wrong


def show(outcomes: list[tuple[str, bool, bool, list[str]]], options: argparse.Namespace) -> None:
    figures: dict[str, list[int]] = {}
    for name, chosen in (
        ("all single questions", [one for one in outcomes if not one[2]]),
        ("active retrieval", [one for one in outcomes if one[1] and not one[2]]),
        ("turns of sessions", [one for one in outcomes if one[2]]),
    ):
        figures[name] = [sum(not one[3] for one in chosen), len(chosen)]
    if options.json:
        print(json.dumps(figures))
        return
    for name, (passed, count) in figures.items():
        print(f"{name:<24}{passed:>4} of {count}")
    if options.failed:
        for name, _, _, wrong in outcomes:
            if wrong:
                print(f"{name}: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
