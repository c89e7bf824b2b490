from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def plain_logging() -> Iterator[None]:
    """A command that a test called has configured logging on an output that is gone afterwards."""
    yield
    structlog.reset_defaults()
