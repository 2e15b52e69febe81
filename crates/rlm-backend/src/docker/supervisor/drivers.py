# Drivers: their pipes on one side, the stream on the other.

class Driver:
    """One driver. Where the host gave it pipes of its own, the stream has only its start and end."""

    def __init__(self, supervisor, number, argv, fds):
        self.supervisor, self.number = supervisor, number
        self.outputs, self.input, self.unwritten = {}, None, bytearray()
        self.in_flight, self.ended, self.status, self.pid = 0, None, None, None
        self.interrupted, self.killed, self.give_up = False, False, None
        if fds is None:
            fds = self.make_pipes()
        self.oom_kills = killed_for_memory()
        self.keeper, self.told = start_keeper(argv, fds, supervisor.workdir)
        self.news = bytearray()
        for fd in fds:
            os.close(fd)

    def make_pipes(self):
        driver_in, self.input = os.pipe()
        control, driver_out = os.pipe()
        out, driver_stdout = os.pipe()
        err, driver_stderr = os.pipe()
        self.outputs = {CONTROL: control, STDOUT: out, STDERR: err}
        for fd in (self.input, control, out, err):
            os.set_blocking(fd, False)
        return [driver_in, driver_out, driver_stdout, driver_stderr]

    def wanted(self):
        """What is waited for: descriptors with events."""
        if self.told is not None:
            yield self.told, select.POLLIN
        if self.in_flight < WINDOW:
            for fd in self.outputs.values():
                yield fd, select.POLLIN
        if self.unwritten:
            yield self.input, select.POLLOUT

    def write(self, data):
        if self.input is None:
            return
        self.unwritten += data
        self.write_on()

    def write_on(self):
        try:
            while self.unwritten:
                del self.unwritten[:os.write(self.input, self.unwritten)]
        except BlockingIOError:
            pass
        except OSError:
            self.unwritten.clear()

    def carry(self):
        """Takes what is in the pipes to the host: output before the words that may follow from it."""
        if not self.outputs:
            return False
        control = self.outputs.get(CONTROL)
        spoken = waiting_in(control) if control is not None else 0
        ended = [fd for fd in self.outputs.values() if has_ended(fd)]
        moved, whole = False, True
        for channel in (STDOUT, STDERR):
            count, all_of_it = self.forward(channel, self.held(channel))
            moved, whole = moved or count > 0, whole and all_of_it
        if whole and spoken:
            moved = self.forward(CONTROL, spoken)[0] > 0 or moved
        for channel, fd in list(self.outputs.items()):
            if fd in ended and waiting_in(fd) == 0:
                os.close(self.outputs.pop(channel))
                self.supervisor.stream.put("D", self.number * 4 + channel)
                moved = True
        return moved

    def held(self, channel):
        fd = self.outputs.get(channel)
        return waiting_in(fd) if fd is not None else 0

    def forward(self, channel, size):
        """Moves at most `size` bytes; says how many, and whether those were all."""
        moved = 0
        while moved < size:
            room = min(CHUNK, size - moved, WINDOW - self.in_flight)
            if room <= 0:
                return moved, False
            try:
                data = os.read(self.outputs[channel], room)
            except BlockingIOError:
                break
            if not data:
                break
            self.supervisor.stream.put("D", self.number * 4 + channel, data)
            moved += len(data)
            self.in_flight += len(data)
        return moved, True

    def interrupt(self):
        if self.pid is None:
            self.interrupted = True
        elif self.status is None:
            quietly(os.killpg, self.pid, signal.SIGINT)

    def kill(self):
        self.killed = True
        if self.told is not None:
            kill_below(self.keeper)
            self.give_up = time.monotonic() + PATIENCE

    def hear(self):
        """Takes in what the keeper tells."""
        try:
            data = os.read(self.told, 64)
        except BlockingIOError:
            return
        self.news += data
        if self.pid is None and len(self.news) >= 4:
            self.pid = struct.unpack_from(">i", self.news)[0]
            if self.interrupted:
                self.interrupt()
        if len(self.news) >= 8:
            self.over(struct.unpack_from(">i", self.news, 4)[0])
        elif not data:
            # The keeper was killed: what it kept is this program's now.
            self.sweep()
            self.over(signal.SIGKILL)

    def sweep(self):
        quietly(os.kill, self.keeper, signal.SIGKILL)
        kill_below(os.getpid(), self.supervisor.keepers() - {self.keeper})

    def over(self, status):
        os.close(self.told)
        self.told, self.status = None, status
        self.ended = time.monotonic()

    def attend(self):
        """What has to be done in time; says whether everything of the driver is told."""
        now = time.monotonic()
        if self.told is not None and self.give_up is not None and now > self.give_up:
            self.sweep()
            self.over(signal.SIGKILL)
        if self.status is None:
            return False
        emptied = all(waiting_in(fd) == 0 for fd in self.outputs.values())
        if not emptied and now < self.ended + LAST_WORDS:
            return False
        self.tell_end()
        return True

    def tell_end(self):
        status = self.status
        if os.WIFSIGNALED(status):
            told = {"signal": os.WTERMSIG(status)}
            told["memory"] = not self.killed and told["signal"] == signal.SIGKILL \
                and killed_for_memory() > self.oom_kills
        else:
            told = {"code": os.WEXITSTATUS(status)}
        for fd in (*self.outputs.values(), self.input):
            if fd is not None:
                quietly(os.close, fd)
        self.outputs, self.input = {}, None
        self.supervisor.stream.put_json("E", self.number, told)


def has_ended(fd):
    """Whether nobody can write to a pipe any more."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return any(events & select.POLLHUP for _, events in poll.poll(0))
