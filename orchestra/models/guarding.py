"""What stands around every call of a configured model, composed here and nowhere else.

    Fallback ( Retrying ( Governed ( the adapter, with an Ear )))

Each try waits for its turn again and holds no place while it pauses. A second endpoint is asked when the
first has had its tries, or at once when it is left alone, overfull or wants too long a pause.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from orchestra.models.governed import Governed
from orchestra.models.governor.clock import Clock
from orchestra.models.governor.governor import LONGEST_WAIT_SECONDS, Governor
from orchestra.models.governor.listening import Ear
from orchestra.models.governor.statistics import GovernorStatistics
from orchestra.models.port import Model
from orchestra.models.retrying import Patience, Retrying
from orchestra.models.settings import Endpoint, TierSetting

STAND_IN_SECONDS = 5.0
"""A pause that is waited for where another endpoint could answer."""


class Guard:
    """The governors of a runtime, one for each endpoint by name, made as endpoints are opened."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._governors: dict[str, Governor] = {}

    def of(self, endpoint: Endpoint) -> Governor:
        governor = self._governors.get(endpoint.name)
        if governor is None:
            governor = Governor(endpoint.name, endpoint.rates, clock=self._clock)
            self._governors[endpoint.name] = governor
        return governor

    def wrap(self, model: Model, endpoint: Endpoint, setting: TierSetting) -> Model:
        """For `Outlook.wrap`."""
        longest = STAND_IN_SECONDS if setting.stand_in else LONGEST_WAIT_SECONDS
        patience = Patience(
            tries=endpoint.rates.tries, longest_seconds=longest, wait_for_endpoint=not setting.stand_in
        )
        return Retrying(Governed(model, self.of(endpoint), longest_seconds=longest), patience)

    def listen(self, endpoint: Endpoint) -> Ear:
        """For `Outlook.listen`."""
        return Ear(self.of(endpoint).heard)

    @property
    def statistics(self) -> Mapping[str, GovernorStatistics]:
        """By endpoint, as of now."""
        return {name: governor.statistics for name, governor in self._governors.items()}


def chained(settings: list[TierSetting]) -> list[TierSetting]:
    """The settings of one tier, where each but the last knows that another stands behind it."""
    return [structs.replace(each, stand_in=True) for each in settings[:-1]] + settings[-1:]
