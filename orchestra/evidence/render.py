"""A report as Markdown, HTML, JSON."""

from __future__ import annotations

from typing import Literal

from orchestra.values.report import Report

Format = Literal["md", "html", "json"]


def render_report(report: Report, form: Format) -> str:
    raise NotImplementedError


def to_markdown(report: Report) -> str:
    raise NotImplementedError


def to_json(report: Report) -> str:
    raise NotImplementedError
