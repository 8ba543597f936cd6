# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strangers: who connects to a port of a program and is none of its processes."""
import contextlib
import os
import socket
import threading
import time

# The first bytes of a client of HTTP/2.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@contextlib.contextmanager
def garbage_at(ports):
    """Garbage comes to the ports of this machine, one after another, at some hundred connections a second."""
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            for port in ports:
                try:
                    with socket.create_connection(("127.0.0.1", port), 0.5) as one:
                        one.sendall(os.urandom(200) if time.time_ns() % 2 else PREFACE + os.urandom(99))
                except OSError:
                    pass
            time.sleep(0.005)
    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
