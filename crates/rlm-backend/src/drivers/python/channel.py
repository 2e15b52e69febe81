# The control channel, and when an interrupt may reach the code of a cell.

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
        if self.masked:
            self.pending = True
            return
        raise KeyboardInterrupt

    def install(self):
        if _signal.getsignal(2) is not self.handler:
            _signal.signal(2, self.handler)

    def mask(self):
        if threading.get_ident() != MAIN_THREAD:
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
                data = _read(self.fd_in, 65536)
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
