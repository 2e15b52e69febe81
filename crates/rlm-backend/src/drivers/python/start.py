"""The Python session driver: runs cells in one interpreter and reports each over a control channel.

Started as `python3 -c BOOTSTRAP SOURCE IN OUT`, where IN and OUT are the numbers of two descriptors
that carry JSON, one object a line: requests come in on IN, events go out on OUT. Standard input,
output and error belong to the code that is run and carry nothing else.

Guaranteed: "done" is written after everything the cell wrote through Python, through descriptors 1
and 2, and through the C library; descriptors 1 and 2 lead to the host again after every cell; a
forked child never speaks on the channel; a signal SIGINT ends the cell and not the session.
Left out: time limits and bounds on output, which the host keeps. Python 3.9, standard library only.
"""

import _ast
import _signal
import builtins
import codecs
import fcntl
import faulthandler
import io
import json
import linecache
import os
import select
import sys
import threading

DRIVER = "<driver>"
MAIN_THREAD = threading.get_ident()
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
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_decode = json.loads
_real_input = builtins.input


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
