# What a recursive query adds to a session: its context, sub-queries, tools, and the answer.
#
# Loaded by the first query of a session, into a copy of the driver's namespace; Part is its face to
# the driver, which calls its public methods by name. Everything else is for the code that is run.

# The most bytes of one call to the host, and how much of a large text goes in one piece.
MAX_CALL = 8 << 20
PIECE = 4 << 20
MAX_ANSWER = 1_000_000


class SubQueryError(Exception):
    """A sub-query without an answer: `kind` says why. In a batch it stands where the answer would."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind, self.message = kind, message

    def __str__(self):
        return f"{self.kind}: {self.message}"

    def __repr__(self):
        return f"SubQueryError({self.kind!r}, {self.message!r})"


class ToolError(SubQueryError):
    """A call of a tool without a result."""

    def __repr__(self):
        return f"ToolError({self.kind!r}, {self.message!r})"


for _kind in (SubQueryError, ToolError):
    _kind.__module__ = "builtins"


class MappedText:
    """A large text file that is mapped, not loaded. Positions are bytes of its UTF-8.

    A slice has the characters that begin in it. `data` is the map itself, for bytes and for `re`.
    """

    def __init__(self, path):
        import mmap

        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __len__(self):
        return len(self.data)

    def _border(self, at):
        while at < len(self.data) and self.data[at] & 0xC0 == 0x80:
            at += 1
        return at

    def __getitem__(self, place):
        if not isinstance(place, slice):
            at = place + len(self.data) if place < 0 else place
            if not 0 <= at < len(self.data):
                raise IndexError("a position after the end of the text")
            place = slice(at, at + 1)
        start, stop, step = place.indices(len(self.data))
        if step != 1:
            raise ValueError("a slice of a mapped text has no step")
        start = self._border(start)
        return str(self.data[start:self._border(max(start, stop))], "utf-8", "backslashreplace")

    def __iter__(self):
        return self.lines()

    def __contains__(self, part):
        return self.find(part) >= 0

    def __repr__(self):
        return f"<mapped text of {len(self.data)} bytes: slice it, or use find, count, lines, chunks>"

    def find(self, part, start=0, end=None):
        end = len(self.data) if end is None else end
        return self.data.find(part.encode(), start, end)

    def count(self, part):
        found, part, at = 0, part.encode(), 0
        while (at := self.data.find(part, at)) >= 0:
            found, at = found + 1, at + max(len(part), 1)
        return found

    def lines(self):
        """Its lines, one after the other, without their ends."""
        at = 0
        while at < len(self.data):
            end = self.data.find(b"\n", at)
            end = len(self.data) if end < 0 else end
            yield str(self.data[at:end], "utf-8", "backslashreplace")
            at = end + 1

    def chunks(self, size):
        """Pieces of about `size` bytes, one after the other."""
        for at in range(0, len(self.data), size):
            yield self[at:at + size]


class Tools:
    """The operator's tools as functions: tools.NAME(**arguments), or tools["NAME"](**arguments)."""

    def __init__(self, part, tools):
        self.__dict__["_tools"] = {tool["name"]: self._function(part, tool) for tool in tools}

    @staticmethod
    def _function(part, tool):
        def call(**arguments):
            return part.ask("tool", {"name": tool["name"], "arguments": arguments}, ToolError)

        call.__name__ = call.__qualname__ = tool["name"]
        call.__doc__ = f"{tool['description']}\n\nArguments: {tool['parameters']}"
        return call

    def __getitem__(self, name):
        if name not in self._tools:
            known = ", ".join(self._tools) or "none"
            raise AttributeError(f"there is no tool {name!r}; the tools are: {known}")
        return self._tools[name]

    def __getattr__(self, name):
        return self[name]

    def __dir__(self):
        return list(self._tools)

    def __repr__(self):
        return f"<tools: {', '.join(self._tools) or 'none'}>"


def read_text(path, most):
    """A text file, loaded; one of more than `most` bytes is mapped."""
    size = os.stat(path).st_size
    if size > most:
        return MappedText(path)
    if size == 0:
        return ""
    import mmap

    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return str(data, "utf-8", "backslashreplace")


def read_context(context, most):
    if context["kind"] == "value":
        return context["value"]
    if context["kind"] == "json":
        import json

        with open(context["path"], encoding="utf-8") as file:
            return json.load(file)
    return read_text(context["path"], most)


def is_error(value):
    """Whether it is an error, or a container with one in it."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set)):
        return any(isinstance(item, BaseException) for item in value)
    return isinstance(value, BaseException)


class Part:
    """A query's side of the session."""

    def __init__(self, driver):
        self.channel, self.cells = driver.channel, driver.cells
        self.final = None
        self.ours = {}

    # What the driver calls.

    def begin(self, context, tools, max_text_bytes):
        """Makes ready for a question; nothing of an earlier one counts."""
        self.end()
        self.ours = {
            "llm_query": self.llm_query, "llm_query_batched": self.llm_query_batched,
            "rlm_query": self.rlm_query, "SHOW_VARS": self.SHOW_VARS, "FINAL": self.FINAL,
            "FINAL_VAR": self.FINAL_VAR, "SUBMIT": self.SUBMIT, "SubQueryError": SubQueryError,
            "ToolError": ToolError, "tools": Tools(self, tools),
        }
        described = None
        if context is not None:
            value = self.ours["context"] = read_context(context, max_text_bytes)
            described = {"type": type(value).__name__, "length": size_of(value)}
            if isinstance(value, MappedText):
                described["length"] = len(value)
            if isinstance(value, (list, tuple)) and value:
                described["items"] = type(value[0]).__name__
        self.cells.pinned.update(self.ours)
        self.cells.space.update(self.ours)
        self.final = None
        self.cells.space["answer"] = {"content": "", "ready": False}
        return described

    def end(self):
        """Takes back what the question had; variables that code made stay."""
        for name, value in self.ours.items():
            self.cells.pinned.pop(name, None)
            if self.cells.space.get(name, self) is value:
                del self.cells.space[name]
        self.ours, self.final = {}, None

    def signal(self):
        """Whether the question is answered, with what, and what stands in the way."""
        kind, value = self.final or ("final", None)
        answer = self.cells.space.get("answer")
        if self.final is None:
            if not isinstance(answer, dict):
                return {"ready": False}
            value = answer.get("content")
            if not answer.get("ready"):
                return {"ready": False, "draft": self.draft(value)}
            answer["ready"] = False
        self.final = None
        try:
            return {"ready": True, "kind": kind, "value": self.checked(value)}
        except (TypeError, ValueError) as error:
            return {"ready": False, "problem": str(error)}

    def variable(self, name):
        """The value that FINAL_VAR names in a reply, or why it is none."""
        try:
            return {"value": self.checked(self.value_of(name))}
        except (NameError, TypeError, ValueError) as error:
            return {"problem": str(error)}

    # What code calls.

    def FINAL(self, value):
        """Answers the question with a value."""
        self.checked(value)
        self.final = ("final", value)

    def FINAL_VAR(self, name):
        """Answers the question with the value of a variable."""
        value = self.value_of(name) if isinstance(name, str) else name
        self.checked(value)
        self.final = ("final_var", value)

    def SUBMIT(self, value):
        """Answers the question with a value."""
        self.FINAL(value)

    def SHOW_VARS(self):
        """The variables that there are, with type and size."""
        return "\n".join(self.listed()) or "no variables"

    def llm_query(self, prompt, model=None):
        """Asks a model, and gives its answer as a text."""
        return self.ask("llm_query", {"model": model}, texts=[self.sent(prompt)])

    def llm_query_batched(self, prompts, model=None):
        """Asks side by side; the answers come in the order of the prompts."""
        prompts, answers, group, size = list(prompts), [], [], 0
        for prompt in prompts:
            self.check_prompt(prompt)
        for prompt in map(self.sent, prompts):
            if group and size + len(prompt) > PIECE:
                answers += self.batch(group, model)
                group, size = [], 0
            group.append(prompt)
            size += len(prompt)
        return answers + (self.batch(group, model) if group else [])

    def rlm_query(self, prompt, context=None, model=None):
        """Asks a model that works in a session of its own, with this context there."""
        self.check_prompt(prompt)
        if isinstance(context, MappedText):
            context = context[:]
        args = {"prompt": prompt, "model": model}
        text = context if isinstance(context, str) else encode(context)
        if len(text) <= PIECE // 4:
            args["context"] = context
        else:
            args["upload"] = self.upload(text)
            args["is_json"] = not isinstance(context, str)
        return self.ask("rlm_query", args)

    # How it is done.

    def ask(self, name, args, kind=SubQueryError, texts=()):
        return self.taken(self.answer_to(name, args, kind, texts), kind)

    def answer_to(self, name, args, kind=SubQueryError, texts=()):
        text = encode(args)
        # No character has more than four bytes.
        if len(text) * 4 > MAX_CALL and len(text.encode("utf-8", "driver")) > MAX_CALL:
            raise kind("too_large", f"the arguments of {name} have more than {MAX_CALL} bytes")
        if sum(map(len, texts)) > MAX_CALL:
            raise kind("too_large", f"the prompts of {name} have more than {MAX_CALL} bytes")
        reply = self.channel.ask(name, text, texts)
        if reply.get("error") is not None:
            raise kind("ended", reply["error"])
        return reply["value"]

    @staticmethod
    def taken(value, kind):
        if "error" in value:
            raise kind(value["error"]["kind"], value["error"]["message"])
        return value["ok"]

    def batch(self, prompts, model):
        answers = self.answer_to("llm_batch", {"model": model}, texts=prompts)
        return [self.entry(answer) for answer in answers]

    def entry(self, answer):
        try:
            return self.taken(answer, SubQueryError)
        except SubQueryError as error:
            return error

    def upload(self, text):
        ticket = None
        for at in range(0, len(text), PIECE // 4):
            piece = text[at:at + PIECE // 4].encode("utf-8", "driver")
            ticket = self.ask("upload", {"ticket": ticket}, texts=[piece])
        return ticket

    @staticmethod
    def check_prompt(prompt):
        if not isinstance(prompt, str):
            raise TypeError(f"a prompt is a text, not {type(prompt).__name__}")

    def sent(self, prompt):
        self.check_prompt(prompt)
        return prompt.encode("utf-8", "driver")

    def value_of(self, name):
        name = name.strip().strip("\"'")
        space = self.cells.space
        if name not in space or name in self.ours and name != "context" or name.startswith("__"):
            known = [line.split(":")[0] for line in self.listed()]
            listed = ", ".join(known[:50]) or "none; make one in a code block first"
            raise NameError(f"FINAL_VAR: there is no variable {bounded(name, 80)!r}; "
                            f"the variables are: {listed}")
        return space[name]

    def listed(self):
        lines = []
        for name, value in list(self.cells.space.items()):
            if name in self.cells.own or name in self.ours or name.startswith("_"):
                continue
            if type(value).__name__ in ("module", "function", "type"):
                continue
            if name == "answer" and isinstance(value, dict) and set(value) == {"content", "ready"}:
                continue
            lines.append(f"{name}: {type(value).__name__} ({size_of(value)})")
            if len(lines) == MAX_NAMES:
                break
        return lines

    def checked(self, value):
        """The answer as JSON has it; an error, or nothing, is no answer."""
        if value is None or isinstance(value, str) and not value.strip():
            raise ValueError("the answer is empty; put what you found into it")
        if is_error(value):
            raise TypeError("an error is no answer; look at it, and answer with a value")
        try:
            text = encode(value)
        except (TypeError, ValueError, RecursionError):
            value = text = str(value)
        if len(text) > MAX_ANSWER:
            raise ValueError(f"the answer has {len(text)} characters, more than {MAX_ANSWER}")
        return value

    def draft(self, value):
        try:
            return self.checked(value)
        except (TypeError, ValueError):
            return None
