# The loop: frames of the host, words of drivers, news of keepers.

class Supervisor:
    def __init__(self):
        self.stream = Stream(0, 1)
        self.drivers = {}
        self.uploads = {}
        self.workdir = self.directory = self.shared = None
        self.woken, wake = os.pipe()
        for fd in (self.woken, wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def keepers(self):
        return {driver.keeper for driver in self.drivers.values()}

    def begin(self, request):
        """The first word of the host; the answer says what this container is."""
        self.workdir = request["workdir"]
        missing = self.missing()
        if not missing:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            # Code of the session is not to take this process over, nor its descriptors.
            prctl(PR_SET_DUMPABLE, 0)
            self.directory = Directory(self.workdir)
            self.shared = self.join(request["socket"])
        self.stream.put_json("H", 0, {"shared": self.shared is not None, "missing": missing})

    @staticmethod
    def missing():
        """What a session needs, and the image does not have."""
        missing = []
        if sys.version_info < (3, 9):
            missing.append("python3 3.9 or later (it has %d.%d)" % sys.version_info[:2])
        else:
            try:
                import ctypes  # noqa: F401
            except ImportError:
                missing.append("python3 with its whole standard library (ctypes)")
        path = os.environ.get("PATH", "/usr/bin:/bin").split(":")
        if not any(os.access(os.path.join(folder, "bash"), os.X_OK) for folder in path):
            missing.append("bash")
        return missing

    def join(self, path):
        """Meets the host at a socket that it shares, and gives it the directory; None where that can't
        be."""
        if path is None:
            return None
        try:
            meeting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            meeting.settimeout(5)
            meeting.connect(path)
            place = os.open(self.workdir, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                socket.send_fds(meeting, [b"w"], [place])
            finally:
                os.close(place)
            return meeting
        except OSError:
            return None

    def start(self, number, request, fds):
        if request["shared"] and len(fds) != 4:
            raise EOFError
        self.drivers[number] = Driver(self, number, request["argv"], fds or None)

    def hear_directly(self):
        """Takes a message of the host that came beside the stream."""
        data, fds, _, _ = socket.recv_fds(self.shared, 1 << 18, 4)
        if not data:
            raise EOFError
        kind, number, size = HEAD.unpack_from(data)
        self.take(chr(kind), number, data[HEAD.size:HEAD.size + size], fds)

    def take(self, kind, number, data, fds=()):
        driver = self.drivers.get(number)
        if kind == "I" and driver is not None:
            driver.write(data)
        elif kind == "A" and driver is not None:
            driver.in_flight -= struct.unpack(">I", data)[0]
        elif kind == "N" and driver is not None:
            driver.interrupt()
        elif kind == "K" and driver is not None:
            driver.kill()
        elif kind == "S":
            self.start(number, json.loads(data), fds)
        elif kind == "Q":
            self.asked(number, json.loads(data))
        elif kind == "P":
            self.fed(number, data)
        elif kind == "O":
            self.begin(json.loads(data))

    def asked(self, number, request):
        op = request["op"]
        if op in ("put", "unpack"):
            self.uploads[number] = (Put if op == "put" else Unpack)(self.directory, request)
            return
        try:
            if op == "get":
                self.answer(number, self.directory.get(request))
            elif op == "pack":
                self.answer(number, Pack(self.directory, request).pieces())
            elif op == "look":
                self.answer(number, [self.directory.look()])
            else:
                self.answer(number, [{"held": self.directory.held()}])
        except (OSError, Refused) as error:
            self.answer(number, [refusal(error)])

    def answer(self, number, pieces):
        for piece in pieces:
            if isinstance(piece, dict):
                self.stream.put_json("R", number, piece)
            else:
                self.stream.put("P", number, piece)

    def fed(self, number, data):
        upload = self.uploads.get(number)
        if upload is None:
            return
        if data:
            upload.feed(data)
        else:
            del self.uploads[number]
            self.answer(number, [upload.end()])

    def serve(self):
        while True:
            for fd, events in self.wait():
                if fd == self.stream.fd_in:
                    for frame in self.stream.frames():
                        self.take(*frame)
                elif fd == self.woken:
                    self.reap()
                elif self.shared is not None and fd == self.shared.fileno():
                    self.hear_directly()
            for driver in list(self.drivers.values()):
                self.look_after(driver)
            self.stream.flush()

    def wait(self):
        poll = select.poll()
        poll.register(self.stream.fd_in, select.POLLIN)
        poll.register(self.woken, select.POLLIN)
        if self.shared is not None:
            poll.register(self.shared.fileno(), select.POLLIN)
        hurry = False
        for driver in self.drivers.values():
            hurry = hurry or driver.give_up is not None or driver.ended is not None
            for fd, events in driver.wanted():
                poll.register(fd, events)
        return poll.poll(20 if hurry else None)

    def look_after(self, driver):
        if driver.unwritten:
            driver.write_on()
        if driver.told is not None:
            driver.hear()
        while driver.in_flight < WINDOW and driver.carry():
            pass
        if driver.attend():
            del self.drivers[driver.number]

    def reap(self):
        while quietly(os.read, self.woken, 4096):
            pass
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    return
            except ChildProcessError:
                return

    def end(self):
        """The host is gone: everything ends."""
        kill_below(os.getpid())


def main():
    supervisor = Supervisor()
    try:
        supervisor.serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    supervisor.end()
    os._exit(0)


main()
