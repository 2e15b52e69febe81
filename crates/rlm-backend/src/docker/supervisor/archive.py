# The whole directory as one text of bytes, and back: for each thing a line of JSON, then its content.

MAX_DEPTH = 64


class TooLarge(Refused):
    def __init__(self):
        super().__init__("too_large")


class Pack:
    """What is in a directory, in pieces."""

    def __init__(self, directory, request):
        self.directory = directory
        self.max_bytes, self.max_files = request["max_bytes"], request["max_files"]
        self.bytes = self.files = self.left_out = 0

    def pieces(self):
        yield from self.folder(os.dup(self.directory.root), "", 0)
        yield {"bytes": self.bytes, "files": self.files, "left_out": self.left_out}

    def folder(self, fd, path, depth):
        try:
            if depth > MAX_DEPTH:
                raise TooLarge
            for name in sorted(os.listdir(fd)):
                yield from self.thing(fd, name, f"{path}/{name}" if path else name, depth)
        finally:
            os.close(fd)

    def thing(self, at, name, path, depth):
        it = os.lstat(name, dir_fd=at)
        about = {"path": path, "mode": stat.S_IMODE(it.st_mode), "time": it.st_mtime_ns}
        if stat.S_ISDIR(it.st_mode):
            self.count()
            below = os.open(name, DIRECTORY, dir_fd=at)
            yield self.line(about, "d")
            yield from self.folder(below, path, depth + 1)
        elif stat.S_ISLNK(it.st_mode):
            self.count()
            yield self.line({**about, "target": os.readlink(name, dir_fd=at)}, "l")
        elif stat.S_ISREG(it.st_mode):
            self.count()
            yield from self.file(at, name, about)
        else:
            self.left_out += 1

    def count(self):
        self.files += 1
        if self.files > self.max_files:
            raise TooLarge

    @staticmethod
    def line(about, kind):
        return json.dumps({**about, "kind": kind}).encode() + b"\n"

    def file(self, at, name, about):
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        try:
            left = os.fstat(fd).st_size
            self.bytes += left
            if self.bytes > self.max_bytes:
                raise TooLarge
            yield self.line({**about, "size": left}, "f")
            while left > 0:
                # Where it became shorter meanwhile, the rest is empty.
                data = os.read(fd, min(left, PART)) or bytes(min(left, PART))
                left -= len(data)
                yield data
        finally:
            os.close(fd)


def empty(fd):
    for name in os.listdir(fd):
        if stat.S_ISDIR(os.lstat(name, dir_fd=fd).st_mode):
            os.chmod(name, 0o700, dir_fd=fd)
            below = os.open(name, DIRECTORY, dir_fd=fd)
            try:
                empty(below)
            finally:
                os.close(below)
            os.rmdir(name, dir_fd=fd)
        else:
            os.unlink(name, dir_fd=fd)


class Unpack:
    """Puts a directory back; what is in it is deleted first."""

    def __init__(self, directory, _request):
        self.directory, self.failed = directory, None
        self.text, self.file, self.left, self.folders = bytearray(), None, 0, []
        try:
            empty(directory.root)
        except OSError as error:
            self.failed = error

    def feed(self, data):
        if self.failed is not None:
            return
        try:
            self.text += data
            while self.step():
                pass
        except (OSError, Refused, ValueError, KeyError) as error:
            self.failed = error

    def step(self):
        if self.file is not None:
            count = os.write(self.file, self.text[:self.left]) if self.text and self.left else 0
            del self.text[:count]
            self.left -= count
            if self.left == 0:
                self.close()
            return count > 0 or self.file is None
        end = self.text.find(b"\n")
        if end < 0:
            return False
        about = json.loads(bytes(self.text[:end]))
        del self.text[:end + 1]
        self.make(about)
        return True

    def make(self, about):
        parts = about["path"].split("/")
        at = self.directory.parent(parts, False)
        try:
            if about["kind"] == "d":
                os.mkdir(parts[-1], 0o700, dir_fd=at)
                self.folders.append(about)
            elif about["kind"] == "l":
                os.symlink(about["target"], parts[-1], dir_fd=at)
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self.file = os.open(parts[-1], flags, 0o600, dir_fd=at)
                self.about, self.left = about, about["size"]
        finally:
            os.close(at)

    def close(self):
        os.fchmod(self.file, self.about["mode"])
        os.utime(self.file, ns=(self.about["time"], self.about["time"]))
        os.close(self.file)
        self.file = None

    def end(self):
        if self.failed is None:
            try:
                # The innermost first: one that may not be entered any more has nothing to be done.
                for about in reversed(self.folders):
                    parts = about["path"].split("/")
                    at = self.directory.parent(parts, False)
                    try:
                        fd = os.open(parts[-1], DIRECTORY, dir_fd=at)
                    finally:
                        os.close(at)
                    os.utime(fd, ns=(about["time"], about["time"]))
                    os.fchmod(fd, about["mode"])
                    os.close(fd)
            except OSError as error:
                self.failed = error
        if self.file is not None:
            os.close(self.file)
        return {} if self.failed is None else refusal(self.failed) \
            if isinstance(self.failed, (OSError, Refused)) else {"error": "io", "errno": errno.EIO}
