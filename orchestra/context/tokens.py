"""Exact token counts, with and without network.

`toktok` counts with the vocabulary compiled into its wheel: on 43,000 texts (English, Chinese, code, emoji,
random code points; 3.2 million tokens) its counts equal tiktoken's, at 10 µs for 4 KB instead of 140,
and it does not panic on a million spaces, which tiktoken does. So it goes first; tiktoken serves the older
encodings and platforms without a toktok wheel, and only where its vocabulary already lies in its cache.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import msgspec

from orchestra.errors import ConfigError
from orchestra.values.messages import Message, OutputSpec, ToolSpec

# What a chat format adds around a message and in front of the reply: OpenAI's cookbook, "How to count tokens
# with tiktoken", section 6 (tokens_per_message = 3; every reply is primed with 3).
MESSAGE_TOKENS = 3
REPLY_TOKENS = 3
# What surrounds one call in a reply: the harmony format's "to=functions.NAME", channel, constraint and call
# marks (openai/harmony, docs/format.md); the name and the arguments are counted as text.
CALL_TOKENS = 8
# What surrounds tool schemas: the cookbook's section 7 has 7 to 10 a function and 12 for the list. Schemas
# are counted as the compact JSON that is sent, which is more than the rendering of any known template.
TOOL_TOKENS = 10
TOOLS_TOKENS = 12

_NO_CUT = 1 << 62
_CACHE_SIZE = 4_096
# Counting this much takes 60 µs. A longer text is counted with Python's lock let go of, so that other threads
# go on; for a shorter one that costs more than it gains: whoever wakes up keeps the lock for up to 5 ms.
_SHORT_CHARACTERS = 20_000

# What is made in one place and shown in the next, as a brief, is counted in both: the very same text, so its
# tokens are kept for the last few that are long enough.
_WORTH_CHARACTERS = 2_000
_RECENT = 32

Measure = Callable[[str, int], tuple[str, int]]
Count = Callable[[str], int]


class Counter:
    """Counts and cuts text in one encoding. Shared by all sessions and threads; loads at the first use.

    `lines_add_up`: whether lines that begin with a letter or digit have the tokens together that each has by
    itself, counted with its line feed. So it is where the pattern that splits texts before tokens are made
    ends each piece behind line feeds: punctuation and white space take them in, letters and digits never do.
    """

    __slots__ = ("_lock", "_measure", "_once", "_recent", "_short", "_words", "encoding", "lines_add_up")

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self.lines_add_up = encoding in ("cl100k_base", "o200k_base")
        self._measure: Measure | None = None
        self._short: Count = self._measured  # what counts with Python's lock held, once that is loaded
        self._lock = Lock()
        self._once: dict[int, tuple[object, Any]] = {}
        self._words: dict[str, int] = {}
        self._recent: dict[int, tuple[str, int]] = {}

    def count(self, text: str) -> int:
        """Tokens of `text`; special tokens such as `<|endoftext|>` count as the plain text they are."""
        if len(text) > _WORTH_CHARACTERS:
            return self._count_long(text)
        try:
            return self._short(text)
        except UnicodeEncodeError:
            return self.measure(text, _NO_CUT)[1]

    def _count_long(self, text: str) -> int:
        """As `count`; the last few such texts, which are counted again where they go to, are known."""
        if len(text) > _SHORT_CHARACTERS:
            return self.measure(text, _NO_CUT)[1]
        known = self._recent.get(id(text))
        if known is not None and known[0] is text:
            return known[1]
        try:
            tokens = self._short(text)
        except UnicodeEncodeError:
            return self.measure(text, _NO_CUT)[1]
        self.know(text, tokens)
        return tokens

    def know(self, text: str, tokens: int) -> None:
        """This very text has so many tokens, as the sum of its parts, and will be counted before long."""
        if _WORTH_CHARACTERS < len(text) <= _SHORT_CHARACTERS:
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent[id(text)] = (text, tokens)

    def cut(self, text: str, tokens: int) -> str:
        """The longest beginning of `text` with at most `tokens` tokens, cut between two characters."""
        if tokens <= 0:
            return ""
        if surely_fits(text, tokens):
            return text
        head = text
        # Only a beginning is tokenised, four times as long as most texts need.
        for characters in (16 * tokens, 128 * tokens):
            if characters < len(text):
                head, whole = self.measure(text[:characters], tokens)
                if whole > tokens:
                    return self._within(head, tokens)
        head, whole = self.measure(text, tokens)
        return self._within(head, tokens) if whole > tokens else head

    def measure(self, text: str, tokens: int) -> tuple[str, int]:
        """The beginning of `text` and the tokens of the whole, in one pass."""
        measure = self._measure or self.load()
        try:
            return measure(text, tokens)
        except UnicodeEncodeError:  # a lone surrogate is sent as U+FFFD, so it is counted as that
            return measure(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), tokens)

    def message(self, message: Message) -> int:
        """Tokens of a message with what the chat format adds to it."""
        tokens = MESSAGE_TOKENS + (self.count(message.text) if message.text else 0)
        if message.reasoning:
            tokens += self.count(message.reasoning)
        for call in message.calls:
            tokens += CALL_TOKENS + self.known(call.name) + self.count(call.arguments)
        return tokens

    def tool(self, spec: ToolSpec) -> int:
        """Tokens of a tool's schema as sent, counted once for each spec."""
        tokens: int = self.once(spec, _tool_tokens)
        return tokens

    def output(self, spec: OutputSpec) -> tuple[str, int]:
        """An output's schema as compact JSON and its tokens, made once for each spec."""
        known: tuple[str, int] = self.once(spec, _output_tokens)
        return known

    def known(self, word: str) -> int:
        """Tokens of a short text that comes again and again, as the name of a tool."""
        tokens = self._words.get(word)
        if tokens is None:
            if len(self._words) >= _CACHE_SIZE:  # models also call what there is not
                self._words.clear()
            tokens = self._words[word] = self.count(word)
        return tokens

    def once(self, thing: Any, make: Callable[[Any, Counter], Any]) -> Any:
        """What `make` gives for an immutable thing that many prompts share, once for that very object.

        One thing is always asked for with the same `make`.
        """
        known = self._once.get(id(thing))
        if known is None or known[0] is not thing:
            if len(self._once) >= _CACHE_SIZE:
                self._once.clear()
            # Held here, its id is not given to another.
            known = self._once[id(thing)] = (thing, make(thing, self))
        return known[1]

    def load(self) -> Measure:
        """Load the vocabulary (0.2 to 0.4 s of CPU), which a runtime may do in a thread beforehand."""
        with self._lock:
            if self._measure is None:
                self._measure, short = _measure_of(self.encoding)
                self._short = short or self._measured
            return self._measure

    def _measured(self, text: str) -> int:
        """As `count`, in one pass that may let go of Python's lock."""
        return self.measure(text, _NO_CUT)[1]

    def _within(self, text: str, tokens: int) -> str:
        """A beginning can, rarely, have more tokens by itself than it had inside the whole."""
        limit = tokens
        while limit > 0 and self.count(text) > tokens:
            limit -= 1
            text = self.measure(text, limit)[0]
        return text if limit > 0 else ""


def most_tokens(text: str) -> int:
    """What a text cannot exceed, without counting it: a token has at least one byte."""
    return len(text) if text.isascii() else 4 * len(text)


def surely_fits(text: str, tokens: int) -> bool:
    """Whether a text is so short that it need not be counted to know that it fits."""
    return len(text) <= tokens and most_tokens(text) <= tokens


def joins_cleanly(text: str) -> bool:
    """Whether a text that follows a line end has there the tokens that it has by itself, and so has the line.

    Where `lines_add_up`: the encoding cuts a text into pieces first, and no token reaches over two of them.
    A line end ends its piece but before more white space, or, in o200k_base, a slash.
    """
    first = text[:1]
    return not (first.isspace() or first in "/")  # nothing at all is in it, too


def counter_for(model: str) -> Counter:
    """The counter for a model by its name; models of other houses are counted in o200k_base."""
    return _counter(encoding_of(model))


def encoding_of(model: str) -> str:
    """cl100k_base for GPT-4, GPT-3.5 and embeddings; o200k_base for what came later and for all others."""
    name = model.rsplit("/", 1)[-1].lower().removeprefix("ft:")
    if name in ("cl100k_base", "o200k_base", "p50k_base", "r50k_base"):
        return name
    if name.startswith(("gpt-4o", "gpt-4.")):
        return "o200k_base"
    if name.startswith(("gpt-4", "gpt-3.5", "gpt-35", "text-embedding-")):
        return "cl100k_base"
    return "o200k_base"


def tool_json(spec: ToolSpec) -> str:
    """A tool's schema as compact JSON."""
    sheet = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return msgspec.json.encode(sheet).decode()


def _tool_tokens(spec: ToolSpec, counter: Counter) -> int:
    return TOOL_TOKENS + counter.count(tool_json(spec))


def _output_tokens(spec: OutputSpec, counter: Counter) -> tuple[str, int]:
    text = msgspec.json.encode(spec.schema).decode()
    return text, counter.count(text)


@cache
def _counter(encoding: str) -> Counter:
    return Counter(encoding)


def _measure_of(encoding: str) -> tuple[Measure, Count | None]:
    """What cuts and counts; and what counts without letting go of Python's lock, None for nothing."""
    try:
        import toktok  # type: ignore[import-untyped]  # ships no annotations
    except ImportError:  # no wheel for this platform
        return _tiktoken_measure(encoding), None
    if encoding not in ("cl100k_base", "o200k_base"):
        return _tiktoken_measure(encoding), None
    toktok.truncate("", 1, encoding)
    try:
        # What `truncate` itself goes to, looked up once; its `count` is in no public function.
        tokenizer = toktok._encoding(encoding)
        count, truncate = tokenizer.count, tokenizer.truncate
    except AttributeError:
        return lambda text, tokens: toktok.truncate(text, tokens, encoding), None
    return truncate, count


def _tiktoken_measure(encoding: str) -> Measure:
    if not vocabulary_at_hand(encoding):
        raise ConfigError(
            f"No vocabulary for {encoding} is at hand and none is downloaded; "
            "set TIKTOKEN_CACHE_DIR to a folder that holds it, or use o200k_base.",
            key="encoding",
        )
    import tiktoken

    vocabulary = tiktoken.get_encoding(encoding)

    def measure(text: str, tokens: int) -> tuple[str, int]:
        ids = vocabulary.encode_ordinary(text)
        if len(ids) <= tokens:
            return text, len(ids)
        kept = vocabulary.decode_bytes(ids[:tokens]).decode("utf-8", "ignore")
        return kept, len(ids)

    return measure


def vocabulary_at_hand(encoding: str) -> bool:
    """Whether tiktoken's own cache holds this encoding, so that loading it downloads nothing.

    The cache folder and the names in it are those of tiktoken/load.py (sha1 of the file's address).
    """
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
    name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    return bool(folder) and os.path.isfile(os.path.join(folder, name))
