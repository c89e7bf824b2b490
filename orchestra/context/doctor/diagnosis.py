"""One prompt in, what is wrong with it out."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.context.doctor.absence import absence
from orchestra.context.doctor.finding import Finding
from orchestra.context.doctor.misorder import misorder
from orchestra.context.doctor.pollution import pollution
from orchestra.context.doctor.reading import read
from orchestra.context.manifest import Manifest
from orchestra.values.messages import Message, ToolSpec


def diagnose(
    messages: Sequence[Message], tools: Sequence[ToolSpec] = (), manifest: Manifest | None = None
) -> tuple[Finding, ...]:
    """Every disease that rules can see, pollution first; () for a healthy prompt.

    Pure, English and Chinese. Without a manifest blocks are named by their message, `m3`, and what only a
    manifest knows (what was cut, what can be recalled) is judged by the words of the prompt alone.
    """
    reading = read(messages, manifest)
    found = (*pollution(reading), *absence(reading), *misorder(reading))
    return tuple(dict.fromkeys(found))
