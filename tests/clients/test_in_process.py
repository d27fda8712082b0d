"""The clients that are in this environment, played back in their own process and through a server."""

from pathlib import Path

import pytest

catalogue = pytest.importorskip("clients.catalogue", reason="the clients' scripts are not in this checkout")

from clients.environments import Unavailable, here  # noqa: E402
from clients.in_process import not_httpx, play  # noqa: E402

CELLS = [
    pytest.param(client, variant, id=f"{client.name} {variant.words}")
    for client in catalogue.CLIENTS
    for variant in client.variants[-2:]
    if client.script.endswith(".py")
]


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("authority")


@pytest.mark.parametrize(("client", "variant"), CELLS)
def test_a_loop_recorded_through_the_proxy_is_played_back(client, variant, authority: Path) -> None:  # type: ignore[no-untyped-def]
    try:
        runtime = here(client.script, client.packages[0])
    except Unavailable as exc:
        pytest.skip(str(exc))

    done = play(client, variant, runtime, authority)

    assert done.in_process == not_httpx(client, variant)
    assert done.through_a_server == client.not_offered.get("base_url")
