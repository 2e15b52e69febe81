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
        if _ident() != MAIN_THREAD:
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
        self.cell = None
        self.asked = 0
        self.closed = False
        self.unlock()

    def unlock(self):
        """Locks that nobody holds, and nobody who waits."""
        self.writing = _lock()
        self.changing = _lock()
        self.reading = False
        self.waiting = []

    def send(self, event, members):
        """Sends an event of the driver's own, between cells; `members` is the rest of its JSON."""
        line = f'{{"event":"{event}","token":"{self.token}",{members}}}\n'.encode("utf-8", "driver")
        with self.writing:
            self.write(line)

    def write(self, data):
        sent = _write(self.fd_out, data)
        if sent == len(data):
            return
        data = memoryview(data)
        while sent < len(data):
            data = data[sent:]
            sent = _write(self.fd_out, data)

    def take_line(self, mine):
        """Blocks until a line is there. An interrupt, which may come meanwhile, loses nothing."""
        while not self.lines:
            if mine and self.interrupts.running:
                self.interrupts.unmask(mine)
                try:
                    _select([self.fd_in], [], [])
                finally:
                    self.interrupts.mask()
            self.keep(self.read())
        return self.lines.pop(0)

    def read(self):
        data = _read(self.fd_in, 16384)
        if not data:
            raise EOFError("the host is gone")
        return data

    def keep(self, data):
        self.parts.append(data)
        if b"\n" in data:
            lines = b"".join(self.parts).split(b"\n")
            rest = lines.pop()
            self.parts = [rest] if rest else []
            self.lines.extend(lines)

    def accept(self, message):
        if message["op"] == "reply":
            if message["seq"] in self.replies:
                self.replies[message["seq"]] = message
        else:
            self.requests.append(message)

    def wait_for(self, arrived):
        """Blocks until something is there; reads, or waits for another thread that does."""
        mine = self.interrupts.mask()
        try:
            while not arrived():
                gate = None
                with self.changing:
                    if self.reading:
                        gate = _lock()
                        gate.acquire()
                        self.waiting.append(gate)
                    self.reading = True
                if gate is None:
                    self.read_one(mine)
                elif not arrived():
                    self.pass_gate(gate, mine)
        finally:
            self.interrupts.unmask(mine)

    def read_one(self, mine):
        try:
            self.accept(decode(str(self.take_line(mine), "utf-8")))
        finally:
            self.end_reading()

    def end_reading(self):
        with self.changing:
            self.reading = False
            if not self.waiting:
                return
            gates, self.waiting = self.waiting, []
        for gate in gates:
            gate.release()

    def pass_gate(self, gate, mine):
        self.interrupts.unmask(mine)
        try:
            gate.acquire()
        finally:
            if mine:
                self.interrupts.mask()

    def has_request(self):
        return self.requests

    def next_request(self):
        with self.changing:
            alone = not (self.reading or self.requests or self.lines or self.parts)
            if alone:
                self.reading = True
        if alone:
            request = self.read_request()
            if request is not None:
                return request
        self.wait_for(self.has_request)
        return self.requests.pop(0)

    def read_request(self):
        """The same in the most frequent case: nobody else reads, and it comes in one piece."""
        try:
            data = self.read()
            if data.find(b"\n") != len(data) - 1:
                return self.keep(data)
            message = decode(str(data, "utf-8"))
            return self.accept(message) if message["op"] == "reply" else message
        finally:
            self.end_reading()

    def end_cell(self):
        """From here on nothing is asked for the cell: what was, the host has before it reads "done"."""
        with self.writing:
            self.cell = None

    def ask(self, name, args, texts=()):
        """Asks the host in the name of the cell that runs, and gives its reply.

        `texts` go along as they are, as UTF-8, before the line that tells their sizes.
        """
        if self.closed:
            raise RuntimeError("a forked process has no channel to the host")
        mine = self.interrupts.mask()
        try:
            with self.writing:
                if self.cell is None:
                    raise RuntimeError("the host answers only while a cell runs")
                self.asked += 1
                seq = self.asked
                self.replies[seq] = None
                sizes = f'"texts":{[len(text) for text in texts]},' if texts else ""
                line = (f'{{"event":"call","token":"{self.token}","id":{self.cell},"seq":{seq},'
                        f'{sizes}"name":{quote(name)},"args":{quote(args)}}}\n')
                if texts:
                    self.write(f"#{self.token} {sum(map(len, texts))}\n".encode())
                    for text in texts:
                        self.write(text)
                self.write(line.encode("utf-8", "driver"))
        finally:
            self.interrupts.unmask(mine)
        try:
            self.wait_for(lambda: self.replies[seq] is not None)
            return self.replies[seq]
        finally:
            self.replies.pop(seq, None)

    def forked(self):
        self.closed = True
        self.unlock()
        for fd in (self.fd_in, self.fd_out):
            try:
                os.close(fd)
            except OSError:
                pass


class Host:
    """What a cell calls the host with."""

    def __init__(self, channel):
        self._channel = channel

    def call(self, name, args=None):
        """Asks the host for `name` with JSON arguments, and gives its JSON answer."""
        reply = self._channel.ask(str(name), encode(args))
        if reply.get("error") is not None:
            raise RuntimeError(reply["error"])
        return reply.get("value")

    def __repr__(self):
        return "<host: host.call(name, args)>"
