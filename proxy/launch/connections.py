"""The connections of a command's processes, read from /proc; on Linux only.

They are sampled many times a second. A connection that opens and closes between two samples is not seen.
"""

import ipaddress
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from turntape.cassettes.routes.upstreams import UPSTREAMS

AVAILABLE = sys.platform == "linux"
LOCAL_PORTS = tuple(
    port
    for upstream in UPSTREAMS
    if (port := urlsplit(upstream.url or "").port) and "127.0.0.1" in (upstream.url or "")
)
"""Loopback ports of LLM servers."""
WEB_PORTS = frozenset({443, 80, 8443})
PAUSE = 0.02
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, order=True)
class Connection:
    address: str
    port: int
    program: str
    pid: int

    @property
    def place(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


class Watch:
    """`with Watch(pid, ours=PORT) as watch:` samples until the block ends, or until `stop`.

    `ours` is the proxy's port, `local_ports` are loopback ports of LLM servers: other loopback connections are
    ignored. Samples are `pause` seconds apart, and further when they would take more than `share` of one core.
    """

    def __init__(
        self,
        pid: int,
        *,
        ours: int,
        local_ports: Iterable[int] = LOCAL_PORTS,
        pause: float = PAUSE,
        share: float = 1.0,
    ) -> None:
        self.pid = pid
        self.past_us: set[Connection] = set()
        """Connections that did not go to the proxy."""
        self.to_us = 0
        """Number of samples in which a process was connected to the proxy."""
        self.executables: set[str] = set()
        """Executables that ran in the process tree."""
        self._ours = ours
        self._local = frozenset(local_ports)
        self._pause, self._share = pause, share
        self._pids = {pid}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="turntape-sockets", daemon=True)

    def __enter__(self) -> "Watch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        if AVAILABLE:
            self._thread.start()

    def over(self) -> None:
        """Stop without waiting for the current sample. Any thread may call this."""
        self._over.set()

    def stop(self) -> None:
        """Stop; the result does not change after this."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        pause = self._pause
        while not self._over.wait(pause):
            before = time.thread_time()
            self.look()
            took = time.thread_time() - before
            pause = max(self._pause, took / self._share - took)

    def look(self) -> None:
        """Take one sample."""
        self._pids = tree(self._pids)
        open_: list[tuple[int, str, frozenset[bytes], str]] = []
        for pid in self._pids:
            try:
                program = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - pathlib is slow, and this is asked often
                inodes, network = _inodes(pid), os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115
            except OSError:
                continue  # it has ended, or belongs to another user
            self.executables.add(_as_called(pid, program))
            if inodes:
                open_.append((pid, program, inodes, network))
        # A table has the sockets of all processes of a network namespace, and the kernel takes long to write it.
        tables = {network: pid for pid, _, _, network in open_}
        for network, reader in tables.items():
            ours = [one for one in open_ if one[3] == network]
            wanted = frozenset[bytes]().union(*(inodes for _, _, inodes, _ in ours))
            for inode, address, port in _peers(reader, wanted):
                for pid, program, inodes, _ in ours:
                    if inode in inodes:
                        self._note(address, port, program, pid)

    def _note(self, address: str, port: int, program: str, pid: int) -> None:
        loopback = ipaddress.ip_address(address).is_loopback
        if loopback and port == self._ours:
            self.to_us += 1
        elif port in self._local if loopback else port in WEB_PORTS:
            self.past_us.add(Connection(address, port, Path(program).name, pid))


def _as_called(pid: int, program: str) -> str:
    """The path by which a process was started, when it is its executable.

    The Python of a virtual environment has packages that the bare executable does not have.
    """
    try:
        called = os.fsdecode(_read(f"/proc/{pid}/cmdline").partition(b"\0")[0])
        return called if os.path.isabs(called) and os.path.samefile(called, program) else program  # noqa: PTH117, PTH121
    except OSError:
        return program


def tree(known: set[int]) -> set[int]:
    """The running processes of `known`, and all their descendants."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib is slow
        if name.isdigit():
            try:
                stat = _read(f"/proc/{name}/stat")
            except OSError:
                continue
            # The name in brackets may hold anything; the parent is the second field after it.
            parents[int(name)] = int(stat[stat.rindex(b")") + 2 :].split(None, 2)[1])
    found = {pid for pid in known if pid in parents}
    more = True
    while more:
        children = {pid for pid, parent in parents.items() if parent in found} - found
        more = bool(children)
        found |= children
    return found


def _inodes(pid: int) -> frozenset[bytes]:
    """The sockets of a process."""
    folder = f"/proc/{pid}/fd"
    found: set[bytes] = set()
    for name in os.listdir(folder):  # noqa: PTH208
        try:
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1].encode())
    return frozenset(found)


def _peers(pid: int, wanted: Collection[bytes]) -> Iterable[tuple[bytes, str, int]]:
    """(inode, address, port) of those `wanted` that are connected, in the network namespace of `pid`."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        try:
            lines = _read(f"/proc/{pid}/net/{name}").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split(None, 10)
            if fields[9] in wanted:
                address, port = remote(fields[2].decode())
                if port:
                    yield fields[9], address, port


def _read(path: str) -> bytes:
    """A file of /proc."""
    file = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(file, _PIECE), b""))
    finally:
        os.close(file)


def remote(field: str) -> tuple[str, int]:
    """`0100007F:1F90` as (`127.0.0.1`, 8080): groups of four bytes in the machine's order."""
    address, _, port = field.partition(":")
    words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
    raw = struct.pack(f"={len(words)}I", *words)
    found = ipaddress.ip_address(raw)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found), int(port, 16)


def names(addresses: Iterable[str], hosts: Iterable[str], patience: float = 2.0) -> dict[str, str]:
    """The host of each address, for those of `hosts` that can be looked up in `patience` seconds."""
    wanted = set(addresses)
    if not wanted:
        return {}
    found: dict[str, str] = {}

    def look_up(host: str) -> None:
        try:
            for entry in socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM):
                if (address := str(entry[4][0])) in wanted:
                    found.setdefault(address, host)
        except OSError:
            pass  # no such name, or no name server: the address gets no host name

    # Daemons: a name server that does not answer must not delay the end.
    threads = [threading.Thread(target=look_up, args=(host,), daemon=True) for host in hosts]
    for thread in threads:
        thread.start()
    until = time.monotonic() + patience
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return dict(found)
