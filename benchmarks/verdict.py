"""How a benchmark with bars ends: its figures, what missed a bar, and its exit code."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def end(found: Mapping[str, Any], missed: Sequence[str], options: argparse.Namespace, *, width: int) -> None:
    """Print one JSON object or a line a figure, then what missed; under --check that is exit code 1.

    `width`: characters of the column of names.
    """
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name.replace('_', ' '):<{width}} {value}")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    if options.check and missed:
        sys.exit(1)
