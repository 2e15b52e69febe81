"use strict";
// Draws a trajectory as a tree. What models and code said is only ever set as text, never as markup.

const records = JSON.parse(document.getElementById("data").textContent);

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function number(value) {
  return Math.round(value).toLocaleString("en-US");
}

function time(ms) {
  return ms < 1000 ? ms.toFixed(1) + " ms" : (ms / 1000).toFixed(2) + " s";
}

function firstLine(text) {
  return text.split("\n").find((line) => line.trim() && !/^\s*(```|~~~)/.test(line)) || "(empty)";
}

function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

const KEYWORDS = new Set(("and as assert async await break class continue def del elif else except " +
  "finally for from global if import in is lambda nonlocal not or pass raise return try while with " +
  "yield do done echo esac fi then").split(" "));
const TOKENS = /(#[^\n]*)|("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

function highlighted(code) {
  const pre = element("pre", "code-text");
  let at = 0;
  for (const found of code.matchAll(TOKENS)) {
    const [whole, comment, string, literal, word] = found;
    const kind = comment ? "comment" : string ? "string" : literal ? "literal"
      : KEYWORDS.has(word) ? "keyword" : /^(True|False|None)$/.test(word) ? "literal" : "";
    if (!kind) continue;
    pre.append(code.slice(at, found.index), element("span", kind, whole));
    at = found.index + whole.length;
  }
  pre.append(code.slice(at));
  return pre;
}

// The queries, each with its turns, their blocks and sub-calls.

const queries = new Map();
for (const record of records) {
  const query = queries.get(record.query);
  if (record.event === "begin") {
    queries.set(record.query, { begin: record, at: record.at_ms, turns: new Map(), end: null });
  } else if (!query) {
    continue;
  } else if (record.event === "end") {
    query.end = record;
  } else {
    if (!query.turns.has(record.turn)) {
      query.turns.set(record.turn, { number: record.turn, reply: null, blocks: [], calls: [], notes: [] });
    }
    const turn = query.turns.get(record.turn);
    if (record.event === "turn") turn.reply = record;
    if (record.event === "block") turn.blocks.push(record);
    if (record.event === "call") turn.calls.push(record);
    if (record.event === "note") turn.notes.push(record);
  }
}

const whole = Math.max(1, ...records.map((record) => record.at_ms));
const tokensOf = (usage) => usage.input_tokens + usage.output_tokens;
const mostTokens = Math.max(1, ...records.filter((it) => it.usage).map((it) => tokensOf(it.usage)));

function track(began, ms, kind) {
  const made = element("span", "track");
  const fill = element("span", "fill " + kind);
  fill.style.left = Math.min(100, began / whole * 100) + "%";
  fill.style.width = Math.min(100, ms / whole * 100) + "%";
  fill.title = time(ms) + " from " + time(began);
  made.append(fill);
  return made;
}

function node(label, began, ms, kind, usage, isBad) {
  const made = element("details", "node" + (isBad ? " bad" : ""));
  const summary = element("summary");
  const row = element("span", "row");
  row.append(element("span", "label", label), track(began, ms, isBad ? "bad" : kind));
  const tokens = usage ? ", " + number(tokensOf(usage)) + " tokens" : "";
  const figures = element("span", "number", time(ms) + tokens);
  if (usage) figures.title = number(usage.input_tokens) + " in, " + number(usage.output_tokens) + " out";
  row.append(figures);
  summary.append(row);
  made.append(summary);
  made.dataset.bad = isBad ? "1" : "";
  return made;
}

function caption(into, text, body) {
  into.append(element("div", "caption", text), body);
}

function callNode(call) {
  const name = (call.is_tool ? "tool " : "ask ") + call.target;
  const label = name + ": " + firstLine(call.prompt);
  const made = node(label, call.began_ms, call.ms, "call", call.is_tool ? null : call.usage, !!call.error);
  caption(made, "asked, " + number(call.prompt_chars) + " characters", element("pre", "", call.prompt));
  if (call.error) caption(made, "failed: " + call.error.kind, element("pre", "", call.error.message));
  if (call.reply !== null) caption(made, call.is_replayed ? "answered earlier" : "answered", element("pre", "", call.reply));
  return made;
}

function blockNode(block) {
  const label = block.language + " " + block.block + ": " + firstLine(block.code);
  const made = node(label, block.at_ms - block.ms, block.ms, "code", null, !block.is_ok);
  caption(made, "code", highlighted(block.code));
  caption(made, "output", element("pre", "", block.output));
  return made;
}

function turnNode(turn) {
  const reply = turn.reply;
  const label = "turn " + turn.number + ": " + (reply ? firstLine(reply.reply) : "(no reply)");
  const last = [...turn.blocks, ...turn.calls].reduce((at, it) => Math.max(at, it.at_ms), reply ? reply.at_ms : 0);
  const began = reply ? reply.at_ms - reply.ms : 0;
  const isBad = turn.blocks.some((it) => !it.is_ok) || turn.calls.some((it) => it.error);
  const made = node(label, began, last - began, "", reply ? reply.usage : null, isBad);
  if (reply) caption(made, reply.model + (reply.is_replayed ? ", answered earlier" : ""), element("pre", "", reply.reply));
  for (const block of turn.blocks) made.append(blockNode(block));
  for (const call of turn.calls) made.append(callNode(call));
  for (const note of turn.notes) caption(made, "told", element("pre", "", note.text));
  return made;
}

function queryNode(id) {
  const { begin, end, turns } = queries.get(id);
  const ms = end ? end.ms : whole - begin.at_ms;
  const stop = end ? end.stop : "not ended";
  const isBad = !["final", "final_var"].includes(stop);
  const usage = end ? end.spent : null;
  const label = "query " + id + " (" + stop + "): " + firstLine(begin.prompt);
  const made = node(label, begin.at_ms, ms, "", usage, isBad);
  caption(made, "question, depth " + begin.depth, element("pre", "", begin.prompt));
  if (begin.context) caption(made, "context", element("pre", "", JSON.stringify(begin.context)));
  for (const turn of turns.values()) made.append(turnNode(turn));
  for (const [other, query] of queries) if (query.begin.parent === id) made.append(queryNode(other));
  if (end) caption(made, isBad ? "what there was" : "answer", element("pre", "answer", asText(end.answer)));
  if (end && end.message) caption(made, "why", element("pre", "", end.message));
  return made;
}

function summarize(root) {
  const into = document.getElementById("summary");
  const say = (name, value) => {
    const made = element("span");
    made.append(element("b", "", name + " "), value);
    into.append(made);
  };
  const spent = root.end ? root.end.spent : { input_tokens: 0, output_tokens: 0, sub_calls: 0, cost_micros: 0 };
  say("Ended:", root.end ? root.end.stop : "not");
  say("Time:", time(root.end ? root.end.ms : whole));
  say("Queries:", number(queries.size));
  say("Sub-calls:", number(spent.sub_calls));
  say("Tokens:", number(spent.input_tokens) + " in, " + number(spent.output_tokens) + " out");
  if (spent.cost_micros) say("Cost:", (spent.cost_micros / 1e6).toFixed(6));
}

// Where the tokens and the time went: by query and by what was asked.

function budget(root) {
  const parts = new Map();
  const add = (name, tokens, ms) => {
    const part = parts.get(name) || { tokens: 0, ms: 0 };
    parts.set(name, { tokens: part.tokens + tokens, ms: part.ms + ms });
  };
  for (const [id, query] of queries) {
    for (const turn of query.turns.values()) {
      if (turn.reply) add("query " + id + ", turns", tokensOf(turn.reply.usage), turn.reply.ms);
      for (const call of turn.calls) add("query " + id + (call.is_tool ? ", tools" : ", sub-calls"), tokensOf(call.usage), call.ms);
    }
  }
  const most = Math.max(1, ...[...parts.values()].map((part) => part.tokens));
  const into = document.getElementById("budget");
  const allowed = root.begin.allowance.tokens;
  const used = [...parts.values()].reduce((sum, part) => sum + part.tokens, 0);
  into.append(element("div", "caption", "Tokens: " + number(used) + " of " + number(allowed)));
  for (const [name, part] of [...parts].sort((a, b) => b[1].tokens - a[1].tokens).slice(0, 20)) {
    const row = element("div", "part");
    const bar = element("span", "track");
    const fill = element("span", "fill");
    fill.style.left = "0";
    fill.style.width = part.tokens / most * 100 + "%";
    bar.append(fill);
    row.append(element("span", "", name), bar, element("span", "number", number(part.tokens) + ", " + time(part.ms)));
    into.append(row);
  }
}

function applyFilter() {
  const text = document.getElementById("filter").value.toLowerCase();
  const onlyBad = document.getElementById("only-errors").checked;
  let shown = 0;
  const visit = (it) => {
    const inner = [...it.children].filter((child) => child.classList.contains("node"));
    const below = inner.map(visit).some(Boolean);
    const own = [...it.children].filter((child) => !child.classList.contains("node"));
    const hasText = !text || own.some((child) => child.textContent.toLowerCase().includes(text));
    const isShown = below || (hasText && (!onlyBad || it.dataset.bad === "1"));
    it.classList.toggle("hidden", !isShown);
    if (isShown) shown += 1;
    if (below && (text || onlyBad)) it.open = true;
    return isShown;
  };
  [...document.getElementById("tree").children].forEach(visit);
  document.getElementById("shown").textContent = shown + " shown";
}

function setAll(isOpen) {
  for (const it of document.querySelectorAll("details")) it.open = isOpen;
}

const root = queries.get(0);
if (root) {
  document.getElementById("question").textContent = root.begin.prompt;
  document.title = "Query: " + firstLine(root.begin.prompt).slice(0, 80);
  summarize(root);
  budget(root);
  const tree = queryNode(0);
  tree.open = true;
  document.getElementById("tree").append(tree);
} else {
  document.getElementById("question").textContent = "This trajectory has no query.";
}
document.getElementById("filter").addEventListener("input", applyFilter);
document.getElementById("only-errors").addEventListener("change", applyFilter);
document.getElementById("expand").addEventListener("click", () => setAll(true));
document.getElementById("collapse").addEventListener("click", () => setAll(false));
applyFilter();
