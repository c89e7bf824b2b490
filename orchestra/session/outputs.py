"""What a role's `output` stands for: a schema to ask for and the check of what comes back."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from orchestra.values.messages import OutputSpec


@cache
def output_spec(model: type[BaseModel]) -> OutputSpec:
    """The spec of a pydantic model; made once for each type."""

    def validate(text: str) -> Any:
        try:
            return model.model_validate_json(text)
        except ValidationError as error:
            raise ValueError(_problems(error)) from None

    return OutputSpec(name=model.__name__, schema=model.model_json_schema(), validate=validate)


def _problems(error: ValidationError) -> str:
    """What was wrong, at most five faults, in words a model can act on."""
    faults = error.errors(include_url=False, include_input=False)
    parts = [
        f"{'.'.join(str(step) for step in fault['loc']) or 'reply'}: {fault['msg']}" for fault in faults[:5]
    ]
    more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
    return "; ".join(parts) + more
