"""Hosts that are not of the public internet are told by every spelling."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.web.hosts import is_private_address, is_private_ip

#: one address of every range in IANA's registries of special-purpose addresses, of multicast, and
#: of what is not given out
SPECIAL = """
0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 172.31.0.1 192.0.0.9 192.0.0.171 192.0.2.1
192.31.196.1 192.52.193.1 192.88.99.1 192.168.1.1 192.175.48.1 198.19.0.1 198.51.100.1 203.0.113.1
224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
:: ::1 ::127.0.0.1 ::1.2.3.4 ::ffff:127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::10.0.0.1 64:ff9b:1::1
100::1 100:0:0:1::1 2001::1 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:20::1 2001:30::1
2001:db8::1 2002:a00:1::1 2620:4f:8000::1 3fff::1 5f00::1 fc00::1 fd00::1 fe80::1 fec0::1 ff02::1
ff0e::1 4000::1
""".split()
PUBLIC = """
8.8.8.8 1.1.1.1 172.32.0.1 192.0.1.1 198.20.0.1 223.255.255.254
2606:4700::1 2a00:1450::1 2001:4860::8888 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
""".split()


@pytest.mark.parametrize("address", SPECIAL)
def test_special_addresses_are_private(address: str) -> None:
    assert is_private_ip(address)
    assert is_private_address(f"[{address}]" if ":" in address else address)


@pytest.mark.parametrize("address", PUBLIC)
def test_others_are_not(address: str) -> None:
    assert not is_private_ip(address)
    assert not is_private_address(f"[{address}]" if ":" in address else address)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "2130706433",
            "0x7f.1",
            "127.1",
            "0177.0.0.1",
            "0x7F000001",
            "017700000001",
            "127.0.0.1.",
        ),
        *("127.0.0.1.", "0", "0x", "256.0.0.1", "1.2.3.4.5", "127.0.0.08", "4294967296"),
        *("１２７.0.0.1", "%31%32%37.0.0.1", "127。0。0。1"),
        *("localhost", "LOCALHOST.", "x.localhost", "nas.local", "metadata.google.internal"),
        *("router", "wiki.home.arpa", "wiki.corp", "host.localdomain", ""),
    ],
)
def test_other_spellings_and_private_names_are_private(host: str) -> None:
    assert is_private_address(host)


@pytest.mark.parametrize(
    "host", ["134744072", "0x8.8.8.8", "010.8.8.8", "example.org", "local.example.org", "x.demo1"]
)
def test_public_spellings_and_names_are_not(host: str) -> None:
    assert not is_private_address(host)


@given(st.integers(0, 2**32 - 1), st.data())
def test_numbers_are_read_as_the_system_reads_them(number: int, data: st.DataObject) -> None:
    """``inet_aton`` is what proxies resolve such names by."""
    octets = list(IPv4Address(number).packed)
    kept = data.draw(st.integers(0, 3))
    parts = [*octets[:kept], int.from_bytes(octets[kept:], "big")]
    forms = ["{}".format, "0x{:x}".format, "0{:o}".format]
    host = ".".join(data.draw(st.sampled_from(forms))(part) for part in parts)
    read = str(IPv4Address(socket.inet_aton(host)))
    assert read == str(IPv4Address(number))
    assert is_private_address(host) == is_private_ip(read)


@given(st.ip_addresses(v=6))
def test_what_the_library_knows_to_be_inner_is_private(address: IPv6Address) -> None:
    if address.is_private or address.is_multicast or address.is_link_local:
        stands_for = address.ipv4_mapped or address.sixtofour
        assert is_private_ip(str(address)) or (stands_for and not is_private_ip(str(stands_for)))
