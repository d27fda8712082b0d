"""What the forward proxy adds to a request over TLS, by HTTP/1.1 and HTTP/2, beside stock mitmdump, in one run.

Both proxies open the client's TLS and make their own to one upstream, with the same protocol on both sides. Each round
asks every target in a random order over a connection that is kept; a figure is the median of the ratios of the rounds,
with the two values between which chance moves it. Bars: at most 0.6x of mitmdump's added time, and at the slowest of
100 (p99) no later than mitmdump. The route by base URL is in `latency.py`.
"""

import argparse
import asyncio
import random
import socket
import ssl
import sys
import tempfile
import time
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

import h2.config
import h2.connection
import h2.events
import h2.settings
from _processes import Processes
from _ratios import Ratio
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from latency import body_of, median_of, said, slowest
from mitmproxy import certs

SIZES = {"5 KB": (5_000, 40), "50 KB": (50_000, 30), "500 KB": (500_000, 12)}
"""Request body, and requests a round."""
HOST = "api.openai.com"
PATH = "/v1/chat/completions"
WINDOW = 1 << 24
"""Bytes of a stream of HTTP/2 that the upstream takes without a word."""
ANSWER = b'{"id":"1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}'
BAR = 0.6


# The upstream


async def upstream(pem: str) -> None:
    """Answers each request with JSON, by the protocol that the client has chosen."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    context.set_alpn_protocols(["h2", "http/1.1"])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chosen = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        try:
            await (serve_2 if chosen == "h2" else serve_1)(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 24, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def serve_1(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ANSWER)
    while True:
        asked = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(asked.partition(b"content-length:")[2].split(b"\r\n")[0]))
        writer.write(head + ANSWER)


async def serve_2(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    wide(connection)
    writer.write(connection.data_to_send())
    fields = [(":status", "200"), ("content-type", "application/json"), ("content-length", str(len(ANSWER)))]
    while data := await reader.read(1 << 18):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                connection.send_headers(event.stream_id, fields)
                connection.send_data(event.stream_id, ANSWER, end_stream=True)
        writer.write(connection.data_to_send())


def wide(connection: h2.connection.H2Connection) -> None:
    """Begin a connection whose streams take long bodies at once."""
    connection.initiate_connection()
    connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: WINDOW})
    connection.increment_flow_control_window(WINDOW)


# The clients


class Connection(Protocol):
    def ask(self, body: bytes) -> float:
        """Seconds until the answer is there."""
        ...


def opened(port: int, authority: str | None, protocol: str, tunnel: str | None) -> ssl.SSLSocket:
    """A TLS connection to a server, through the proxy at `port` if there is a `tunnel`."""
    plain = socket.create_connection(("127.0.0.1", port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if tunnel is not None:
        plain.sendall(f"CONNECT {tunnel} HTTP/1.1\r\nhost: {tunnel}\r\n\r\n".encode())
        answer = plain.recv(4096)
        assert answer.split(b" ")[1] == b"200", answer
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(plain, server_hostname=tunnel.partition(":")[0] if tunnel else "127.0.0.1")


class Http1:
    def __init__(self, wrapped: ssl.SSLSocket) -> None:
        self._socket = wrapped

    def ask(self, body: bytes) -> float:
        begun = time.perf_counter()
        head = f"POST {PATH} HTTP/1.1\r\nhost: {HOST}\r\ncontent-type: application/json\r\n"
        self._socket.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        data = b""
        while not data.endswith(ANSWER):
            piece = self._socket.recv(65536)
            assert piece, "the connection was closed"
            data += piece
        return time.perf_counter() - begun


class Http2:
    def __init__(self, wrapped: ssl.SSLSocket) -> None:
        assert wrapped.selected_alpn_protocol() == "h2"
        self._socket = wrapped
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        wide(self._h2)

    def ask(self, body: bytes) -> float:
        begun = time.perf_counter()
        stream = self._h2.get_next_available_stream_id()
        fields = [(":method", "POST"), (":scheme", "https"), (":authority", HOST), (":path", PATH)]
        length = [("content-type", "application/json"), ("content-length", str(len(body)))]
        self._h2.send_headers(stream, fields + length)
        sent, ended = 0, False
        while not ended:
            while sent < len(body) and (room := self._h2.local_flow_control_window(stream)):
                piece = body[sent : sent + min(room, self._h2.max_outbound_frame_size)]
                sent += len(piece)
                self._h2.send_data(stream, piece, end_stream=sent == len(body))
            self._socket.sendall(self._h2.data_to_send())
            data = self._socket.recv(65536)
            assert data, "the connection was closed"
            for event in self._h2.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                ended = ended or isinstance(event, h2.events.StreamEnded)
        return time.perf_counter() - begun


# The proxies


async def proxy(url: str, confdir: str, tape: str, authority: str) -> None:
    from turntape.cassettes import Recorder
    from turntape.proxy.engine.engine import Engine

    engine = Engine(Recorder(tape), upstreams={"openai": url}, confdir=Path(confdir), trusted_ca=Path(authority))
    await engine.start()
    print(engine.port, flush=True)
    await asyncio.Event().wait()


def certificate(folder: str) -> tuple[str, str]:
    """A certificate with its key for 127.0.0.1, and the authority that has signed it."""
    store = certs.CertStore.from_store(Path(folder), "upstream", 2048)
    entry = store.get_cert("127.0.0.1", [x509.IPAddress(ip_address("127.0.0.1"))])
    key = entry.privatekey.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    both = Path(folder) / "both.pem"
    both.write_bytes(entry.cert.to_pem() + key)
    return str(both), f"{folder}/upstream-ca-cert.pem"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    missed = 0
    with tempfile.TemporaryDirectory() as folder, Processes(__file__) as processes:
        pem, authority = certificate(folder)
        direct = processes.start("--upstream", pem)
        there = f"127.0.0.1:{direct}"
        ours = processes.start("--proxy", f"https://{there}", f"{folder}/a", f"{folder}/run.cassette.jsonl", authority)
        stock = processes.mitmdump("--set", f"confdir={folder}/c", "--set", "ssl_insecure=true")
        for protocol, kind in (("http/1.1", Http1), ("h2", Http2)):
            connections: dict[str, Connection] = {
                "direct": kind(opened(direct, authority, protocol, None)),
                "ours": kind(opened(ours, f"{folder}/a/mitmproxy-ca-cert.pem", protocol, f"{HOST}:443")),
                "mitmdump": kind(opened(stock, f"{folder}/c/mitmproxy-ca-cert.pem", protocol, there)),
            }
            for label, (size, count) in SIZES.items():
                missed += requests(connections, f"{protocol}, {label}", size, count, rounds)
    return missed


def requests(connections: dict[str, Connection], label: str, size: int, count: int, rounds: int) -> int:
    medians: dict[str, list[float]] = {name: [] for name in connections}
    each: dict[str, list[float]] = {name: [] for name in connections}
    number = 0
    for turn in range(rounds + 1):
        for name in random.sample(list(connections), len(connections)):
            times: list[float] = []
            for _ in range(count):
                number += 1
                times.append(connections[name].ask(body_of(size, number)))
            if turn:  # the first round warms up
                medians[name].append(median_of(times))
                each[name] += times

    def added(name: str) -> list[float]:
        return [time - base for time, base in zip(medians[name], medians["direct"], strict=True)]

    ours, stock = added("ours"), added("mitmdump")
    against = Ratio.of(ours, stock)
    late = {name: slowest(times) for name, times in each.items()}
    tail = late["ours"] / late["mitmdump"]
    print(f"{label}: {against} of mitmdump's added time (bar {BAR:g})  {against.verdict(BAR)}")
    print(f"{'':>8}{tail:.2f}x of mitmdump's p99 (bar 1)  {said(tail <= 1)}")
    asked = ", ".join(f"{name} {median_of(values) * 1e3:.2f}" for name, values in medians.items())
    slow = ", ".join(f"{name} {value * 1e3:.2f}" for name, value in late.items())
    print(f"{'':>8}ms a request: {asked}; at p99: {slow}", flush=True)
    return against.misses(BAR) + (tail > 1)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--upstream", pem]:
            asyncio.run(upstream(pem))
        case ["--proxy", url, confdir, tape, authority]:
            asyncio.run(proxy(url, confdir, tape, authority))
        case _:
            sys.exit(1 if main() else 0)
