"""The supervisor of a session's container: starts drivers, carries what they say, reaches the files.

Started as the container's command, with one stream to the host: standard input and output. This text
comes first on it, and is followed by frames: a kind (one byte), a number, a length (four bytes each,
big endian), and that many bytes. Frames go both ways.

Guaranteed: what a driver wrote before its word on the control channel reaches the host before that
word; what it wrote before its end, before the news of the end; whatever a driver started is killed
with it, also what left its session; when the stream ends, everything ends.
Left out: any protection of the host. Code of the session runs as the same user, so the host believes
this program no more than that code. Python 3.9, standard library only.
"""

import array
import errno
import fcntl
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import termios
import time

HEAD = struct.Struct(">BII")
CHUNK = 65536
PART = 1 << 18
# How many bytes of a driver may be on their way to the host.
WINDOW = 1 << 20
# How long a keeper may take to tell the end of a driver that was killed, in seconds.
PATIENCE = 1.0
# How long what a dead driver left in its pipes is waited for, in seconds.
LAST_WORDS = 0.5

CONTROL, STDOUT, STDERR = 1, 2, 3
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


def prctl(option, value):
    """Asks the kernel for something of this process; says whether it agreed."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0


def quietly(call, *args):
    """Does what may fail because something is gone already."""
    try:
        return call(*args)
    except OSError:
        return None


def waiting_in(fd):
    """How many bytes a pipe holds."""
    size = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, size)
    return size[0]


class Stream:
    """The stream to the host."""

    def __init__(self, fd_in, fd_out):
        self.fd_in, self.fd_out = fd_in, fd_out
        self.received = bytearray()
        self.unsent = bytearray()

    def put(self, kind, number, *parts):
        """Lines a frame up; it goes with the next flush."""
        self.unsent += HEAD.pack(ord(kind), number, sum(map(len, parts)))
        for part in parts:
            self.unsent += part
        if len(self.unsent) >= PART:
            self.flush()

    def put_json(self, kind, number, value):
        self.put(kind, number, json.dumps(value).encode())

    def flush(self):
        data, self.unsent = memoryview(self.unsent), bytearray()
        while data:
            data = data[os.write(self.fd_out, data):]

    def frames(self):
        """Takes one read in, and gives the frames that are whole."""
        data = os.read(self.fd_in, CHUNK)
        if not data:
            raise EOFError
        received = self.received
        received += data
        at = 0
        while len(received) - at >= HEAD.size:
            kind, number, size = HEAD.unpack_from(received, at)
            end = at + HEAD.size + size
            if len(received) < end:
                break
            yield chr(kind), number, bytes(received[at + HEAD.size:end])
            at = end
        del received[:at]
