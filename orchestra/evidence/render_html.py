"""A report as one HTML page."""

from __future__ import annotations

from orchestra.values.report import Report


def to_html(report: Report) -> str:
    raise NotImplementedError
