"""`orchestra simulate`: an endpoint to try things on before paying for one."""

from __future__ import annotations

from typing import Any

import anyio
import click

from orchestra.errors import InputError


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port", default=8090, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
@click.option("--model", "models", multiple=True, help="A model's name to list; may be given again.")
@click.option("--first", default=0.0, type=click.FloatRange(0), help="Seconds to the first token.")
@click.option("--per-token", default=0.0, type=click.FloatRange(0), help="Seconds for each token.")
@click.option(
    "--spread", default=0.0, type=click.FloatRange(0), help="Sigma of log-normal luck; 0.5 is usual."
)
@click.option("--reply-tokens", default=60, type=click.IntRange(1), help="Length of plain replies.")
@click.option("--window", default=128_000, type=click.IntRange(1), help="Longer prompts are refused.")
@click.option("--rpm", type=click.IntRange(1), help="Requests a minute; beyond comes 429.")
@click.option("--tpm", type=click.IntRange(1), help="Tokens a minute; beyond comes 429.")
@click.option("--concurrent", type=click.IntRange(1), help="Requests at once; beyond comes 429.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="NAME=SHARE",
    help="drop, cut, hang, error_500, error_503, error_429 or not_json, as in error_500=0.02.",
)
@click.option(
    "--provider",
    default="openai",
    type=click.Choice(["openai", "anthropic", "gemini", "mistral", "fastapi", "html"]),
    help="In whose shape errors come.",
)
@click.option("--key", help="Refuse requests without this key.")
@click.option("--script", type=click.Path(dir_okay=False), help="JSON rules: what to answer when.")
@click.option("--plain", is_flag=True, help="Do not play the roles of the research workflow.")
@click.option("--exact-usage", is_flag=True, help="Count tokens as OpenAI does; slower.")
@click.option("--seed", default=0, help="The same luck each time.")
def simulate(**options: Any) -> None:
    """Serve a simulated OpenAI-compatible endpoint until interrupted.

    It plays planner, researcher, writer and reviewer of the research workflow from what each request
    holds, answers everything else with plain words, and counts what it serves (GET /simulated).
    """
    from orchestra.load.behaviour import Behaviour, Latency
    from orchestra.load.plain_script import from_file
    from orchestra.load.research_script import Research

    scripts = [from_file(options["script"])] if options["script"] else []
    if not options["plain"]:
        scripts.append(Research())
    behaviour = Behaviour(
        models=options["models"] or ("small", "large"),
        latency=Latency(
            first_seconds=options["first"], token_seconds=options["per_token"], spread=options["spread"]
        ),
        faults=_faults(options["faults"]),
        provider=options["provider"],
        reply_tokens=options["reply_tokens"],
        window=options["window"],
        requests_per_minute=options["rpm"],
        tokens_per_minute=options["tpm"],
        concurrent=options["concurrent"],
        key=options["key"],
        scripts=tuple(scripts),
        exact_usage=options["exact_usage"],
        seed=options["seed"],
    )
    anyio.run(_serve, behaviour, options["host"], options["port"])


async def _serve(behaviour: Any, host: str, port: int) -> None:
    from orchestra.load.simulated import simulated

    try:
        async with simulated(behaviour, host=host, port=port) as endpoint:
            name = behaviour.models[0]
            click.echo(f"Listening at {endpoint.url}")
            click.echo(
                f"Try: orchestra research QUESTION --docs DIR --endpoint {endpoint.url} --small {name}"
            )
            try:
                await anyio.sleep_forever()
            finally:
                click.echo("\n" + _sentence(endpoint.served))
    except OSError as wrong:
        raise InputError(f"Cannot listen at {host}:{port} ({wrong}); choose another --port.") from None


def _sentence(served: Any) -> str:
    return (
        f"Served {served.replies} of {served.requests} requests ({served.streams} streamed), "
        f"{served.input_tokens} tokens in, {served.output_tokens} out, {served.busiest} at once; "
        f"errors {served.statuses or 'none'}, faults {served.faults or 'none'}."
    )


def _faults(given: tuple[str, ...]) -> Any:
    from orchestra.load.behaviour import Faults

    shares: dict[str, float] = {}
    for entry in given:
        name, _, share = entry.partition("=")
        if name not in Faults.__struct_fields__:
            known = ", ".join(Faults.__struct_fields__)
            raise InputError(f"There is no fault {name!r}; there are {known}.", key="--fault")
        try:
            shares[name] = float(share)
        except ValueError:
            raise InputError(
                f"The share of fault {name} must be a number, as in {name}=0.02.", key="--fault"
            ) from None
    try:
        return Faults(**shares)
    except ValueError as wrong:
        raise InputError(f"{wrong}.", key="--fault") from None
