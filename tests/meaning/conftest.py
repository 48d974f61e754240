import pytest


@pytest.fixture(autouse=True)
def unoptimized():
    """Each graph runs once or twice: TensorFlow's optimizer would take longer than it saves."""
    from autobatch.machine.xla import as_traced  # in the workers alone

    with as_traced():
        yield
