"""What a piece of text is made of: words, terms, and whether it is prose at all."""

from __future__ import annotations

import itertools
import re

from orchestra.text.terms import terms

_CODE_LINE = re.compile(
    r"\s+#|\s*(?:@\w|def \w|class \w+\b.*:$|import \w|from \S+ import\b|return\b"
    r"|(?:for|while|if|elif|with|try|except|else|case|match)\b.*:$"
    r"|[\w.\[\]]+(?:: [\w.\[\]]+)? [-+*/|&]?= ?\S|[\w.]+\([^)]*\)$|>>>|\$ |#!|//|/\*|[{}\[\]()<>]"
    r"|[\"'][^\"']*[\"']\s*[:,]|\w+: \w+$|.*[;{}]$|\w+ *::?=)"
)


def looks_like_code(text: str) -> bool:
    """Whether a block is program text, data or grammar rather than prose, told from its lines and signs."""
    lines = [line for line in text.split("\n") if line.strip()]
    coded = sum(1 for line in lines if _CODE_LINE.match(line))
    signs = len(re.findall(r"[{}\[\]=<>|\\\"]", re.sub(r"``.*?``|`[^`]*`", "", text, flags=re.DOTALL)))
    return coded * 2 > len(lines) or signs > 0.06 * len(text)


def term_set(text: str) -> frozenset[str]:
    """The terms of `text`, and its pairs of neighbours: "soft keyword" is more than soft and keyword."""
    found = terms(text)
    return frozenset(found) | {f"{one} {two}" for one, two in itertools.pairwise(found)}


def word_count(text: str) -> int:
    """Words as a reader counts them; each Chinese or Japanese character is one."""
    wide = len(re.findall("[\u3400-\u9fff\u3041-\u30ff]", text))
    return wide + len(re.sub("[\u3400-\u9fff\u3041-\u30ff]", " ", text).split())
