"""The recipes of the page of servers, each tried against an imitation of its server: it stands where the page says,
honours, refuses or passes over the parameters that its server does, and answers in its form."""

import re
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
import yaml

from em_pipelines.llm.settings import LlmSettings
from em_pipelines.settings import OTHER_VARIABLES, PREFIX, SHORT_VARIABLES, Settings, load_settings
from resources.embedders import open_embedder
from resources.endpoint import OPENAI_URL
from resources.endpoint_check import check_endpoint
from tests.docs.test_pages import rows_of
from tests.model_server import oracle
from tests.model_server.script import Call, Step, failed
from tests.model_server.server import ModelServer

PAGE = (Path(__file__).parents[2] / "docs/servers.md").read_text(encoding="utf-8")
KEY = "key-4711-of-the-reader"
RECIPE = re.compile(r"^## (?P<name>[^\n]+)\n\n```text\n(?P<text>[^`]*^export [^`]*)^```", re.MULTILINE)
CONTEXT = re.compile(r"(?:OLLAMA_CONTEXT_LENGTH=|-c |--max-model-len |--context-length )(\d+)")
OURS = frozenset({"max_tokens", "temperature", "stream", "stream_options", "response_format"})
OF_OPENAI = OURS - {"max_tokens"} | {"max_completion_tokens"}
N_CALLS, N_PROMPT_TOKENS, N_PROMPT_TOKENS_CACHED, N_ANSWER_TOKENS = 50, 160_000, 41_000, 60_000
"""Of a thousand messages."""


def exports(text: str) -> dict[str, str]:
    """The variables that a block sets, as a shell would."""
    words = [shlex.split(line) for line in text.splitlines()]
    pairs = [word[1].partition("=") for word in words if word[0] == "export"]
    return {name: value.replace("…", KEY) for name, _, value in pairs}


RECIPES = {match["name"]: match["text"] for match in RECIPE.finditer(PAGE)}


def context_of(name: str) -> int:
    """Tokens of context with which a recipe starts its server; 0 where it starts none."""
    found = CONTEXT.search(RECIPES[name])
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Imitation:
    """A server: the address of its answers and, where they have another one, of its vectors; of what we send the
    parameters that it honours, and how it words the refusal of others (None: it passes over them); how many requests
    the first question takes; whether it answers in parts or refuses what is longer than its context; how many texts
    it embeds at once."""

    address: str = ""
    vectors: str = ""
    takes: frozenset[str] = OURS
    refuse: Callable[[str], Step] | None = None
    n_calls: int = 1
    is_in_parts: bool = False
    refuses_long: bool = False
    max_texts: int = 2048

    def answer(self, call: Call, context_tokens: int) -> Step:
        """Refuses what this server refuses, else reads as the rules do."""
        others = sorted(call.body.keys() - {"model", "messages"} - self.takes)
        if others and self.refuse is not None:
            return self.refuse(others[0])
        n_prompt, n_answer = call.n_prompt_characters // 4, call.body.get("max_tokens", 0)
        if self.refuses_long and n_prompt + n_answer > context_tokens:
            return too_long(context_tokens, n_prompt, n_answer)
        step = oracle.reading(call)
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": '{"entities": []} is too little'}]}
        return replace(step, parts=(thought, {"type": "text", "text": step.text(call)})) if self.is_in_parts else step


def unsupported(name: str) -> Step:
    """As OpenAI's reasoning models refuse."""
    words = {"temperature": "Unsupported value: 'temperature' does not support 0.0 with this model."}
    return failed(400, words.get(name, f"Unsupported parameter: '{name}' is not supported with this model."))


def extra_forbidden(name: str) -> Step:
    """As Mistral refuses."""
    detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": {}}]
    return failed(422, body={"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"})


def too_long(context_tokens: int, n_prompt: int, n_answer: int) -> Step:
    """As vLLM refuses."""
    return failed(
        400,
        f"This model's maximum context length is {context_tokens} tokens. However, you requested {n_answer} output "
        f"tokens and your prompt contains at least {n_prompt} input tokens, for a total of at least "
        f"{n_prompt + n_answer} tokens.",
    )


IMITATIONS = {
    "Ollama": Imitation("http://127.0.0.1:11434/v1"),
    "llama.cpp": Imitation("http://127.0.0.1:8080/v1", "http://127.0.0.1:8081/v1"),
    "vLLM": Imitation("http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1", refuses_long=True),
    "LM Studio": Imitation("http://127.0.0.1:1234/v1"),
    "Text Embeddings Inference": Imitation(vectors="http://127.0.0.1:8082/v1", max_texts=32),
    "OpenAI": Imitation(OPENAI_URL, takes=OF_OPENAI, refuse=unsupported),
    "Azure OpenAI": Imitation(
        "https://NAME.openai.azure.com/openai/v1", takes=OF_OPENAI - {"temperature"}, refuse=unsupported, n_calls=2
    ),
    "Gemini": Imitation("https://generativelanguage.googleapis.com/v1beta/openai", max_texts=100),
    "Mistral": Imitation(
        "https://api.mistral.ai/v1", takes=OURS - {"stream_options"}, refuse=extra_forbidden, n_calls=2,
        is_in_parts=True,
    ),
    "OpenRouter": Imitation("https://openrouter.ai/api/v1"),
}  # fmt: skip
MODELS = [name for name, server in IMITATIONS.items() if server.address]
LOCAL = [name for name, server in IMITATIONS.items() if server.address.startswith("http:")]


@dataclass(frozen=True)
class Running:
    """A recipe that is set, and the servers that it names, by their addresses on the page."""

    settings: Settings
    servers: dict[str, ModelServer]


Start = Callable[..., Running]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Start]:
    """start(name, context_tokens): sets what the recipe exports and starts its servers. Names of hosts are kept, for
    the client goes by them, and lead to this machine; scheme and port become those of the imitation."""
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *more, **named: resolve("127.0.0.1", *more, **named))
    with ExitStack() as stack:

        def started(name: str, context_tokens: int | None = None) -> Running:
            imitation, given = IMITATIONS[name], exports(RECIPES[name])
            size = context_tokens or context_of(name)
            servers: dict[str, ModelServer] = {}
            for address in filter(None, (imitation.address, imitation.vectors)):
                server = ModelServer(lambda call: imitation.answer(call, size), prefix=urlsplit(address).path)
                is_ours = address == imitation.address or "EM_EMBEDDER_API_KEY" not in given
                server.api_key = given["EM_LLM_API_KEY" if is_ours else "EM_EMBEDDER_API_KEY"]
                server.is_streaming = True
                server.vectors = lambda texts: [[float(text), 1.0] for text in texts]
                server.refused_texts = lambda texts: failed(413) if len(texts) > imitation.max_texts else None
                servers[address] = stack.enter_context(server)
            if imitation.address == OPENAI_URL:
                given["EM_LLM_BASE_URL"] = OPENAI_URL
            for variable, value in given.items():
                monkeypatch.setenv(variable, here(value, servers) if variable.endswith("_BASE_URL") else value)
            return Running(load_settings(home=tmp_path / "home"), servers)

        yield started


def here(address: str, servers: dict[str, ModelServer]) -> str:
    """Where the imitation of a server stands; KeyError where the page names none that there is."""
    by_host = {urlsplit(known).netloc: server for known, server in servers.items()}
    url = urlsplit(address)
    return f"http://{url.hostname}:{urlsplit(by_host[url.netloc].base_url).port}{url.path}"


def test_each_recipe_has_a_server_to_be_tried_on() -> None:
    assert RECIPES.keys() == IMITATIONS.keys()


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_recipe_sets_exists(name: str, start: Start) -> None:
    known = {PREFIX + field.upper() for field in Settings.model_fields} | {*SHORT_VARIABLES.values(), *OTHER_VARIABLES}
    assert [variable for variable in exports(RECIPES[name]) if variable not in known and "__" not in variable] == []
    start(name)  # where settings are read, an unknown field behind two underscores is refused


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_asked_as_its_server_takes_it(name: str, start: Start) -> None:
    imitation, running = IMITATIONS[name], start(name)
    server = running.servers[imitation.address]
    assert check_endpoint(running.settings).problem == ""
    path = f"POST {urlsplit(imitation.address).path}/chat/completions"
    assert [request for request in server.requests if "POST" in request] == [path] * imitation.n_calls
    call = server.calls[-1]
    assert call.body.keys() - {"model", "messages"} == imitation.takes
    assert (call.body["model"], call.body["response_format"]["type"]) == (running.settings.llm.small, "json_schema")
    assert call.headers["authorization"] == f"Bearer {exports(RECIPES[name])['EM_LLM_API_KEY']}"


@pytest.mark.parametrize("name", RECIPES)
def test_vectors_come_in_as_many_requests_as_needed(name: str, start: Start) -> None:
    imitation, running = IMITATIONS[name], start(name)
    address = imitation.vectors or imitation.address
    found = open_embedder(running.settings).embed([str(number) for number in range(1, 101)])
    assert np.allclose(found[:, 0] / found[:, 1], range(1, 101), rtol=1e-3)
    n_requests = -(-100 // min(64, imitation.max_texts))
    assert running.servers[address].requests == [f"POST {urlsplit(address).path}/embeddings"] * n_requests


@pytest.mark.parametrize("name", LOCAL)
def test_a_context_has_room_for_the_longest_question_and_its_answer(name: str, start: Start) -> None:
    running = start(name)
    reading, segmentation = running.settings.reading, running.settings.segmentation
    check_endpoint(running.settings)
    call = running.servers[IMITATIONS[name].address].calls[-1]
    n_earlier = segmentation.max_segment_tokens  # four turns are seldom longer than what is asked about
    needed = call.n_prompt_characters // 4 + segmentation.max_segment_tokens + n_earlier + reading.max_output_tokens
    assert needed <= context_of(name)
    for figure in (segmentation.max_segment_tokens, reading.max_output_tokens, context_of(name)):
        assert f"{figure:,}" in PAGE


def test_a_server_with_less_context_is_asked_for_less(start: Start) -> None:
    running = start("vLLM", context_tokens=8192)
    report = check_endpoint(running.settings)
    assert (report.problem, report.takes["context"]) == ("", 8192)
    assert len(running.servers[IMITATIONS["vLLM"].address].calls) == 2


def test_a_wrong_key_is_told_where_a_server_refuses_it_with_400(start: Start) -> None:
    running = start("Gemini")
    server = running.servers[IMITATIONS["Gemini"].address]
    error = {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}
    server.script = lambda _: failed(400, body=[{"error": error}])
    assert "check the key in EM_LLM_API_KEY" in check_endpoint(running.settings).problem


def test_times_and_costs_follow_from_what_is_assumed() -> None:
    for *_, prompt, read, written, at_once, time in rows_of(PAGE, "## Time and cost"):
        n_prompt, n_read, n_written, n_calls = (
            int(cell.replace(",", "")) for cell in (prompt, read, written, at_once)
        )  # fmt: skip
        assert n_prompt in {N_PROMPT_TOKENS, N_PROMPT_TOKENS_CACHED}
        seconds = (n_prompt / n_read + N_ANSWER_TOKENS / n_written) / n_calls
        assert time == f"{seconds / 60:.0f} min"
    prices = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert prices
    llm = LlmSettings(**yaml.safe_load(prices[1])["llm"])
    assert f" {llm.cost_usd(llm.small, N_PROMPT_TOKENS, N_ANSWER_TOKENS):.2f} dollars" in PAGE


def test_what_a_thousand_messages_take_is_what_the_page_of_models_measured(page: Callable[[str], str]) -> None:
    full, lean = rows_of(page("docs/llm.md"), "## Profiles")
    for (*_, fixed, calls, prompt), cached in ((full, N_PROMPT_TOKENS_CACHED), (lean, None)):
        n_fixed = int(fixed.replace(",", ""))
        assert round(1000 * float(calls)) == N_CALLS
        assert f"{1000 * int(prompt):,}" in PAGE
        assert f"{N_CALLS * n_fixed:,}" in PAGE
        if cached:
            assert round(1000 * int(prompt) - (N_CALLS - 1) * n_fixed, -3) == cached
