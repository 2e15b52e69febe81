# The namespace of a session, and how a cell is compiled and run.

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
        shows = not source.rstrip().endswith(";")
        if len(lines) == 1 and not source[0].isspace():
            try:
                return [compile(source, name, "eval", flags, True)], shows
            except SyntaxError:
                pass
        tree = compile(source, name, "exec", flags | _ast.PyCF_ONLY_AST, True)
        last = None
        if tree.body and type(tree.body[-1]) is _ast.Expr:
            last = _ast.Expression(tree.body.pop().value)
        parts = []
        if tree.body:
            parts.append(compile(tree, name, "exec", flags, True))
        if last is not None:
            parts.append(compile(last, name, "eval", flags, True))
        return parts, last is not None and shows

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
