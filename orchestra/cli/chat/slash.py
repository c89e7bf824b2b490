"""What a person can ask the chat itself: commands that begin with a slash."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from msgspec import Struct

from orchestra.cli.chat import looking, saving
from orchestra.cli.chat.opening import Talk
from orchestra.cli.chat.screen import Screen
from orchestra.cli.printing import number
from orchestra.config.nearest import hint
from orchestra.errors import InputError
from orchestra.session.conversation import Conversation

Do = Callable[["Slash", str], Awaitable[None]]


class Command(Struct, frozen=True):
    """`takes`: what stands behind the name, "" for nothing; in brackets where it may be left out."""

    about: str
    do: Do
    takes: str = ""


class Slash:
    """The commands of one chat. `leaving`: whether the person wants to leave."""

    def __init__(self, talk: Talk, screen: Screen) -> None:
        self.talk = talk
        self.screen = screen
        self.leaving = False

    @property
    def conversation(self) -> Conversation:
        """Raises InputError before anything was said."""
        if self.talk.conversation is None:
            raise InputError("Nothing has been said yet.")
        return self.talk.conversation

    async def __call__(self, typed: str) -> None:
        """One command. Raises OrchestraError with a sentence for the person."""
        name, _, rest = typed.partition(" ")
        command = COMMANDS.get(name)
        if command is None:
            raise InputError(
                f"There is no {name}.{hint(name, COMMANDS)} /help lists the commands; "
                "begin with // to say something that begins with a slash."
            )
        rest = rest.strip()
        if command.takes and not command.takes.startswith("[") and not rest:
            raise InputError(f"{name} needs {command.takes}.")
        await command.do(self, rest)

    def choices(self, typed: str) -> Iterable[tuple[str, str]]:
        """Completions of the last word that was typed."""
        name, space, rest = typed.partition(" ")
        if not space:
            return [(each, command.about) for each, command in COMMANDS.items() if each.startswith(name)]
        if " " in rest or self.talk.conversation is None or name not in COMMANDS:
            return ()
        context = self.talk.conversation.context
        if COMMANDS[name].takes == "BLOCK":
            blocks = reversed(context.blocks)
            wanted = [block for block in blocks if name != "/unpin" or block.pinned]
            found = [(block.id, f"{block.source} · {block.tokens:,} tokens") for block in wanted]
        elif COMMANDS[name].takes == "[VERSION]":
            found = [(str(each.number), f"by {each.by}") for each in context.keeping.versions]
        else:
            return ()
        return [(text, about) for text, about in found if text.startswith(rest)]


async def _context(slash: Slash, _rest: str) -> None:
    looking.print_context(slash.conversation)


async def _tokens(slash: Slash, _rest: str) -> None:
    conversation = slash.conversation
    assert slash.talk.session is not None
    looking.print_tokens(slash.talk.session, conversation, slash.talk.before)


async def _why(slash: Slash, block: str) -> None:
    looking.print_block(slash.conversation, block)


async def _pin(slash: Slash, block: str) -> None:
    await slash.conversation.pin(block)
    slash.screen.note(f"{block} stays whatever happens; /unpin {block} takes that back.")


async def _unpin(slash: Slash, block: str) -> None:
    await slash.conversation.pin(block, pinned=False)
    slash.screen.note(f"{block} may leave again when room is needed.")


async def _recall(slash: Slash, words: str) -> None:
    context = slash.conversation.context
    slash.screen.say(context.recall(words, context.policy.result_tokens))


async def _compact(slash: Slash, _rest: str) -> None:
    done = await slash.conversation.compact()
    if done is None:
        slash.screen.note("Nothing can leave: all there is are the last turns and what is pinned.")
        return
    kept = f"summary version {done.version}" if done.version else "no summary: the originals can be recalled"
    refused = f" (not taken: {done.refused})" if done.refused else ""
    left = number(len(done.left), "block")
    slash.screen.note(f"{left} left, {done.before:,} → {done.after:,} tokens; {kept}{refused}")


async def _restore(slash: Slash, version: str) -> None:
    if not version:
        looking.print_versions(slash.conversation)
        return
    if not version.isdecimal():
        raise InputError(f"A version is a number, not {version!r}; /restore lists them.")
    made = await slash.conversation.restore(int(version))
    slash.screen.note(f"The summary is that of version {version} again, as version {made.number}.")


async def _diff(slash: Slash, how: str) -> None:
    if how not in ("", "--full"):
        raise InputError(f"/diff takes --full or nothing, not {how!r}.")
    await looking.print_last_difference(slash.talk, full=bool(how))


async def _save(slash: Slash, file: str) -> None:
    path = await saving.save(slash.talk, slash.conversation, file)
    slash.screen.note(f"saved: {path}")


async def _clear(slash: Slash, _rest: str) -> None:
    if slash.talk.conversation is not None:
        await slash.talk.conversation.clear()
    slash.screen.note("The context is empty; the talk so far stays in the record.")


async def _help(slash: Slash, _rest: str) -> None:
    for name, command in COMMANDS.items():
        slash.screen.say(f"  {f'{name} {command.takes}':<19} {command.about}")
    slash.screen.say(
        "  Enter sends, Alt-Enter or Ctrl-J begins a line, Tab completes, Up brings back.", dim=True
    )
    slash.screen.say("  Ctrl-C stops an answer, Ctrl-D leaves.", dim=True)


async def _quit(slash: Slash, _rest: str) -> None:
    slash.leaving = True


COMMANDS: Mapping[str, Command] = {
    "/context": Command("what the next prompt holds: zones, blocks", _context),
    "/why": Command("why a block is there, and what it says", _why, "BLOCK"),
    "/tokens": Command("what this turn and the talk took", _tokens),
    "/pin": Command("keep a block whatever happens", _pin, "BLOCK"),
    "/unpin": Command("let it leave again", _unpin, "BLOCK"),
    "/recall": Command("search all that was said and found", _recall, "QUERY"),
    "/compact": Command("sum up all but the last turns", _compact),
    "/restore": Command("make an earlier summary current", _restore, "[VERSION]"),
    "/diff": Command("what changed between the last two prompts", _diff, "[--full]"),
    "/save": Command("write the talk as Markdown", _save, "[FILE]"),
    "/clear": Command("begin with an empty context", _clear),
    "/help": Command("this list", _help),
    "/quit": Command("leave; the talk can be gone on with", _quit),
}
