"""The adapter: one model at one compatible endpoint, behind the port."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from operator import attrgetter

import anyio
import msgspec

from orchestra.errors import (
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelThrottled,
    ModelUnreachable,
    OutputInvalid,
)
from orchestra.models.compatible.failures import of_answer, of_words, refused, said, said_by, unreachable
from orchestra.models.compatible.interpret import Read, read
from orchestra.models.compatible.knowledge import Attempt, Knowledge
from orchestra.models.compatible.parse import Account, Parsed, counts_of, decode_body, parsed
from orchestra.models.compatible.plain import plainly
from orchestra.models.compatible.quirks import Quirks
from orchestra.models.compatible.repair import afforded, check_request, repair_request, repair_tokens
from orchestra.models.compatible.shape import Outgoing, Shaper
from orchestra.models.compatible.streaming import Pieces
from orchestra.models.compatible.transport import Answer, Place, Transport
from orchestra.models.governor.listening import Ear
from orchestra.models.settings import TierSetting
from orchestra.values.messages import Delta, Reply, Request
from orchestra.values.usage import NO_USAGE, Usage

_PATH = "/chat/completions"


class CompatibleModel:
    """A model at an OpenAI-compatible endpoint, shared by all sessions.

    `knowledge` holds what is known of the endpoint and grows by its refusals; a refusal that teaches
    something is followed by another try at once, any other is raised. A reply that does not fit the output
    asked for gets one repair turn. Every error carries the usage of what was billed before it. `account` says
    what replies cost, `ear` hears what they say of limits; None for what nobody knows or minds.
    """

    def __init__(
        self,
        place: Place,
        setting: TierSetting,
        transport: Transport,
        knowledge: Knowledge,
        *,
        account: Account | None = None,
        ear: Ear | None = None,
    ) -> None:
        self._place = place
        self._transport = transport
        self._knowledge = knowledge
        self._account = account or Account(place.model)
        self._ear = ear
        self._shaper = Shaper(setting)
        self._checking = anyio.Lock()

    @property
    def name(self) -> str:
        return self._place.model

    window = property(attrgetter("_knowledge.window"))

    @property
    def quirks(self) -> Quirks:
        """What is known of this model's endpoint by now."""
        return self._knowledge.quirks

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        price = self._account.price
        if price is not None:
            return price.cost(input_tokens, output_tokens)
        return 0.0 if self._account.free else None

    async def reply(self, request: Request) -> Reply:
        started = time.perf_counter()
        knowledge = self._knowledge
        quirks = knowledge.quirks
        sent, body = self._shaper.shape(request, quirks)
        answer = await self._transport.post(self._place, quirks.url + _PATH, body)
        ear = self._ear
        if ear is not None and ear.open:
            ear.headers(answer.headers)
        if answer.status == 200 and not (request.tools and knowledge.doubts_tools):
            plain = plainly(request, sent, answer.body, self._account, started)
            if plain is not None:
                return plain
        if answer.status >= 300:
            sent, answer = await self._ask(request, self._refusal(answer, sent, quirks))
        got = self._parse(answer)
        result = read(request, sent, got)
        if result.problem or (request.tools and knowledge.doubts_tools):
            return await self._settle(request, sent, got, result, started)
        return self._made(got, result, self._usage(got), started)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        started = time.perf_counter()
        pieces = Pieces(request)
        async with aclosing(self._streamed(request, pieces)) as streamed:
            async for deltas in streamed:
                for delta in deltas:
                    yield delta
        result = read(request, pieces.sent, pieces.reply)
        reply = await self._settle(request, pieces.sent, pieces.reply, result, started)
        for call in reply.calls[pieces.given :]:
            yield Delta(call=call)
        yield reply

    async def _ask(self, request: Request, lesson: Attempt | None = None) -> tuple[Outgoing, Answer]:
        """The request in the endpoint's dialect, as often as its refusals teach something new."""
        lesson = lesson or self._knowledge.attempt()
        while True:
            sent, body = self._shaper.shape(request, lesson.quirks)
            answer = await self._transport.post(self._place, lesson.quirks.url + _PATH, body)
            self._hear(answer.headers)
            if answer.status < 300:
                lesson.keep()
                return sent, answer
            self._learn(lesson, answer, sent)

    def _refusal(self, answer: Answer, sent: Outgoing, quirks: Quirks) -> Attempt:
        """What a first refusal teaches, on trial. Raises what it says where that is nothing new."""
        lesson = self._knowledge.attempt(quirks)
        self._learn(lesson, answer, sent)
        return lesson

    def _learn(self, lesson: Attempt, answer: Answer, sent: Outgoing) -> None:
        if self._ear is not None:
            self._ear.refusal(answer.status, answer.body)
        if not lesson.learn(answer.status, said(answer.body), sent):
            raise self._raised(of_answer(self._place, answer))

    def _hear(self, headers: Mapping[str, str]) -> None:
        if self._ear is not None and self._ear.open:
            self._ear.headers(headers)

    async def _streamed(self, request: Request, pieces: Pieces) -> AsyncGenerator[list[Delta], None]:
        """The deltas of each chunk; `pieces` is whole at the end."""
        lesson = self._knowledge.attempt()
        while True:
            pieces.sent, body = self._shaper.shape(request, lesson.quirks, stream=True)
            stream = await self._transport.open(self._place, lesson.quirks.url + _PATH, body)
            self._hear(stream.headers)
            try:
                if stream.status >= 300:
                    answer = Answer(stream.status, stream.headers, await stream.read())
                    self._learn(lesson, answer, pieces.sent)
                    continue
                lesson.keep()
                if "json" in stream.headers.get("content-type", ""):
                    pieces.reply = self._parse(Answer(stream.status, stream.headers, await stream.read()))
                    return
                async with aclosing(stream.chunks()) as chunks:
                    async for chunk in chunks:
                        yield pieces.feed(chunk)
                        if pieces.failure is not None:
                            raise self._failed(pieces.failure, self._usage(pieces.reply))
                        if pieces.done:
                            await stream.finish()
                            break
                yield pieces.end()
                if not pieces.finished:
                    raise _billed(
                        unreachable(self._place, "ended its reply in the middle"),
                        self._usage(pieces.reply),
                    )
                return
            finally:
                await stream.close()

    def _parse(self, answer: Answer) -> Parsed:
        try:
            body = decode_body(answer.body)
        except msgspec.DecodeError as wrong:
            if answer.body.lstrip()[:1] == b"<":
                page = said(answer.body).message
                raise refused(
                    self._place,
                    f"answered with a web page ({page!r}) and not with JSON: check its url",
                    answer.status,
                ) from wrong
            raise unreachable(self._place, f"sent a reply that is not whole JSON ({wrong})") from wrong
        if body.error and not body.choices:
            raise self._failed(body.error, NO_USAGE)
        if body.choices is None:
            raise refused(self._place, "answered without `choices`: it does not speak chat completions here")
        return parsed(body)

    def _failed(self, error: object, usage: Usage) -> ModelError:
        """An error that came inside a reply of status 200."""
        words = said_by({"error": error})
        status = int(words.code) if words.code.isdigit() and 400 <= int(words.code) < 600 else 502
        return _billed(self._raised(of_words(self._place, status, {}, words)), usage)

    def _raised(self, error: ModelError) -> ModelError:
        if isinstance(error, ContextTooLong) and error.window is not None:
            self._knowledge.window_is(error.window)
        return error

    async def _settle(
        self, request: Request, sent: Outgoing, got: Parsed, result: Read, started: float
    ) -> Reply:
        """The reply as a value of ours, after a check of its tools and a repair turn where they are due."""
        usage = self._usage(got)
        try:
            doubtful = request.tools and self._knowledge.saw_tools(request, sent, result)
            if doubtful and afforded(request, 0):
                usage += await self._check_tools()
                if self.quirks.tools == "emulated" and afforded(request, 0):
                    sent, answer = await self._ask(request)
                    got = self._parse(answer)
                    usage += self._usage(got)
                    result = read(request, sent, got)
            mendable = result.problem and not result.hopeless and sent.mode is not None
            if mendable and afforded(request, repair_tokens(result)):
                request = repair_request(request, result)
                sent, answer = await self._ask(request)
                got = self._parse(answer)
                usage += self._usage(got)
                second = read(request, sent, got)
                self._knowledge.saw_formats(sent, (result, second))
                result = second
        except ModelError as error:
            raise _billed(error, usage) from error.__cause__
        if result.problem:
            raise _billed(self._invalid(request, result), usage)
        return self._made(got, result, usage, started)

    def _usage(self, got: Parsed) -> Usage:
        return self._account.usage(counts_of(got.usage))

    def _made(self, got: Parsed, result: Read, usage: Usage, started: float) -> Reply:
        value = result.value
        return Reply(
            text=result.text,
            calls=result.calls,
            value=value,
            reasoning=result.reasoning,
            usage=usage,
            finish=result.finish,
            model=got.model or self._place.model,
            seconds=time.perf_counter() - started,
            exact=value is not None,
        )

    async def _check_tools(self) -> Usage:
        """Ask, once, for a call that only an endpoint without tools can fail to make.

        Calls that come to need the check at the same time wait for the first one's.
        """
        async with self._checking:
            if self.quirks.tools != "unknown":
                return NO_USAGE
            request = check_request()
            try:
                sent, answer = await self._ask(request)
            except ModelRefused:
                self._knowledge.ignores_tools()
                return NO_USAGE
            except (ModelThrottled, ModelUnreachable):
                return NO_USAGE  # it has not been made: the next call that leaves doubt makes it
            got = self._parse(answer)
            self._knowledge.saw_tools(request, sent, read(request, sent, got))
            return self._usage(got)

    def _invalid(self, request: Request, result: Read) -> ModelError:
        if result.hopeless:
            return refused(
                self._place, f"gave no {request.output.name if request.output else 'text'}: {result.problem}"
            )
        if request.output is None and result.finish != "length" and not result.text:
            return unreachable(self._place, f"sent nothing of use: {result.problem}")
        wanted = f"a {request.output.name}" if request.output else "a usable reply"
        advice = "raise max_output" if result.finish == "length" else "use a larger model"
        return OutputInvalid(
            f"Endpoint {self._place.endpoint} (model {self._place.model}) did not give {wanted}: "
            f"{self._place.hide(result.problem)[:300]}; {advice}.",
            endpoint=self._place.endpoint,
            model=self._place.model,
            problem=result.problem,
        )


def _billed(error: ModelError, usage: Usage) -> ModelError:
    error.usage = usage if error.usage is None else error.usage + usage
    return error
