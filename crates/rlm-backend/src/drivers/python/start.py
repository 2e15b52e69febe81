"""The Python session driver: runs cells in one interpreter and reports each over a control channel.

Started as `python3 -c BOOTSTRAP IN OUT`, where IN and OUT are the numbers of two descriptors. This
text comes first on IN, and is followed by requests; events go out on OUT. Both are JSON, one object a
line. Standard input, output and error belong to the code that is run and carry nothing else.

Guaranteed: "done" is written after everything the cell wrote through Python, through descriptors 1
and 2, and through the C library; descriptors 1 and 2 lead to the host again after every cell; a
forked child never speaks on the channel; a signal SIGINT ends the cell and not the session.
Left out: time limits and bounds on output, which the host keeps. Python 3.9, standard library only.

An idle session should cost little more than a bare interpreter: nothing is imported here that a bare
one has not loaded already, but for modules written in C. What needs more is imported by its first use.
"""

import _signal
import _thread
import builtins
import codecs
import fcntl
import faulthandler
import io
import os
import select
import sys

DRIVER = "<driver>"
MAIN_THREAD = _thread.get_ident()
MAX_FRAMES = 30
MAX_TRACEBACK = 16384
MAX_MESSAGE = 4096
MAX_NAMES = 500
KEPT_CELLS = 1000
SPAWNING = frozenset(
    ["subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"]
)
NO_INPUT = "input() cannot ask anyone: standard input of this session is empty"

# The code that is run may replace these; the driver keeps its own.
_read, _write, _fstat, _dup2, _select = os.read, os.write, os.fstat, os.dup2, select.select
_getcwd, _ident, _lock = os.getcwd, _thread.get_ident, _thread.allocate_lock
_real_input = builtins.input


class Plain:
    """How JSON of the host is read."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


try:
    # What the module json itself uses, without the megabyte that comes with it.
    from _json import encode_basestring as quote, make_scanner

    _scan = make_scanner(Plain)

    def decode(text):
        return _scan(text, 0)[0]
except Exception:
    from json import loads as decode
    from json.encoder import encode_basestring as quote


_PLAIN = {str: quote, int: int.__repr__, bool: ("false", "true").__getitem__,
          type(None): lambda _: "null"}


def encode(value):
    """A value that code made as JSON; what is plain, without the module json, which is large."""
    write = _PLAIN.get(type(value))
    if write is not None:
        return write(value)
    if type(value) is dict and all(
        type(name) is str and type(member) in _PLAIN for name, member in value.items()
    ):
        members = (f"{quote(name)}: {_PLAIN[type(member)](member)}" for name, member in value.items())
        return f"{{{', '.join(members)}}}"
    import json

    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# A lone surrogate is not text that JSON can carry; U+FFFD is sent for it.
codecs.register_error("driver", lambda error: (b"\xef\xbf\xbd" * (error.end - error.start), error.end))


def bounded(text, limit):
    """The text, or its head and tail with a line that says how much was left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"


def high(fd):
    """Moves a descriptor out of the way, closed on exec."""
    for lowest in (200, 20, 3):
        try:
            return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError:
            continue
    raise OSError("no free descriptor")
