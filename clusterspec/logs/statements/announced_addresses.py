"""Addresses that ranks announce, and addresses and routes that differ from them."""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import lines_of

LONGEST = 1_000
"""Largest number of characters of a line that is read."""
_ADDRESS = r"((?:[0-9]{1,3}\.){3}[0-9]{1,3})"
_ANNOUNCED = re.compile(rf"\bBootstrap ?: Using (?:\[0\])?[\w.-]{{1,40}}:{_ADDRESS}<")
"""The interface on which a rank of NCCL or RCCL listens (NVIDIA/nccl, `src/bootstrap.cc`)."""
_CONNECTED = re.compile(rf"\b[Cc]onnect(?:ion)? to {_ADDRESS}<[0-9]{{1,5}}> (?:failed|returned)")
"""A connection that failed (NVIDIA/nccl, `src/misc/socket.cc`)."""
_ROUTE = re.compile(rf"^\s{{0,8}}({_ADDRESS}/[0-9]{{1,2}}) dev (\S{{1,40}}) .{{0,80}}\bscope link\b")
"""A route to a network of an interface, as `ip route` prints it."""
Told = tuple[str, int]


def unannounced_address(text: str) -> tuple[str, int, int] | None:
    """An address to which a rank cannot connect and that no rank announces, the line, and the number of addresses that
    are announced; None without any.

    >>> unannounced_address(
    ...     "NCCL INFO Bootstrap : Using eth1:10.2.0.1<0>\\nNCCL INFO Bootstrap : Using eth1:10.2.0.2<0>\\n"
    ...     "NCCL WARN socketStartConnect: Connect to 10.3.0.2<4> failed : No route to host")
    ('2 addresses are announced, and 10.3.0.2 is none of them', 3, 2)
    """
    if "Bootstrap" not in text or "onnect" not in text:
        return None
    lines = [line[:LONGEST] for line in lines_of(text)]
    announced = {found[1] for line in lines if (found := _ANNOUNCED.search(line))}
    for number, line in enumerate(lines, 1):
        if announced and (found := _CONNECTED.search(line)) and found[1] not in announced:
            count = len(announced)
            return f"{count} addresses are announced, and {found[1]} is none of them", number, count
    return None


def doubled_route(text: str) -> Told | None:
    """A network that a host reaches by two interfaces, and the line of the second; None without any.

    >>> doubled_route(
    ...     "10.2.0.0/16 dev eno1 proto kernel scope link src 10.2.3.4\\n"
    ...     "10.2.0.0/16 dev ens2 proto kernel scope link src 10.2.5.4")
    ('10.2.0.0/16 is reached by eno1 and by ens2', 2)
    """
    if "scope link" not in text:
        return None
    devices: dict[str, str] = {}
    for number, line in enumerate(lines_of(text), 1):
        if route := _ROUTE.match(line[:LONGEST]):
            network, device = route[1], route[3]
            if devices.setdefault(network, device) != device:
                return f"{network} is reached by {devices[network]} and by {device}", number
    return None
