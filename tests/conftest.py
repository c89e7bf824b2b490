import pytest
from hypothesis import settings

# On a machine with other work a single example may take any time; the tests have their own limits.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
