# The loop: a request, its answer.

def flush_before_spawning(streams):
    """An audit hook; a plain function, because it is called for every cell, and a method costs more."""

    def audit(event, _args):
        if event in SPAWNING:
            streams.flush()

    return audit


class Driver:
    def __init__(self, fd_in, fd_out):
        self.pid = os.getpid()
        self.is_child = False
        self.place = None
        self.interrupts = Interrupts()
        self.channel = Channel(fd_in, fd_out, self.interrupts)
        self.streams = Streams()
        self.host = Host(self.channel)
        self.parts = {}
        self.interrupts.install()
        os.register_at_fork(after_in_child=self.forked)
        sys.addaudithook(flush_before_spawning(self.streams))
        builtins.input = self.input

    def forked(self):
        self.is_child = True
        self.channel.forked()
        self.streams.forked()

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
        self.channel.send("ready", f'"pid":{self.pid},"version":"{version}"')
        handlers = {"run": self.run, "set": self.set, "get": self.get, "list": self.list,
                    "part": self.part}
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
        self.channel.cell = request["id"]
        depth = sys.getrecursionlimit()
        shown, error, code = self.guarded(request["code"])
        self.channel.end_cell()
        if sys.getrecursionlimit() < depth:
            sys.setrecursionlimit(depth)
        if self.is_child:
            self.streams.flush()
            os._exit(code)
        self.streams.settle()
        self.report(request["id"], shown, error, code)

    def report(self, cell, shown, error, code):
        told = "null"
        if error is not None:
            name, message, traceback = map(quote, error)
            told = f'{{"name":{name},"message":{message},"traceback":{traceback}}}'
        self.channel.send("done", f'"id":{cell},"exit_code":{code},"error":{told},'
                                  f'"shown":[{",".join(shown)}],{self.where()},"state":"kept"')

    def where(self):
        """The working directory, as members of an event."""
        try:
            path = _getcwd()
        except OSError:
            path = os.environ.get("PWD", "")
            return f'"cwd":{quote(path)},"cwd_exists":false'
        if path != self.place:
            self.place, self.told_place = path, f'"cwd":{quote(path)},"cwd_exists":true'
        return self.told_place

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
            if self.is_child:
                print(error[2], file=sys.stderr, end="", flush=True)
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

    def answer(self, request, work):
        value, told = "null", "null"
        try:
            value = encode(work())
            if len(value) > self.cells.limits["value"]:
                size, value = len(value), "null"
                raise ValueError(f"the value is {size} characters of JSON, which is too much")
        except Exception as error:
            told = quote(f"{type(error).__name__}: {message_of(error)}")
        self.channel.send("value", f'"id":{request["id"]},"value":{quote(value)},"error":{told}')

    def set(self, request):
        def work():
            self.cells.space[request["name"]] = request["value"]
            if request["pinned"]:
                self.cells.pinned[request["name"]] = request["value"]
            else:
                self.cells.pinned.pop(request["name"], None)
            return None

        self.answer(request, work)

    def get(self, request):
        def work():
            if request["name"] not in self.cells.space:
                raise NameError(f"name '{request['name']}' is not defined")
            return self.cells.space[request["name"]]

        self.answer(request, work)

    def part(self, request):
        """Calls a part of the driver that most sessions never need; its text comes with the first call."""
        def work():
            name, code = request["name"], request["code"]
            if name not in self.parts:
                space = dict(globals())
                exec(compile(code, DRIVER, "exec", 0, True), space)
                self.parts[name] = space["Part"](self)
            return getattr(self.parts[name], request["call"])(**request["args"])

        self.answer(request, work)

    def list(self, request):
        names = ",".join(self.cells.listing())
        self.channel.send("names", f'"id":{request["id"]},"names":[{names}]')


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
