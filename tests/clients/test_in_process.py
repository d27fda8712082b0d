"""The clients that are in this environment, played back in their own process and through a server."""

from pathlib import Path

import pytest

from clients.catalogue import CLIENTS, Client, Variant
from clients.environments import Unavailable, here
from clients.in_process import not_httpx, play

CELLS = [
    pytest.param(client, variant, id=f"{client.name} {variant.words}")
    for client in CLIENTS
    for variant in client.variants[-1:]
    if client.script.endswith(".py")
]


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("authority")


@pytest.mark.parametrize(("client", "variant"), CELLS)
def test_a_loop_recorded_through_the_proxy_is_played_back(client: Client, variant: Variant, authority: Path) -> None:
    try:
        runtime = here(client.script, client.packages[0])
    except Unavailable as exc:
        pytest.skip(str(exc))

    done = play(client, variant, runtime, authority)

    assert done.in_process == not_httpx(client, variant)
    assert done.through_a_server is None
