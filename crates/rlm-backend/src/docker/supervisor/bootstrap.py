import os
text = b""
while len(text) < SIZE:
    text += os.read(0, SIZE - len(text)) or os._exit(70)
exec(compile(text, "<supervisor>", "exec"))
