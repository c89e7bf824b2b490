"""How an agent's work ends: with a result, or because a limit or somebody says so."""

from __future__ import annotations

from orchestra.errors import AgentFailed, LimitReached, RunError
from orchestra.values.handoffs import Outcome
from orchestra.values.messages import Reply
from orchestra.values.roles import Role


def outcome_of(path: str, reply: Reply, finishing: str, short: str) -> Outcome:
    """What an agent's last reply comes to.

    `finishing`: which limit it had to finish early for, "" for none; `short`: whose budget that is.
    """
    written = reply.text if reply.exact and reply.value is not None else ""
    if not finishing:
        return Outcome(agent=path, value=reply.value, text=reply.text, written=written)
    return Outcome(
        agent=path,
        value=reply.value,
        text=reply.text,
        written=written,
        status="partial",
        reason=f"{path} had to finish early: {finishing} was reached",
        short=short,
    )


def out_of_steps(path: str, role: Role) -> LimitReached:
    """For one that was told to finish and did not."""
    return LimitReached(f"{path} used up its {role.limits.steps} steps without a result", limit="steps")


def cut_short(path: str, role: Role, stopped: str) -> RunError:
    """For one whose time is over. `stopped`: by whom and why, "" where it was its own limit."""
    if stopped:
        return AgentFailed(stopped, agent=path)
    return LimitReached(
        f"{path} took longer than its limit of {role.limits.seconds:g} s; "
        "raise limits.seconds in its role file or ask for less",
        limit="seconds",
    )
