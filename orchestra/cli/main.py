"""`orchestra`: the group of commands, exit codes, and one place where errors become sentences."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from orchestra.config.nearest import hint
from orchestra.errors import OrchestraError, UserError

# command → module and attribute; a module is imported when its command is called, so that `orchestra
# sessions` does not pay for what `orchestra research` needs.
COMMANDS = {
    "research": ("orchestra.cli.research", "research"),
    "chat": ("orchestra.cli.chat.command", "chat"),
    "resume": ("orchestra.cli.resume", "resume"),
    "fork": ("orchestra.cli.resume", "fork"),
    "replay": ("orchestra.cli.replay", "replay"),
    "stop": ("orchestra.cli.people", "stop"),
    "approvals": ("orchestra.cli.people", "approvals"),
    "approve": ("orchestra.cli.people", "approve"),
    "refuse": ("orchestra.cli.people", "refuse"),
    "store": ("orchestra.cli.store", "store"),
    "check": ("orchestra.cli.check", "check"),
    "memory": ("orchestra.cli.memory", "memory"),
    "sessions": ("orchestra.cli.sessions", "sessions"),
    "show": ("orchestra.cli.show", "show"),
    "context": ("orchestra.cli.context_command", "context"),
    "doctor": ("orchestra.cli.doctor", "doctor"),
    "eval": ("orchestra.cli.eval", "evaluate"),
    "endpoints": ("orchestra.cli.endpoints", "endpoints"),
    "simulate": ("orchestra.cli.simulate", "simulate"),
    "load": ("orchestra.cli.load", "load"),
}

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130


class Lazy(click.Group):
    """A group that knows its commands by name and imports them on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = COMMANDS.get(cmd_name)
        if place is None:
            raise click.UsageError(f'No such command "{cmd_name}".{hint(cmd_name, COMMANDS)}', ctx)
        command = getattr(importlib.import_module(place[0]), place[1])
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="orchestra")
def group() -> None:
    """Teams of role agents that research and then write, with every claim quoted.

    Exit codes: 0 done, 1 the run failed, 2 a mistake in the call, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script: runs one command and exits with its code."""
    # numpy's threads wait for each other in a busy loop: where the cores have other work, a text of 20 words
    # took an embedding model 200 ms of CPU with two of them, and 16 with one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # Reports hold any language; a terminal that claims ASCII must not end a run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """One command; returns its exit code. A person's mistake and a run's failure are one sentence each."""
    try:
        result = group.main(arguments, prog_name="orchestra", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.Abort:
        click.echo("orchestra: interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        path = where.command_path if where is not None else "orchestra"
        click.echo(f"{path}: {error.format_message()} See: {path} --help", err=True)
        return error.exit_code
    except UserError as error:
        click.echo(f"orchestra: {error}", err=True)
        return MISTAKE
    except OrchestraError as error:
        click.echo(f"orchestra: {error}", err=True)
        return FAILED
    except KeyboardInterrupt:
        click.echo("orchestra: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone; what is left in the buffer has no place to go either.
        sys.stdout = None
        return 0
    return result if isinstance(result, int) else 0
