"""What people ask of sessions; blocking, run in a worker thread."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from orchestra.journal.encoding import decode, encode
from orchestra.journal.records import Order
from orchestra.journal.schema import orders, sessions
from orchestra.journal.store import Store


def give(store: Store, order: Order) -> None:
    """Write an order down; whoever runs the session reads it within a moment."""
    row = {
        "session": order.session,
        "what": order.what,
        "target": encode({"agent": order.agent, "tool": order.tool, "key": order.key}),
        "reason": order.reason,
        "who": order.who,
        "at": order.at,
    }
    with store.writing() as connection:
        connection.execute(sa.insert(orders).values(row))


def given(store: Store, names: Sequence[str]) -> tuple[Order, ...]:
    """All orders to these sessions, in their order."""
    if not names:
        return ()
    query = sa.select(orders).where(orders.c.session.in_(names)).order_by(orders.c.number)
    with store.reading() as connection:
        return tuple(
            Order(
                session=row.session,
                what=row.what,
                reason=row.reason,
                who=row.who,
                at=row.at,
                number=row.number,
                **decode(row.target),
            )
            for row in connection.execute(query)
        )


def take_over(store: Store, session: str, owner: str, new_owner: str) -> bool:
    """Make a session this process's own, if it is still that owner's; False if somebody was faster."""
    table = sessions.c
    change = sa.update(sessions).where(table.id == session, table.owner == owner)
    with store.writing() as connection:
        done = connection.execute(change.values(owner=new_owner, status="running", finished=None))
        return bool(done.rowcount)
