# The namespace of a session, and how a cell is compiled and run.

# Flags of compile, as the module ast has them.
AWAITS, AS_TREE = 0x2000, 0x400
# Types that show as text and nothing else.
PLAIN = frozenset([bool, bytes, complex, dict, float, int, list, set, str, tuple])

class Sources:
    """The text of the last cells, where tracebacks, warnings and inspect look for it.

    They look in the module linecache, which is filled when it is imported, and not imported before.
    """

    def __init__(self):
        self.names = []
        self.texts = {}
        loaded = sys.modules.get("linecache")
        self.cache = None if loaded is None else loaded.cache
        if loaded is None:
            sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name != "linecache":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if not isinstance(spec.loader, type):
                    self.fill_after(spec.loader)
                return spec
        return None

    def fill_after(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            self.cache = module.cache
            for name, source in self.texts.items():
                self.publish(name, source)
            self.texts.clear()

        loader.exec_module = exec_module

    def publish(self, name, source):
        self.cache[name] = (len(source), None, source.splitlines(True), name)

    def add(self, name, source):
        if self.cache is None:
            self.texts[name] = source
        else:
            self.publish(name, source)
        self.names.append(name)
        if len(self.names) > KEPT_CELLS:
            oldest = self.names.pop(0)
            (self.texts if self.cache is None else self.cache).pop(oldest, None)


class Cells:
    """The user's namespace, and how a cell is compiled, run and shown."""

    def __init__(self, host, limits):
        self.limits = limits
        self.module = type(sys)("__main__")
        self.space = self.module.__dict__
        self.space["__builtins__"] = builtins
        self.pinned = {"host": host}
        self.own = set(self.space) | {"host"}
        self.sources = Sources()
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
        self.sources.add(name, source)
        shows = not source.rstrip().endswith(";")
        if "\n" not in source and source and not source[0].isspace():
            try:
                return [compile(source, name, "eval", AWAITS, True)], shows
            except SyntaxError:
                pass
        tree = compile(source, name, "exec", AWAITS | AS_TREE, True)
        parts = []
        last = tree.body.pop() if tree.body and type(tree.body[-1]).__name__ == "Expr" else None
        if tree.body:
            parts.append(compile(tree, name, "exec", AWAITS, True))
        if last is not None:
            from _ast import Expression

            parts.append(compile(Expression(last.value), name, "eval", AWAITS, True))
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
        text = text_of(repr_of(value, self.limits["text"]))
        return [text] if type(value) in PLAIN else self.pictures(value) + [text]

    def pictures(self, value):
        shown = []
        png = special(value, "_repr_png_")
        if isinstance(png, tuple):
            png = png[0]
        if isinstance(png, (bytes, bytearray)):
            shown.append(self.image(bytes(png)))
        html = special(value, "_repr_html_")
        if isinstance(html, str):
            text = quote(bounded(html, self.limits["html"]))
            shown.append(f'{{"type":"html","html":{text}}}')
        return shown

    def image(self, data):
        if len(data) > self.limits["image"]:
            return text_of(f"[an image of {len(data)} bytes was left out]")
        import base64

        encoded = base64.b64encode(data).decode()
        return f'{{"type":"image","media_type":"image/png","data":"{encoded}"}}'

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
            shown.append(text_of(f"[a figure failed: {message_of(error)}]"))
        return shown

    def listing(self):
        items = []
        for name, value in list(self.space.items()):
            if name in self.own or name in self.pinned or name.startswith("__"):
                continue
            if len(items) == MAX_NAMES:
                break
            name, kind = quote(bounded(str(name), 200)), quote(type(value).__name__)
            items.append(f'{{"name":{name},"type":{kind},"size":{size_of(value)}}}')
        return items
