// SmolLM2-135M-Instruct over the wire format of OpenAI's chat API, for real_model_smoke.sh.
//
//   node serve.mjs MODEL.gguf LOG.jsonl
//
// Prints "ready PORT" when it answers on 127.0.0.1. The model "smollm2" is the real one, one request
// at a time; "scripted-root" plays the root of a recursive query, which a model of this size can't.
// Where tools are offered, and none has answered yet, the model writes a call by a grammar made of the
// first tool's schema; a bound on its tokens may cut the call off, which is passed on as it is.
// Every answer is a line in LOG: model, tokens, how it was sent, why it ended.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { getLlama, LlamaGrammarEvaluationState } from "node-llama-cpp";

const [file, log] = process.argv.slice(2);
const MOST_TOKENS = 48;
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 2 });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 2048, threads: 1 });
const sequence = context.getSequence();
let queue = Promise.resolve();

const ROOT = [
  "```python\nparts = context.split('\\n\\n')\n" +
    "found = llm_query_batched(['In one word, what animal is in this text? ' + p for p in parts])\n" +
    "print(found)\n```",
  "```python\nanswer['content'] = [str(reply) for reply in found]\nanswer['ready'] = True\n```",
];

/** The conversation in the model's own form. */
function prompt(messages) {
  const part = ({ role, content }) => `<|im_start|>${role === "tool" ? "user" : role}\n${content ?? ""}<|im_end|>\n`;
  return messages.map(part).join("") + "<|im_start|>assistant\n";
}

/** Lets the model write; `onText` gets its pieces. */
async function generate(messages, most, grammar, onText) {
  const tokens = model.tokenize(prompt(messages), true);
  await sequence.clearHistory();
  const state = grammar && new LlamaGrammarEvaluationState({ model, grammar });
  const written = [];
  let finish = "stop";
  for await (const token of sequence.evaluate(tokens, { temperature: 0, grammarEvaluationState: state })) {
    const before = model.detokenize(written);
    written.push(token);
    onText(model.detokenize(written).slice(before.length));
    if (written.length >= most) {
      finish = "length";
      break;
    }
  }
  return { text: model.detokenize(written), finish, input: tokens.length, output: written.length };
}

async function reply(body, onText) {
  const { messages, tools, max_tokens: bound } = body;
  if (body.model === "scripted-root") {
    const turn = messages.filter((message) => message.role === "assistant").length;
    const text = ROOT[Math.min(turn, ROOT.length - 1)];
    onText(text);
    return { text, finish: "stop", input: 1, output: 1 };
  }
  const most = Math.min(bound ?? MOST_TOKENS, MOST_TOKENS);
  const hasAnswer = messages.some((message) => message.role === "tool");
  if (!tools?.length || hasAnswer) return generate(messages, most, null, onText);
  const tool = tools[0].function;
  const grammar = await llama.createGrammarForJsonSchema(tool.parameters);
  const asked = [...messages, { role: "assistant", content: `I call ${tool.name} with the arguments` }];
  const made = await generate(asked, most, grammar, () => {});
  const call = { id: "call_1", type: "function", function: { name: tool.name, arguments: made.text } };
  return { ...made, text: "", calls: [call], finish: made.finish === "stop" ? "tool_calls" : made.finish };
}

function usage({ input, output }) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

async function whole(body, response) {
  const made = await reply(body, () => {});
  const message = { role: "assistant", content: made.text, tool_calls: made.calls };
  const choices = [{ index: 0, message, finish_reason: made.finish }];
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ object: "chat.completion", model: body.model, choices, usage: usage(made) }));
  return { made, pieces: 1 };
}

async function streamed(body, response) {
  response.setHeader("content-type", "text/event-stream");
  let pieces = 0;
  const send = (choices, more = {}) => {
    pieces += 1;
    const chunk = { object: "chat.completion.chunk", model: body.model, choices, ...more };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const delta = (delta, finish_reason = null) => send([{ index: 0, delta, finish_reason }]);
  const made = await reply(body, (content) => content && delta({ content }));
  if (made.calls) delta({ tool_calls: made.calls.map((call, index) => ({ index, ...call })) });
  delta({}, made.finish);
  send([], { usage: usage(made) });
  response.end("data: [DONE]\n\n");
  return { made, pieces };
}

async function answer(body, response) {
  const { made, pieces } = await (body.stream ? streamed : whole)(body, response);
  const { input, output, finish } = made;
  const line = { model: body.model, streamed: Boolean(body.stream), pieces, input, output, finish };
  appendFileSync(log, `${JSON.stringify(line)}\n`);
}

const server = createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    queue = queue.then(() => answer(JSON.parse(text), response)).catch((error) => {
      console.error(error);
      response.statusCode = response.headersSent ? response.statusCode : 400;
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
});
server.listen(0, "127.0.0.1", () => console.log(`ready ${server.address().port}`));
