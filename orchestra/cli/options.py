"""Options that several commands share, and the settings they lead to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from orchestra.config.load import load_settings
from orchestra.log import configure

# flag → the setting's dotted name
FLAGS = {
    "models": "models",
    "small": "small",
    "large": "large",
    "endpoint": "endpoint",
    "store": "store",
    "agents": "agents",
    "budget": "limits.dollars",
    "tokens": "limits.tokens",
    "deadline": "limits.seconds",
}


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that choose models and store; the command gets `resolved` in their place."""

    @click.option("--models", help="extractive, openai, or an endpoint's name.")
    @click.option("--small", help="The small tier's model.")
    @click.option("--large", help="The large tier's model.")
    @click.option("--endpoint", help="Where those models are: a URL or an endpoint's name.")
    @click.option("--agents", help="A folder of your own role files.")
    @store_options
    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        flags = {setting: options.pop(name) for name, setting in FLAGS.items() if name in options}
        resolved = load_settings(flags, config=options.pop("config"))
        logging = resolved.settings.logging
        configure(logging.level, as_json=logging.json)
        return command(*arguments, resolved=resolved, **options)

    return wrapped


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that limit a run; they go below `settings_options`, which reads them."""
    command = click.option("--deadline", metavar="TIME", help="How long it may take: 90 or 5m.")(command)
    command = click.option("--tokens", metavar="N", help="Tokens it may use, as in 200k.")(command)
    return click.option("--budget", metavar="DOLLARS", help="What it may cost in US dollars.")(command)


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that every command has which opens the store."""
    command = click.option("--config", help="The orchestra.toml to read.")(command)
    return click.option("--store", metavar="URL", help="Where journal and indexes are kept.")(command)


def owner_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that say whose memory a session has, or a command looks after."""
    command = click.option("--project", metavar="ID", help="Whose memory: this project's.")(command)
    return click.option("--user", metavar="ID", help="Whose memory: this user's.")(command)
