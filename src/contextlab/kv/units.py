"""Bytes in powers of two (KiB, MiB, GiB) and in powers of ten (kB, MB, GB); never mixed."""

from __future__ import annotations

KIB, MIB, GIB = 2**10, 2**20, 2**30
KB, MB, GB = 10**3, 10**6, 10**9


def binary(size: float) -> str:
    """Return a number of bytes in powers of two.

    >>> binary(131_072), binary(524_288_000), binary(656)
    ('128 KiB', '500 MiB', '656 bytes')
    """
    return _in_units(size, ((GIB * 2**10, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")))


def decimal(size: float) -> str:
    """Return a number of bytes in powers of ten.

    >>> decimal(4 * GIB)
    '4.295 GB'
    """
    return _in_units(size, ((GB * 1000, "TB"), (GB, "GB"), (MB, "MB"), (KB, "kB")))


def _in_units(size, units):
    for factor, name in units:
        if size >= factor:
            return f"{size / factor:,.3f}".rstrip("0").rstrip(".") + f" {name}"
    return f"{size:,} bytes"
