# The loop: a request, its answer.

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
