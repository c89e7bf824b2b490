"""Event logging: names and numbers, not sentences.

The library logs through structlog and configures nothing; a program calls `configure` once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any

import structlog

from orchestra.redact import Redactor


def get_logger() -> Any:
    """A logger whose events carry what `structlog.contextvars` has bound (session, agent)."""
    return structlog.get_logger("orchestra")


def configure(level: str = "warning", *, as_json: bool = False, secrets: Iterable[str] = ()) -> None:
    """Send events of `level` and above to standard error, as lines for people or as JSON.

    `secrets`: values that must never be written; what looks like a secret is not written either.
    """
    redactor = Redactor(secrets)
    threshold = logging.getLevelNamesMapping()[level.upper()]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        redactor.processor,
        renderer,
        redactor.line,  # the renderer adds tracebacks
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
