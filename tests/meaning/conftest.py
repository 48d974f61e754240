import pytest

from autobatch.machine.xla import as_traced


@pytest.fixture(autouse=True)
def unoptimized():
    """Each graph runs once or twice: TensorFlow's optimizer would take longer than it saves."""
    with as_traced():
        yield
