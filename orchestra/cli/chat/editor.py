"""The line that a person types in: several lines, completion, history; prompt_toolkit behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.styles import Style

from orchestra.cli.chat.reading import Broken, Choices, Pastes
from orchestra.cli.printing import columns, line, safe
from orchestra.text.fold import whole_characters

_STYLE = Style.from_dict({"bottom-toolbar": "noreverse ansibrightblack", "label": "bold"})


class Editor:
    """Enter sends; Alt-Enter or Ctrl-J begins a new line. What is pasted is never sent by itself."""

    def __init__(self, choices: Choices, foot: Callable[[], str]) -> None:
        self._pastes = Pastes()
        self._history = InMemoryHistory()
        self._foot = foot
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=self._history,
            completer=_Choices(choices),
            complete_while_typing=Condition(self._types_a_command),
            key_bindings=self._keys(),
            prompt_continuation=lambda _width, _number, _wrapped: "  ",
            style=_STYLE,
            interrupt_exception=Broken,
            eof_exception=EOFError,
            reserve_space_for_menu=4,
            enable_open_in_editor=False,
            enable_suspend=True,
        )

    async def read(self, label: str) -> str | None:
        width = columns() - 1
        foot = FormattedText([("class:bottom-toolbar", line(self._foot(), width))])
        try:
            typed = await self._session.prompt_async(
                FormattedText([("class:label", label)]), bottom_toolbar=foot, handle_sigint=False
            )
        except EOFError:
            return None
        return whole_characters(self._pastes.whole(typed))

    async def ask(self, label: str) -> str | None:
        """One line that Up does not bring back."""
        session: PromptSession[str] = PromptSession(interrupt_exception=Broken, eof_exception=EOFError)
        try:
            typed = await session.prompt_async(FormattedText([("", label)]), handle_sigint=False)
        except EOFError:
            return None
        return whole_characters(typed)

    def remember(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._history.append_string(safe(text))

    def _types_a_command(self) -> bool:
        return self._session.default_buffer.text.startswith("/")

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def send(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
                buffer.complete_state = None  # it is taken, and may be gone on with
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        @keys.add("c-j")
        def new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add(Keys.BracketedPaste)
        def paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            event.current_buffer.insert_text(self._pastes.mark(text))

        return keys


class _Choices(Completer):
    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor
        if not typed.startswith("/") or "\n" in typed:
            return
        word = typed.rpartition(" ")[2]
        for text, about in self._choices(typed):
            yield Completion(text, start_position=-len(word), display_meta=safe(about))
