# Descriptors 0, 1 and 2, flushed and led back to the host.

class Streams:
    """Descriptors 0, 1 and 2, and the Python objects over them."""

    def __init__(self):
        self.saved = {fd: high(fd) for fd in (1, 2)}
        self.out, self.err = sys.stdout, sys.stderr
        for stream in (self.out, self.err):
            # None where the descriptor was not open.
            if stream is not None:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self.modules_seen = len(sys.modules)
        self.libc = None
        self.renew()

    @staticmethod
    def text(fd, name):
        raw = io.FileIO(fd, "wb", closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw), "utf-8", "backslashreplace", line_buffering=True
        )
        setattr(sys, f"__{name}__", stream)
        return stream

    @staticmethod
    def is_usable(stream):
        try:
            return not stream.closed
        except Exception:
            return False

    def renew(self):
        """The streams as a cell finds them, whatever the one before did to them."""
        if not self.is_usable(self.out):
            self.out = self.text(1, "stdout")
        if not self.is_usable(self.err):
            self.err = self.text(2, "stderr")
        sys.stdout, sys.stderr = self.out, self.err
        stdin = getattr(sys, "stdin", None)
        if stdin is None or not self.is_usable(stdin):
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
        complete = self.flush_one(self.out) & self.flush_one(self.err)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name, None)
            if stream is not self.out and stream is not self.err:
                complete = self.flush_one(stream) and complete
        return complete

    @staticmethod
    def flush_one(stream):
        try:
            stream.flush()
        except OSError:
            return False
        except Exception:
            pass
        return True

    def settle(self):
        """Flushes all layers, and leads descriptors 1 and 2 to the host again."""
        complete = self.flush()
        if self.libc is not None or len(sys.modules) != self.modules_seen:
            self.flush_c()
        for fd, copy in self.saved.items():
            _dup2(copy, fd)
        if not complete:
            self.flush()

    def flush_c(self):
        """The C library's buffers, where something that may use them was loaded."""
        if self.libc is None:
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
