"""What the doctor finds."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Disease = Literal["pollution", "absence", "misorder"]


class Finding(Struct, frozen=True):
    """One disease of one block, in a sentence, with what to do about it.

    `block`: its id in the manifest, the name of a piece ("output format"), or `m7` for the seventh message
    of a prompt that has no manifest or holds what its manifest does not know.
    """

    disease: Disease
    block: str
    sentence: str
    mend: str
