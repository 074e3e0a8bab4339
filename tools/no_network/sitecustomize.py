"""Put this folder on PYTHONPATH and the process can reach this machine only.

Notebooks and their kernels run so: a cell that fetches something fails where it stands.
"""

import socket

LOCAL = {"localhost", "127.0.0.1", "::1", "", None}


class NetworkBlocked(OSError):
    """A cell tried to leave this machine."""


def _is_local(host) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    return host in LOCAL or str(host).startswith("127.")


def _guard(name: str) -> None:
    original = getattr(socket.socket, name)

    def guarded(self, *args):
        address = args[-1]
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
            raise NetworkBlocked(f"the network is blocked while notebooks run: {address[0]}:{address[1]}")
        return original(self, *args)

    setattr(socket.socket, name, guarded)


for _name in ("connect", "connect_ex", "sendto"):
    _guard(_name)

_getaddrinfo = socket.getaddrinfo


def _local_getaddrinfo(host, *args, **kwargs):
    if not _is_local(host):
        raise NetworkBlocked(f"the network is blocked while notebooks run: {host}")
    return _getaddrinfo(host, *args, **kwargs)


socket.getaddrinfo = _local_getaddrinfo
