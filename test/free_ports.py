# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ports for servers of tests."""
import random
import socket


def free_ports(count):
    """So many that nobody listens on. Below those that the system gives to who
    connects, who could take one before its server, or while that is away."""
    held = []
    while len(held) < count:
        try:
            held.append(socket.create_server(("127.0.0.1", random.randrange(10000, 32000))))
        except OSError:
            pass  # in use
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports
