# Descriptors 0, 1 and 2, flushed and led back to the host.

class Streams:
    """Descriptors 0, 1 and 2, and the Python objects over them."""

    def __init__(self):
        self.saved = {fd: high(fd) for fd in (1, 2)}
        self.objects = {}
        self.modules_seen = 0
        self.libc = None
        self.renew()

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
        complete = True
        streams = [self.objects[1], self.objects[2]]
        streams += [s for s in (sys.stdout, sys.stderr) if not any(s is own for own in streams)]
        for stream in streams:
            try:
                stream.flush()
            except OSError:
                complete = False
            except Exception:
                pass
        return complete

    def settle(self):
        """Flushes all layers, and leads descriptors 1 and 2 to the host again."""
        complete = self.flush()
        self.flush_c()
        for fd, copy in self.saved.items():
            _dup2(copy, fd)
        if not complete:
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
