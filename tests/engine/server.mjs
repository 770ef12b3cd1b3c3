// The engine of llama.cpp behind the API of its server: chat completions and models on loopback, with one slot.
//
//     node server.mjs FOLDER MODEL.gguf CONTEXT_TOKENS LOG.jsonl
//
// FOLDER holds node_modules/node-llama-cpp. The first line printed is the address; SIGTERM ends it. Prompts are made
// by the chat template of the model and share the longest prefix with the one before, answers keep to the grammar of a
// JSON schema, and an answer ends where the context is full. LOG gets a line a request: what the engine's own meter
// counted, and how the request ended.

import {appendFileSync} from "node:fs";
import {createServer} from "node:http";
import {basename, join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [folder, file, contextTokens, log] = process.argv.slice(2);
const module_ = (...path) => import(pathToFileURL(resolve(folder, "node_modules", join(...path))).href);
const {getLlama, LlamaGrammarEvaluationState, LlamaLogLevel} = await module_("node-llama-cpp", "dist", "index.js");
const {Template} = await module_("@huggingface", "jinja", "dist", "index.js");

const NAME = basename(file, ".gguf");
const END_OF_JSON = "\n\n\n\n"; // node-llama-cpp's grammars of schemas end so
const llama = await getLlama({gpu: false, build: "never", maxThreads: 1, logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: Number(contextTokens), threads: 1});
const sequence = context.getSequence();
const template = new Template(model.fileInfo.metadata.tokenizer.chat_template);

const note = (line) => appendFileSync(log, JSON.stringify(line) + "\n");

class Refusal extends Error {
    constructor(code, message, type, more = {}) {
        super(message);
        this.body = {error: {code, message, type, ...more}};
    }
}

function tokensOf(messages) {
    if (!Array.isArray(messages))
        throw new Refusal(400, "'messages' is required", "invalid_request_error");
    const text = template.render({messages, add_generation_prompt: true, bos_token: "", eos_token: ""});
    const tokens = model.tokenize(text, true);
    const all = model.tokens.shouldPrependBosToken ? [model.tokens.bos, ...tokens] : tokens;
    if (all.length >= context.contextSize)
        throw new Refusal(400, `request (${all.length} tokens) exceeds the available context size ` +
            `(${context.contextSize} tokens), try increasing it`, "exceed_context_size_error",
        {n_prompt_tokens: all.length, n_ctx: context.contextSize});
    return all;
}

async function grammarOf(format) {
    if (format == null || format.type === "text")
        return undefined;
    const schema = format.type === "json_schema" ? format.json_schema?.schema : format.schema;
    try {
        if (format.type !== "json_schema" && format.type !== "json_object")
            throw new Error(`response_format type must be one of "text" and "json_object", but got: ${format.type}`);
        const grammar = await (schema ? llama.createGrammarForJsonSchema(schema) : llama.getGrammarFor("json"));
        return new LlamaGrammarEvaluationState({model, grammar});
    } catch (error) {
        throw new Refusal(400, error.message, "invalid_request_error");
    }
}

// Answers one request; `tell` is given the text piece by piece, and `isLeft` says whether nobody listens any more.
async function answer(body, tell, isLeft) {
    const prompt = tokensOf(body.messages);
    const grammarEvaluationState = await grammarOf(body.response_format);
    await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
    const nCached = sequence.nextTokenIndex;
    const before = sequence.tokenMeter.getState();
    const room = context.contextSize - prompt.length;
    const limit = Math.min(body.max_completion_tokens ?? body.max_tokens ?? room, room);
    const sampling = {temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05, seed: 1}; // as llama-server --seed 1
    const {temperature = sampling.temperature, seed = sampling.seed} = body;
    const options = {...sampling, temperature, seed, grammarEvaluationState, yieldEogToken: true};
    const written = [];
    let [text, nTold, finish] = ["", 0, "stop"];
    for await (const token of sequence.evaluate(prompt.slice(nCached), options)) {
        written.push(token);
        if (model.isEogToken(token))
            break;
        text = model.detokenize(written);
        const end = text.indexOf(END_OF_JSON);
        if (grammarEvaluationState && end >= 0) {
            text = text.slice(0, end);
            break;
        }
        const sure = text.replace(/[\n\uFFFD]+$/, ""); // half a character, or a beginning of the end
        tell(sure.slice(nTold));
        nTold = Math.max(nTold, sure.length);
        if ((finish = isLeft() ? "left" : written.length >= limit ? "length" : "stop") !== "stop")
            break;
    }
    tell(text.slice(nTold));
    const counted = sequence.tokenMeter.diff(before);
    // The meter counts a token that another is written after as output, which the last one of the prompt is.
    const metered = {prompt_tokens: nCached + counted.usedInputTokens + 1, completion_tokens: counted.usedOutputTokens};
    note({...metered, cached_tokens: nCached, finish_reason: finish, format: body.response_format?.type ?? "text"});
    const [nSent, nWritten] = [prompt.length, written.length];
    const usage = {prompt_tokens: nSent, completion_tokens: nWritten, total_tokens: nSent + nWritten};
    return {text, finish, usage: {...usage, prompt_tokens_details: {cached_tokens: nCached}}};
}

async function complete(body, response) {
    const common = {id: `chatcmpl-${Date.now()}`, created: Math.floor(Date.now() / 1000), model: NAME};
    const chunk = {...common, object: "chat.completion.chunk"};
    const event = (more) => response.write(`data: ${JSON.stringify({...chunk, ...more})}\n\n`);
    const piece = (delta, finish_reason = null) => event({choices: [{index: 0, delta, finish_reason}]});
    const begin = () => response.headersSent || response.writeHead(200, {"content-type": "text/event-stream"});
    const tell = (content) => {
        if (body.stream && content !== "" && begin())
            piece({content});
    };
    const {text, finish, usage} = await answer(body, tell, () => response.destroyed);
    const choices = [{index: 0, message: {role: "assistant", content: text}, finish_reason: finish}];
    if (!body.stream)
        return send(response, 200, {...common, object: "chat.completion", choices, usage});
    begin();
    piece({}, finish);
    if (body.stream_options?.include_usage)
        event({choices: [], usage});
    response.end("data: [DONE]\n\n");
}

function send(response, status, body) {
    response.writeHead(status, {"content-type": "application/json"});
    response.end(JSON.stringify(body));
}

async function serve(request, response) {
    const parts = await request.toArray();
    if (request.method === "GET" && request.url === "/v1/models")
        return send(response, 200, {object: "list", data: [{id: NAME, object: "model", owned_by: "llamacpp"}]});
    if (request.method !== "POST" || request.url !== "/v1/chat/completions")
        throw new Refusal(404, "File Not Found", "not_found_error");
    const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
    await (slot = slot.catch(() => {}).then(() => complete(body, response)));
}

let slot = Promise.resolve();
const server = createServer((request, response) =>
    serve(request, response).catch((error) => {
        const {body} = error instanceof Refusal ? error : new Refusal(500, error.message, "server_error");
        note({refused: body.error.code, message: body.error.message});
        response.headersSent
            ? response.end(`data: ${JSON.stringify(body)}\n\n`) : send(response, body.error.code, body);
    })
);
process.on("SIGTERM", () => process.exit(0));
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
