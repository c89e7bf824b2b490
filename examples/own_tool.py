"""A tool and a role of your own, tried without a model: the scripted one says what a model would.

python examples/own_tool.py
"""

from __future__ import annotations

import anyio

from orchestra import Role, Runtime, Scripted, Session, tool
from orchestra.values.messages import ToolCall


@tool
async def convert_temperature(celsius: float) -> str:
    """Convert a temperature to degrees Fahrenheit.

    Args:
        celsius: The temperature in degrees Celsius.
    """
    return f"{celsius:g} °C is {celsius * 9 / 5 + 32:g} °F"


TEA_MASTER = Role(
    name="tea-master",
    description="Answers questions on brewing.",
    instructions="Answer in one sentence. Convert temperatures with the tool.",
    tools=("convert_temperature",),
    context="tools",
)


async def ask(session: Session, question: str) -> str:
    handoff = await session.ask("tea-master", question)
    return str(handoff.value or handoff.reason)


async def main() -> None:
    call = ToolCall(id="k1", name="convert_temperature", arguments='{"celsius": 80}')
    model = Scripted([call, "Brew green tea at 176 °F."])
    async with Runtime(models={"small": model}, roles=[TEA_MASTER], tools=[convert_temperature]) as runtime:
        print(await runtime.run(ask, "How hot should water for green tea be, in Fahrenheit?"))
    print("the tool said:", model.requests[1].messages[-1].text)


if __name__ == "__main__":
    anyio.run(main)
