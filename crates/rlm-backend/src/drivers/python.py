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
import builtins
import codecs
import fcntl
import faulthandler
import io
import json
import linecache
import os
import select
import signal
import sys
import threading

DRIVER = "<driver>"
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


class Interrupts:
    """SIGINT becomes KeyboardInterrupt while a cell runs, and nothing at any other time."""

    def __init__(self):
        self.running = False
        self.masked = False
        self.pending = False
        self.handler = self.handle

    def handle(self, _signum, _frame):
        if not self.running:
            return
        if self.masked and threading.current_thread() is threading.main_thread():
            self.pending = True
            return
        raise KeyboardInterrupt

    def install(self):
        if signal.getsignal(signal.SIGINT) is not self.handler:
            signal.signal(signal.SIGINT, self.handler)

    def mask(self):
        if threading.current_thread() is not threading.main_thread():
            return False
        was, self.masked = self.masked, True
        return not was

    def unmask(self, mine):
        if not mine:
            return
        self.masked = False
        if self.pending:
            self.pending = False
            if self.running:
                raise KeyboardInterrupt


class Channel:
    """The control channel: whole lines in, whole lines out, from any thread.

    Whoever waits for something reads; there is one reader at a time, and it hands on what is not
    its own. So a call back to the host needs no thread of its own.
    """

    def __init__(self, fd_in, fd_out, interrupts):
        self.fd_in, self.fd_out = high(fd_in), high(fd_out)
        os.close(fd_in)
        if fd_out != fd_in:
            os.close(fd_out)
        self.interrupts = interrupts
        self.token = ""
        self.parts = []
        self.lines = []
        self.requests = []
        self.replies = {}
        self.reading = False
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.closed = False

    def send(self, event):
        if self.closed:
            raise RuntimeError("a forked process has no channel to the host")
        event["token"] = self.token
        data = memoryview((_encode(event) + "\n").encode("utf-8", "driver"))
        mine = self.interrupts.mask()
        try:
            with self.writing:
                while data:
                    data = data[_write(self.fd_out, data):]
        finally:
            self.interrupts.unmask(mine)

    def take_line(self):
        """Blocks until a line is there. An interrupt loses nothing of it."""
        while not self.lines:
            if self.interrupts.running:
                _select([self.fd_in], [], [])
            mine = self.interrupts.mask()
            try:
                data = _read(self.fd_in, 1 << 20)
                if not data:
                    raise EOFError("the host is gone")
                self.parts.append(data)
                if b"\n" in data:
                    lines = b"".join(self.parts).split(b"\n")
                    self.parts = [lines.pop()]
                    self.lines.extend(lines)
            finally:
                self.interrupts.unmask(mine)
        return self.lines.pop(0)

    def accept(self, line):
        message = _decode(line)
        if message.get("op") == "reply":
            if message["seq"] in self.replies:
                self.replies[message["seq"]] = message
        else:
            self.requests.append(message)

    def wait_for(self, arrived):
        while True:
            with self.changed:
                while not arrived() and self.reading:
                    self.changed.wait()
                if arrived():
                    return
                self.reading = True
            try:
                self.accept(self.take_line())
            finally:
                with self.changed:
                    self.reading = False
                    self.changed.notify_all()

    def next_request(self):
        self.wait_for(lambda: self.requests)
        return self.requests.pop(0)

    def ask(self, seq, event):
        self.replies[seq] = None
        try:
            self.send(event)
            self.wait_for(lambda: self.replies[seq] is not None)
            return self.replies[seq]
        finally:
            self.replies.pop(seq, None)

    def forked(self):
        self.closed = True
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        for fd in (self.fd_in, self.fd_out):
            try:
                os.close(fd)
            except OSError:
                pass


class Streams:
    """Descriptors 0, 1 and 2, and the Python objects over them."""

    def __init__(self):
        self.saved = {fd: high(fd) for fd in (1, 2)}
        self.kept = {fd: self.identity(copy) for fd, copy in self.saved.items()}
        self.objects = {}
        self.modules_seen = 0
        self.libc = None
        self.renew()

    @staticmethod
    def identity(fd):
        status = _fstat(fd)
        return status.st_dev, status.st_ino

    @staticmethod
    def text(fd):
        raw = io.FileIO(fd, "wb", closefd=False)
        return io.TextIOWrapper(
            io.BufferedWriter(raw, 65536), "utf-8", "backslashreplace", line_buffering=True
        )

    def renew(self):
        """The streams as a cell finds them, whatever the one before did to them."""
        for fd, name in ((1, "stdout"), (2, "stderr")):
            stream = self.objects.get(fd)
            if stream is None or stream.closed or stream.buffer.closed:
                stream = self.objects[fd] = self.text(fd)
                setattr(sys, f"__{name}__", stream)
            if getattr(sys, name, None) is not stream:
                setattr(sys, name, stream)
        stdin = getattr(sys, "stdin", None)
        if stdin is None or getattr(stdin, "closed", True):
            raw = open(os.devnull, "rb") if not self.is_open(0) else io.FileIO(0, closefd=False)
            sys.stdin = io.TextIOWrapper(io.BufferedReader(raw), "utf-8", "replace")

    @staticmethod
    def is_open(fd):
        try:
            _fstat(fd)
            return True
        except OSError:
            return False

    def flush(self):
        """Everything that was written through Python goes to the descriptors."""
        for stream in {id(s): s for s in (sys.stdout, sys.stderr, *self.objects.values())}.values():
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass

    def settle(self):
        """Flushes all layers, then leads descriptors 1 and 2 to the host again."""
        self.flush()
        self.flush_c()
        for fd, copy in self.saved.items():
            try:
                same = self.identity(fd) == self.kept[fd]
            except OSError:
                same = False
            if not same:
                _dup2(copy, fd)
                self.flush()

    def flush_c(self):
        """The C library's buffers, where something that may use them was loaded."""
        if self.libc is None:
            if len(sys.modules) == self.modules_seen:
                return
            self.modules_seen = len(sys.modules)
            if not any(self.is_foreign(module) for module in list(sys.modules.values())):
                return
            try:
                import ctypes

                self.libc = ctypes.CDLL(None)
            except (ImportError, OSError):
                return
        self.libc.fflush(None)

    @staticmethod
    def is_foreign(module):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not path.endswith(".so"):
            return False
        return "lib-dynload" not in path or "_ctypes" in path

    def forked(self):
        for copy in self.saved.values():
            try:
                os.close(copy)
            except OSError:
                pass


class Host:
    """What a cell calls the host with."""

    def __init__(self, channel):
        self._channel = channel
        self._cell = None
        self._last = 0
        self._lock = threading.Lock()

    def call(self, name, args=None):
        """Asks the host for `name` with JSON arguments, and gives its JSON answer."""
        cell = self._cell
        if cell is None:
            raise RuntimeError("the host answers only while a cell runs")
        args = _encode(args)
        with self._lock:
            self._last += 1
            seq = self._last
        event = {"event": "call", "id": cell, "seq": seq, "name": str(name), "args": args}
        reply = self._channel.ask(seq, event)
        if reply.get("error") is not None:
            raise RuntimeError(reply["error"])
        return reply.get("value")

    def __repr__(self):
        return "<host: host.call(name, args)>"


def clean(report, seen=None):
    """Drops the driver's own frames from a traceback report and all it is chained to."""
    seen = set() if seen is None else seen
    if report is None or id(report) in seen:
        return
    seen.add(id(report))
    frames = [frame for frame in report.stack if frame.filename != DRIVER]
    if len(frames) > MAX_FRAMES and len({(f.filename, f.lineno) for f in frames}) > MAX_FRAMES:
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2:]
    report.stack = type(report.stack).from_list(frames)
    clean(report.__cause__, seen)
    clean(report.__context__, seen)
    for inner in getattr(report, "exceptions", None) or ():
        clean(inner, seen)


def message_of(error):
    try:
        return bounded(str(error), MAX_MESSAGE)
    except BaseException:
        return "<the exception's text cannot be had>"


def describe(error):
    """Name, message and traceback of what a cell raised; never raises itself."""
    name = type(error).__name__
    try:
        import traceback

        report = traceback.TracebackException(type(error), error, error.__traceback__)
        clean(report)
        text = "".join(report.format())
    except BaseException:
        text = f"{name}: {message_of(error)}\n"
    return {
        "name": name,
        "message": message_of(error),
        "traceback": bounded(text, MAX_TRACEBACK),
    }


def repr_of(value, limit):
    if type(value) in (str, bytes) and len(value) > 2 * limit:
        half = limit // 2
        left_out = len(value) - 2 * half
        return f"{value[:half]!r}\n[... {left_out} characters left out ...]\n{value[-half:]!r}"
    try:
        return bounded(repr(value), limit)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return f"<{type(value).__name__} object; its repr raised {type(error).__name__}>"


def special(value, method):
    """What a display method gives, or None: on the class only, as notebooks do."""
    if isinstance(value, type) or not hasattr(type(value), method):
        return None
    try:
        return getattr(value, method)()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


class Cells:
    """The user's namespace, and how a cell is compiled, run and shown."""

    def __init__(self, host, limits):
        self.limits = limits
        self.module = type(sys)("__main__")
        self.space = self.module.__dict__
        self.space["__builtins__"] = builtins
        self.pinned = {"host": host}
        self.own = set(self.space) | {"host"}
        self.names = []
        self.loop = None
        self.count = 0
        sys.modules["__main__"] = self.module

    def restore_pinned(self):
        for name, value in self.pinned.items():
            if self.space.get(name, self) is not value:
                self.space[name] = value

    def compile(self, source):
        self.count += 1
        name = f"<cell {self.count}>"
        lines = source.splitlines(True)
        linecache.cache[name] = (len(source), None, lines, name)
        self.names.append(name)
        if len(self.names) > KEPT_CELLS:
            linecache.cache.pop(self.names.pop(0), None)
        flags = _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(source, name, "exec", flags | _ast.PyCF_ONLY_AST, True)
        last = None
        if tree.body and type(tree.body[-1]) is _ast.Expr:
            last = _ast.Expression(tree.body.pop().value)
        parts = []
        if tree.body:
            parts.append(compile(tree, name, "exec", flags, True))
        if last is not None:
            parts.append(compile(last, name, "eval", flags, True))
        return parts, last is not None and not source.rstrip().endswith(";")

    def run(self, source):
        """Runs a cell and gives what is to be shown of its value."""
        parts, shows = self.compile(source)
        value = None
        for code in parts:
            value = eval(code, self.space)
            if code.co_flags & 0x80:
                value = self.complete(value)
        if not shows or value is None:
            return []
        builtins._ = value
        return self.show(value)

    def complete(self, coroutine):
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            return self.loop.run_until_complete(task)
        finally:
            if not task.done():
                task.cancel()
                try:
                    self.loop.run_until_complete(task)
                except (asyncio.CancelledError, Exception):
                    pass

    def show(self, value):
        shown = []
        png = special(value, "_repr_png_")
        if isinstance(png, tuple):
            png = png[0]
        if isinstance(png, (bytes, bytearray)):
            shown.append(self.image(bytes(png)))
        html = special(value, "_repr_html_")
        if isinstance(html, str):
            shown.append({"type": "html", "html": bounded(html, self.limits["html"])})
        shown.append({"type": "text", "text": repr_of(value, self.limits["text"])})
        return shown

    def image(self, data):
        if len(data) > self.limits["image"]:
            return {"type": "text", "text": f"[an image of {len(data)} bytes was left out]"}
        import base64

        encoded = base64.b64encode(data).decode()
        return {"type": "image", "media_type": "image/png", "data": encoded}

    def figures(self):
        """Open matplotlib figures, drawn and closed."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return []
        shown = []
        try:
            for number in list(pyplot.get_fignums()):
                buffer = io.BytesIO()
                pyplot.figure(number).savefig(buffer, format="png")
                shown.append(self.image(buffer.getvalue()))
            pyplot.close("all")
        except KeyboardInterrupt:
            raise
        except Exception as error:
            shown.append({"type": "text", "text": f"[a figure failed: {message_of(error)}]"})
        return shown

    def listing(self):
        items = []
        for name, value in list(self.space.items()):
            if name in self.own or name in self.pinned or name.startswith("__"):
                continue
            if len(items) == MAX_NAMES:
                break
            items.append({"name": bounded(str(name), 200), "type": type(value).__name__,
                          "size": size_of(value)})
        return items


def size_of(value):
    """Elements of a built-in container or text, else bytes; never a walk through the value."""
    try:
        if isinstance(value, (str, bytes, bytearray, list, tuple, dict, set, frozenset)):
            return len(value)
        return object.__sizeof__(value)
    except Exception:
        return 0


class Driver:
    def __init__(self, fd_in, fd_out):
        self.pid = os.getpid()
        self.interrupts = Interrupts()
        self.channel = Channel(fd_in, fd_out, self.interrupts)
        self.streams = Streams()
        self.host = Host(self.channel)
        self.interrupts.install()
        os.register_at_fork(after_in_child=self.forked)
        sys.addaudithook(self.audit)
        builtins.input = self.input

    def forked(self):
        self.channel.forked()
        self.streams.forked()

    def audit(self, event, _args):
        if event in SPAWNING:
            self.streams.flush()

    @staticmethod
    def input(prompt=""):
        if prompt:
            print(prompt, end="", flush=True)
        try:
            return _real_input()
        except EOFError:
            raise EOFError(NO_INPUT) from None

    def serve(self):
        hello = self.channel.next_request()
        self.channel.token = hello["token"]
        self.cells = Cells(self.host, hello["limits"])
        version = ".".join(str(part) for part in sys.version_info[:3])
        self.channel.send({"event": "ready", "pid": self.pid, "version": version})
        handlers = {"run": self.run, "set": self.set, "get": self.get, "list": self.list}
        while True:
            try:
                request = self.channel.next_request()
                handlers[request["op"]](request)
            except KeyboardInterrupt:
                continue

    def run(self, request):
        self.streams.renew()
        self.interrupts.install()
        self.cells.restore_pinned()
        self.host._cell = request["id"]
        depth = sys.getrecursionlimit()
        shown, error, code = self.guarded(request["code"])
        self.host._cell = None
        if sys.getrecursionlimit() < depth:
            sys.setrecursionlimit(depth)
        if os.getpid() != self.pid:
            self.streams.flush()
            os._exit(code)
        self.streams.settle()
        cwd, exists = where()
        self.channel.send({"event": "done", "id": request["id"], "exit_code": code,
                           "error": error, "shown": shown, "cwd": cwd, "cwd_exists": exists,
                           "state": "kept"})

    def guarded(self, source):
        """Runs a cell; whatever it raises comes back as data."""
        shown, error, code = [], None, 0
        try:
            try:
                self.interrupts.running = True
                shown = self.cells.run(source)
                shown.extend(self.cells.figures())
            finally:
                self.interrupts.running = False
        except SystemExit as ended:
            code = self.status_of(ended)
        except BaseException as raised:
            self.interrupts.running = False
            code = 130 if isinstance(raised, KeyboardInterrupt) else 1
            error = describe(raised)
            if os.getpid() != self.pid:
                print(error["traceback"], file=sys.stderr, end="", flush=True)
        self.interrupts.pending = False
        return shown, error, code

    @staticmethod
    def status_of(ended):
        if ended.code is None:
            return 0
        if isinstance(ended.code, int):
            return ended.code & 0xFF
        try:
            print(ended.code, file=sys.stderr)
        except Exception:
            pass
        return 1

    def answer(self, request, event, work):
        try:
            value = _encode(work())
            if len(value) > self.cells.limits["value"]:
                raise ValueError(f"the value is {len(value)} characters of JSON, which is too much")
            reply = {"event": event, "id": request["id"], "value": value, "error": None}
        except Exception as error:
            text = f"{type(error).__name__}: {message_of(error)}"
            reply = {"event": event, "id": request["id"], "value": "null", "error": text}
        self.channel.send(reply)

    def set(self, request):
        def work():
            self.cells.space[request["name"]] = request["value"]
            if request["pinned"]:
                self.cells.pinned[request["name"]] = request["value"]
            else:
                self.cells.pinned.pop(request["name"], None)
            return None

        self.answer(request, "value", work)

    def get(self, request):
        def work():
            if request["name"] not in self.cells.space:
                raise NameError(f"name '{request['name']}' is not defined")
            return self.cells.space[request["name"]]

        self.answer(request, "value", work)

    def list(self, request):
        self.channel.send({"event": "names", "id": request["id"], "names": self.cells.listing()})


def where():
    try:
        return os.getcwd(), True
    except OSError:
        return os.environ.get("PWD", ""), False


def main():
    fd_in, fd_out = int(sys.argv[1]), int(sys.argv[2])
    sys.argv[:] = [""]
    os.environ.setdefault("MPLBACKEND", "agg")
    faulthandler.enable()
    driver = Driver(fd_in, fd_out)
    code = 70
    try:
        driver.serve()
    except EOFError:
        code = 0
    except BaseException as error:
        print(f"the session's driver failed: {error!r}", file=sys.stderr)
    driver.streams.flush()
    os._exit(code)


main()
