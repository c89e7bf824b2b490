"""What an endpoint's failure means: every error of an HTTP status is made here."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from orchestra.errors import ContextTooLong, ModelError, ModelRefused, ModelThrottled, ModelUnreachable
from orchestra.models.compatible.transport import Answer, Place

_SHOWN = 300


class Said(Struct, frozen=True):
    """An endpoint's own words about a failure; `code`, `kind` and `param` are "" where it gave none."""

    message: str
    code: str = ""
    kind: str = ""
    param: str = ""

    @property
    def all(self) -> str:
        return " ".join((self.message, self.code, self.kind, self.param)).lower()


def said(body: bytes) -> Said:
    """The words in an error body of any shape that providers use, an HTML page or nothing included."""
    text = body.decode("utf-8", "replace").strip()
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Said(_page_title(text)[:_SHOWN])
    if isinstance(data, list) and data:  # Gemini wraps its error in a list
        data = data[0]
    if not isinstance(data, dict):
        return Said(str(data)[:_SHOWN])
    return said_by(data)


def said_by(data: Mapping[str, object]) -> Said:
    """The words in a decoded error object, or in a body that has one under `error`."""
    inner = data.get("error", data)
    if not isinstance(inner, Mapping):
        return Said(str(inner)[:_SHOWN])
    message = inner.get("message") or inner.get("detail") or inner.get("msg") or inner.get("error") or inner
    metadata = inner.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):  # OpenRouter: the provider's own words
        message = f"{message}: {metadata['raw']}"
    if not isinstance(message, str):
        message = msgspec.json.encode(message).decode()
    code, kind, param = (inner.get(key) for key in ("code", "type", "param"))
    return Said(message, *("" if part is None else str(part) for part in (code, kind, param)))


def _page_title(text: str) -> str:
    title = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", text, re.IGNORECASE | re.DOTALL)
    if title:
        return " ".join(title[2].split())
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


_TOO_LONG = re.compile(
    r"context[_ ]length|context (?:size|window|limit)|maximum context|context the overflows"
    r"|prompt is too long|input is too long|input token count|too large for model"
    r"|exceed_context_size|range of input length|too many (?:input )?tokens|inputs?\W+tokens \+"
    r"|reduce the length of the (?:messages|prompt|input)|maximum (?:input|prompt) length"
    r"|input length (?:and|\+)|longer than the model'?s? (?:maximum|context)",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:maximum context length (?:is|of)|context length of only|context size \(|context window (?:of|is)"
    r"|maximum number of tokens allowed \(|> |with|must be <=|\[1, ?|limit(?: is| of)?|maximum of)\s*"
    r"(\d[\d,_]{2,})",
    re.IGNORECASE,
)


def too_long(words: Said) -> bool:
    """True where a 400 or 413 means that the prompt does not fit."""
    return bool(_TOO_LONG.search(words.all))


def filtered(words: Said) -> bool:
    """True where the endpoint's content filter refused the prompt."""
    return bool(
        re.search(r"content_filter|content management policy|content policy|responsible.?ai", words.all)
    )


def window_in(words: Said) -> int | None:
    """The window that the words name, in tokens."""
    found = _WINDOW.search(words.message)
    return int(re.sub(r"\D", "", found[1])) if found else None


_TRY_IN = re.compile(r"(?:try|retry)[^.]{0,30}? in (?:(\d+)m)?(\d+(?:\.\d+)?)(ms|s)", re.IGNORECASE)


def retry_after(headers: Mapping[str, str], words: Said) -> float | None:
    """Seconds to wait, from the headers in their three forms or from the words; None if not said."""
    if "retry-after-ms" in headers:
        return _seconds(headers["retry-after-ms"], 0.001)
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    date = email.utils.parsedate_tz(value) if value else None
    if date is not None:
        return max(0.0, email.utils.mktime_tz(date) - time.time())
    named = _TRY_IN.search(words.message)
    if named:
        return int(named[1] or 0) * 60 + float(named[2]) * (0.001 if named[3] == "ms" else 1.0)
    return None


def _seconds(value: str, unit: float = 1.0) -> float | None:
    try:
        return max(0.0, float(value) * unit)
    except ValueError:
        return None


def of_answer(place: Place, answer: Answer) -> ModelError:
    """The error that a reply which is not a success stands for."""
    return of_words(place, answer.status, answer.headers, said(answer.body))


def of_words(place: Place, status: int, headers: Mapping[str, str], words: Said) -> ModelError:
    told = place.hide(words.message)[:_SHOWN].rstrip(".") or "no reason given"
    where = f"Endpoint {place.endpoint} (model {place.model}, status {status})"
    endpoint, model = place.endpoint, place.model
    if status == 429 and not _spent(words):
        wait = retry_after(headers, words)
        pause = "" if wait is None else f"; it asks for a pause of {wait:g} s"
        message = (
            f"{where} is asked too often: {told}{pause}. Lower its concurrency or its requests per minute."
        )
        return ModelThrottled(message, endpoint=endpoint, model=model, retry_after=wait)
    if status in {400, 413, 422, 500} and too_long(words):
        message = f"{where} cannot take so long a prompt: {told}. Set the window of this model lower."
        return ContextTooLong(message, endpoint=endpoint, model=model, status=status, window=window_in(words))
    if status in {408, 409, 425} or status >= 500:
        message = f"{where} could not answer: {told}. Try again later."
        return ModelUnreachable(message, endpoint=endpoint, model=model, status=status)
    advice = _advice(status, told, words, place)
    return ModelRefused(f"{where} {advice}", endpoint=endpoint, model=model, status=status)


def _spent(words: Said) -> bool:
    """A 429 that no waiting cures."""
    return "insufficient_quota" in words.all or "insufficient balance" in words.all


def _advice(status: int, told: str, words: Said, place: Place) -> str:
    if status == 401:
        return f"did not accept the key: {told}. Check the key of endpoint {place.endpoint}."
    if status == 402 or (status == 429 and _spent(words)):
        return f"says that the account is used up: {told}. Add credit, or use another endpoint."
    if status == 403:
        return f"does not allow this key to do this: {told}. Check the key's rights and the region."
    if status == 404 and ("model" in words.all or "deployment" in words.all):
        return (
            f"has no such model: {told}. Choose one that `orchestra endpoints test {place.endpoint}` lists."
        )
    if filtered(words):
        return f"filtered this prompt out: {told}. Change the question or its sources."
    if status in {404, 405}:
        return f"has no chat completions at this address: {told}. Check the url of endpoint {place.endpoint}."
    return f"refused the request: {told}. Change the request or the settings of this model."


def unreachable(place: Place, what: str) -> ModelUnreachable:
    """A failure below HTTP: `what` goes on from "Endpoint x (model y) "."""
    return ModelUnreachable(
        f"Endpoint {place.endpoint} (model {place.model}) {place.hide(what)}.",
        endpoint=place.endpoint,
        model=place.model,
    )


def refused(place: Place, what: str, status: int | None = None) -> ModelRefused:
    """A reply that will come again in the same way; `what` goes on from "Endpoint x (model y) "."""
    return ModelRefused(
        f"Endpoint {place.endpoint} (model {place.model}) {place.hide(what)}.",
        endpoint=place.endpoint,
        model=place.model,
        status=status,
    )
