"""What a role's `output` stands for: a schema to ask for and the check of what comes back."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from orchestra.values.messages import OutputSpec
from orchestra.values.outputs import schema_of


@cache
def output_spec(kind: type) -> OutputSpec:
    """The spec of a struct or of a pydantic model; made once for each type."""
    if not issubclass(kind, BaseModel):
        return OutputSpec(kind.__name__, schema_of(kind), msgspec.json.Decoder(kind).decode)
    model = kind

    def validate(text: str) -> Any:
        try:
            return model.model_validate_json(text)
        except ValidationError as error:
            raise ValueError(_problems(error)) from None

    return OutputSpec(model.__name__, model.model_json_schema(), validate)


def _problems(error: ValidationError) -> str:
    """What was wrong, at most five faults, in words a model can act on."""
    faults = error.errors(include_url=False, include_input=False)
    parts = [
        f"{'.'.join(str(step) for step in fault['loc']) or 'reply'}: {fault['msg']}" for fault in faults[:5]
    ]
    more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
    return "; ".join(parts) + more


def as_json(value: Any) -> str:
    """A handed value as text, for the journal and for models."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    return "" if value is None else msgspec.json.encode(value, enc_hook=str).decode()
