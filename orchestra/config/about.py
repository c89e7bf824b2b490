"""What is said about a setting, for its check, its error and its documentation."""

from __future__ import annotations

from msgspec import Struct


class About(Struct, frozen=True):
    """`text` says what the setting is, with its unit; the bounds are None where there is none.

    `above` and `below` are outside of what is allowed, `least` and `most` inside; for a mapping they bound
    its values. `unlimited`: None means no limit, and may be written as the word "unlimited".
    `default` is shown in the documentation where the default is not a constant.
    """

    text: str
    above: float | None = None
    least: float | None = None
    most: float | None = None
    below: float | None = None
    unlimited: bool = False
    default: str = ""
