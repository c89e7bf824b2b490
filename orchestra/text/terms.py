"""Search terms: what of a text is compared when something is looked for.

English is lower-cased, stemmed and freed of stop words; accents are folded; names of code stay findable
whole and by their parts (`build_wheel` also as build and wheel, `ExceptionGroup` as exception and group,
`except*` as except). Chinese, Japanese, Korean and other scripts without spaces become pairs of characters,
a single character where it stands alone. The same function cuts what is indexed and what is asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from threading import Lock

import Stemmer  # type: ignore[import-not-found]  # it ships no types

VERSION = 1
"""Raised when the same text gives other terms than before, so that an index knows it is old."""

LONGEST = 64
"""Characters of a term; more (a hash, a line of base64) are cut off."""

_KNOWN = 4 * LONGEST  # characters of a word that is remembered; sentences of a few words have no longer one

# Scripts written without spaces, and Korean, whose particles stick to its nouns.
_UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
_LETTER = f"[^\\W{_UNSPACED}]"
_TOKEN = re.compile(
    f"[{_UNSPACED}]+"  # a run of characters to be paired
    r"|\d{1,3}(?:,\d{3}){1,5}(?:\.\d+)?%?(?![\w,])"  # 1,000.50
    rf"|(?<!\*){_LETTER}++\*(?![\w*])"  # except*, but not the end of *emphasis*
    rf"|{_LETTER}+(?:[-.'’]{_LETTER}+)*(?:\+\+|%|\#(?!\w))?"  # words, dotted and hyphened names, C++, 10%
)
# The same where there is nothing but ASCII and no asterisk, which is quicker to look for.
_PLAIN_TOKEN = re.compile(
    r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d+)?%?(?![\w,])|\w+(?:[-.']\w+)*(?:\+\+|%|\#(?!\w))?", re.ASCII
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]")
_JOINT = re.compile(r"[-._*%+#]+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
_KANA = re.compile("[\u3041-\u309f]+")

_STOP_WORDS = """
    a about above after again all also although am an and any are aren as at be because been before being
    below between both but by can cannot could couldn did didn do does doesn doing don done down during each
    either else etc ever every few for from further had hadn has hasn have haven having he her here hers
    herself him himself his how however i if in into is isn it its itself just let ll may me might mine more
    most much must my myself neither no nor not now of off on once one only onto or other our ours ourselves
    out over own per please quite rather re same shall she should shouldn since so some still such tell than
    that the their theirs them themselves then there these they this those though through thus to too under
    until up upon us ve very via was wasn we were weren what whatever when where whether which while who whom
    whose why will with within without won would wouldn yet you your yours yourself yourselves
    """
STOP_WORDS = frozenset(_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """All search terms of `text` in their order, repeats included."""
    if text.isascii() and "*" not in text:
        # No term goes on beyond a blank, so each word is cut by itself, and a word that was cut is known.
        words = text.split()
        # Between two words there is a blank, and each of the others has a character at least.
        longest = len(text) - 2 * (len(words) - 1)
        if longest < _KNOWN or len(max(words, key=len)) <= _KNOWN:
            return list(chain.from_iterable(map(_terms_in, words)))
        return _terms_of_all(_PLAIN_TOKEN.findall(text))
    return _terms_of_all(_TOKEN.findall(_compose(text)))


def query_terms(text: str) -> list[str]:
    """The different terms of a question in their order.

    Japanese pairs of plain hiragana (particles, endings) count only where nothing else was asked.
    """
    found = list(dict.fromkeys(terms(text)))
    telling = [term for term in found if not _KANA.fullmatch(term)]
    return telling or found


def stem(word: str) -> str:
    """One lower-case word's stem."""
    return _stems((word,))[0]


def _compose(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=1 << 15)
def _terms_in(word: str) -> tuple[str, ...]:
    """Those of one word of ASCII with the marks that stand at it."""
    return tuple(_terms_of_all(_PLAIN_TOKEN.findall(word)))


def _terms_of_all(tokens: Iterable[str]) -> list[str]:
    found: list[str] = []
    for token in tokens:
        found += _terms_of(token) if len(token) <= LONGEST else _cut(token)
    return found


@lru_cache(maxsize=1 << 16)
def _terms_of(token: str) -> tuple[str, ...]:
    return _cut(token)


def _cut(token: str) -> tuple[str, ...]:
    if len(token) <= LONGEST and token.isascii() and token.isdigit():
        return _number(token)
    if _UNSPACED_RUN.match(token):
        return _pairs(token)
    if token[0].isdigit() and not any(char.isalpha() for char in token):
        return _number(token)
    name = _without_clitic(token)[:LONGEST]
    name = name if name.isascii() else _without_accents(name)
    parts = [hump.casefold() for hump in _HUMP.findall(name)]
    plain = name.casefold()
    if len(parts) < 2 and plain.isalnum():
        return () if plain in STOP_WORDS else (stem(plain),)
    whole = _whole(plain)
    kept = [part for part in parts if part not in STOP_WORDS and (len(part) > 1 or part.isdigit())]
    cut = (_number(part)[-1] if part.isdigit() else stem(part) for part in kept)
    return tuple(dict.fromkeys((whole, *cut)))


def _pairs(run: str) -> tuple[str, ...]:
    if len(run) == 1:
        return (run,)
    return tuple(run[at : at + 2] for at in range(len(run) - 1))


def _number(token: str) -> tuple[str, ...]:
    """`1,000` as 1000, `10%` also as 10, `0517` also as 517, `2017-09-11` also by its parts."""
    if len(token) <= LONGEST and token.isascii() and token.isdigit():  # the usual case
        bare = token.lstrip("0") or "0"
        return (token,) if bare == token else (token, bare)
    whole = re.sub(r",(?=\d{3}(?!\d))", "", token).replace(",", ".")
    bare = whole.rstrip("%")
    parts = [bare] if bare.startswith("0.") else [part.lstrip("0") or "0" for part in bare.split("-")]
    return tuple(dict.fromkeys((whole[:LONGEST], *(part[:LONGEST] for part in parts))))


def _without_clitic(token: str) -> str:
    """`don't` as don, `Guido's` as Guido; other apostrophes become joints (`O'Reilly` as O-Reilly)."""
    head, mark, tail = token.replace("’", "'").rpartition("'")
    if mark and tail.lower() in ("s", "t", "re", "ve", "ll", "d", "m"):
        token = head
    return token.replace("'", "-")


def _without_accents(word: str) -> str:
    bare = (char for char in unicodedata.normalize("NFD", word) if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", "".join(bare))


def _whole(plain: str) -> str:
    """A compound name with each part stemmed, so that `license-file` and `license-files` meet."""
    joints = _JOINT.findall(plain)
    pieces = _JOINT.split(plain)
    stems = _stems(pieces)
    return "".join(piece + joint for piece, joint in zip(stems, [*joints, ""], strict=True))[:LONGEST]


_stemming = Lock()  # a stemmer works in one buffer of its own


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", 0)


def _stems(words: Iterable[str]) -> list[str]:
    with _stemming:
        return [str(word) for word in _stemmer().stemWords([_american(word) for word in words])]


def _american(word: str) -> str:
    """British spelling as American; applied to both sides, so a word it spoils is still found."""
    if len(word) < 6 or not word.isascii():
        return word
    word = re.sub(r"(?<=[a-z]{2})our(?=$|s$|ed$|ing$|al$|able$|ite$)", "or", word)
    word = re.sub(r"(?<=[a-z]{2}[dgklmnrst])is(?=e$|ed$|es$|er$|ers$|ing$|ation$|ations$|able$)", "iz", word)
    word = re.sub(r"(?<=al)ys(?=e$|ed$|es$|er$|ers$|ing$)", "yz", word)
    return re.sub(r"^(lic|def|off|pret)enc(?=e$|es$|ed$)", r"\1ens", word)
