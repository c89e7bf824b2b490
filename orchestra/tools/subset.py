"""Which of many tools a task gets: those whose words answer the task's words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from orchestra.text.terms import query_terms, terms
from orchestra.tools.toolbox import Toolbox
from orchestra.values.messages import ToolSpec

# A model chooses well among this many; more cost tokens in every prompt and lead it astray.
MOST_TOOLS = 24
CHOSEN_TOOLS = 12

# Okapi BM25's usual constants (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
_K1 = 1.2
_B = 0.75


def chosen_for(task: str, toolbox: Toolbox) -> Toolbox:
    """The toolbox itself while it is small, else its CHOSEN_TOOLS best tools for the task, in its own order.

    Chosen once per task and never again, so that the prefix of its prompts stays.
    """
    if len(toolbox) <= MOST_TOOLS:
        return toolbox
    ranked = sorted(scores(task, toolbox.specs).items(), key=lambda item: (-item[1], item[0]))
    places = sorted(place for place, _ in ranked[:CHOSEN_TOOLS])
    return toolbox.narrowed(toolbox.names[place] for place in places)


def scores(task: str, specs: tuple[ToolSpec, ...]) -> dict[int, float]:
    """BM25 of each tool's name, description and parameters, by place; 0.0 where no word is shared."""
    bags = [Counter(terms(words_of(spec))) for spec in specs]
    average = sum(bag.total() for bag in bags) / max(len(bags), 1)
    spread = Counter(term for bag in bags for term in bag)
    found = dict.fromkeys(range(len(specs)), 0.0)
    for term in query_terms(task):
        rarity = math.log(1 + (len(bags) - spread[term] + 0.5) / (spread[term] + 0.5))
        for place, bag in enumerate(bags):
            if often := bag[term]:
                length = _K1 * (1 - _B + _B * bag.total() / (average or 1.0))
                found[place] += rarity * often * (_K1 + 1) / (often + length)
    return found


def words_of(spec: ToolSpec) -> str:
    """All that a tool says of itself, its names split into words."""
    parts = [spec.name, spec.description, *_parameters(spec.parameters)]
    return " ".join(re.sub(r"([a-z])([A-Z])", r"\1 \2", part.replace("_", " ")) for part in parts)


def _parameters(schema: Mapping[str, Any]) -> list[str]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    parts = []
    for name, part in properties.items():
        described = part.get("description", "") if isinstance(part, Mapping) else ""
        parts += [str(name), str(described)]
    return parts
