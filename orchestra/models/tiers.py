"""Who answers what: tier names, each with its model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from orchestra.errors import ConfigError
from orchestra.models.port import Model
from orchestra.roles.model_words import tier_of


class Tiers(Mapping[str, Model]):
    """Tier name → model: `small`, `large` and any other. Frozen once made.

    `model_for` also takes the name of a model that some tier has, so that a role file may name one.
    `streamed`: the tiers whose replies are asked for as streams even where nobody listens.
    """

    __slots__ = ("_models", "_names", "streamed")

    def __init__(self, models: Mapping[str, Model], *, streamed: Iterable[str] = ()) -> None:
        if not models:
            raise ConfigError("No tier has a model; give `small` or `large` one")
        self._models = dict(models)
        self._names: dict[tuple[str, str], str] = {}
        self.streamed = frozenset(streamed)

    @classmethod
    def of(cls, small: Model, large: Model | None = None) -> Tiers:
        """The usual two; one model may be both."""
        return cls({"small": small, "large": large or small})

    def model_for(self, name: str, *, inherited: str = "large") -> Model:
        """The model that a role's `steps` or `final` names. `inherited`: the tier that "inherit" means.

        With a single tier configured, `small` and `large` are both that one. Raises ConfigError.
        """
        return self[self.tier_of(name, inherited=inherited)]

    @property
    def names(self) -> dict[str, str]:
        """What each tier's model is called."""
        return {tier: model.name for tier, model in self._models.items()}

    @property
    def windows(self) -> dict[str, int]:
        """The context window of each tier's model, in tokens."""
        return {tier: model.window for tier, model in self._models.items()}

    def tier_of(self, name: str, *, inherited: str = "large") -> str:
        """The tier's name, for usage by tier: the one that `model_for` answers from."""
        if name in self._models:
            return name
        known = self._names.get((name, inherited))
        if known is None:
            known = self._names[name, inherited] = self._tier_of(name, inherited)
        return known

    def _tier_of(self, name: str, inherited: str) -> str:
        named = {tier: model.name for tier, model in self._models.items()}
        wanted = tier_of(name, named, inherited) or name
        if wanted in self._models:
            return wanted
        if wanted in {"small", "large"} and len(self._models) == 1:
            return next(iter(self._models))
        offered = ", ".join(sorted({*self._models, *(model.name for model in self._models.values())}))
        raise ConfigError(f"No tier and no model is called {wanted!r}; there are {offered}", key="model")

    def __getitem__(self, tier: str) -> Model:
        return self._models[tier]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)
