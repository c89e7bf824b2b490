from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

# On a machine with other work a single example may take any time; the tests have their own limits. A run
# tries the same examples each time, so that a change is judged by what it did; to look for new ones:
# python -m pytest --hypothesis-profile=explore
settings.register_profile("explore", deadline=None)
settings.register_profile("shared", deadline=None, derandomize=True)
settings.load_profile("shared")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def plain_logging() -> Iterator[None]:
    """A command that a test called has configured logging on an output that is gone afterwards."""
    yield
    structlog.reset_defaults()
