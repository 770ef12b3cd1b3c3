"""The chat model against a real server: answers, formats, errors, and what must never be in a message."""

import asyncio
import gc
import json
import logging
import traceback
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

from em_pipelines.errors import (
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
    RequestTooLongError,
    SettingsError,
    SlowModelError,
)
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.endpoint_profiles import EndpointProfile, EndpointProfiles
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings, ModelPrice
from resources.answer_body import LOOK_CHARACTERS, TAIL_CHARACTERS, is_repeating
from resources.chat_model import OpenAIChatModel
from resources.dialect import Dialect
from resources.endpoint import Sent, read_api_key, server_words
from tests.model_server.questions import SCHEMA, question
from tests.model_server.script import Step, answer, dropped, failed, garbage, hang, rate_limited, truncated
from tests.model_server.server import ModelServer

KEY = "sk-nobody-may-read-this"


def ask(server: ModelServer, *requests: ChatRequest, **changes: Any) -> list[ChatAnswer]:
    """Asks one after the other, in one loop and with one model."""
    settings = LlmSettings(**{"base_url": server.base_url, "small": "small", "timeout_seconds": 5, **changes})

    async def asking() -> list[ChatAnswer]:
        async with OpenAIChatModel(settings, SecretStr(KEY), ManualClock()) as model:
            return [await model.complete(request) for request in requests or (question(),)]

    return asyncio.run(asking())


def test_a_question_goes_out_whole_and_its_answer_comes_back_with_what_it_took() -> None:
    price = ModelPrice(input_usd=1, output_usd=4, cached_input_usd=0.5)
    with ModelServer([answer({"likes": "plums"}, cached_tokens=10)]) as server:
        (found,) = ask(server, prices={"small": price})
        (call,) = server.calls
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Say what is liked."},
            {"role": "user", "content": "Ines likes plums."},
        ],
        "max_tokens": 200,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "likes", "schema": SCHEMA, "strict": True},
        },
    }
    assert (found.key, found.text, found.finish_reason) == (question().key, '{"likes": "plums"}', "stop")
    assert (found.prompt_tokens, found.completion_tokens) == (-(-call.n_prompt_characters // 4), 5)
    assert found.cost_usd == pytest.approx(((found.prompt_tokens - 10) * 1 + 10 * 0.5 + 5 * 4) / 1e6)


def test_tokens_that_the_endpoint_does_not_count_are_estimated() -> None:
    with ModelServer([answer("x" * 41, has_usage=False)]) as server:
        (found,) = ask(server)
    assert (found.prompt_tokens, found.completion_tokens) == (question().n_prompt_tokens, 11)


def test_a_cut_answer_says_so() -> None:
    with ModelServer([truncated('{"likes": "plums"}')]) as server:
        (found,) = ask(server)
    assert (found.finish_reason, found.text) == ("length", '{"likes":')


def test_formats_that_an_endpoint_refuses_are_not_tried_again() -> None:
    with ModelServer([answer("{}")], refused_formats=["json_schema"]) as server:
        ask(server, question("one"), question("two"))
        kinds = [call.body.get("response_format", {}).get("type") for call in server.calls]
        assert kinds == ["json_schema", "json_object", "json_object"]
        assert '"likes"' in server.calls[-1].messages[0]["content"], "the schema stands in the prompt instead"
        server.refused_formats.add("json_object")
        server.calls.clear()
        ask(server, question("one"), question("two"))
        kinds = [call.body.get("response_format", {}).get("type") for call in server.calls]
        assert kinds == ["json_schema", "json_object", None, None]


def test_calls_at_once_learn_of_a_refused_format_together() -> None:
    with ModelServer([answer("{}")], refused_formats=["json_schema"]) as server:
        settings = LlmSettings(base_url=server.base_url, small="small")

        async def asking() -> None:
            async with OpenAIChatModel(settings, SecretStr(KEY)) as model:
                await asyncio.gather(*(model.complete(question(str(number))) for number in range(8)))

        asyncio.run(asking())
        kinds = [call.body.get("response_format", {}).get("type") for call in server.calls]
        assert kinds.count("json_object") == 8
        assert kinds.count("json_schema") <= 8


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "stream", "stream_options"])
def test_parameters_that_an_endpoint_does_not_know_are_left_out(name: str) -> None:
    def script(call: Any) -> Step:
        return failed(400, f"Unsupported parameter: '{name}'.") if name in call.body else answer("{}")

    with ModelServer(script) as server:
        ask(server, question("one"), question("two"))
        assert [name in call.body for call in server.calls] == [True, False, False]
        assert ("max_completion_tokens" in server.calls[-1].body) == (name == "max_tokens")


def test_a_parameter_may_be_named_anywhere_in_a_refusal() -> None:
    refusal = failed(422, body={"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"]}]})
    with ModelServer(lambda call: refusal if "max_tokens" in call.body else answer("{}")) as server:
        ask(server, question("one"), question("two"))
        assert ["max_completion_tokens" in call.body for call in server.calls] == [False, True, True]


def test_openai_itself_is_asked_by_its_own_name_for_the_limit() -> None:
    limits = ("max_tokens", "max_completion_tokens")
    for address in ("", "https://api.openai.com/v1", "https://mine.openai.azure.com/openai/v1"):
        body = Dialect(EndpointProfiles(address)).parameters(question())
        assert [name in body for name in limits] == [False, True]
    body = Dialect(EndpointProfiles("http://127.0.0.1:11434/v1")).parameters(question())
    assert [name in body for name in limits] == [True, False]


def raised(step: Step, **changes: Any) -> ModelError:
    with ModelServer([step]) as server, pytest.raises(ModelError) as found:
        ask(server, **changes)
    assert KEY not in str(found.value)
    assert found.value.__context__ is found.value.__cause__ is None, "a vendor's error holds the whole request"
    assert "plums" not in "".join(traceback.format_exception(found.value))
    return found.value


@pytest.mark.parametrize(
    ("step", "kind", "said"),
    [
        (failed(500), ModelUnavailableError, 'asking the model small: HTTP 500: "The server had an error."; try again'),
        (failed(503, code="overloaded"), ModelUnavailableError, "HTTP 503, overloaded"),
        (failed(408), ModelUnavailableError, "HTTP 408"),
        (dropped(), ModelUnavailableError, "there was no connection, or it broke"),
        (garbage(), ModelUnavailableError, "what came back was no answer of the API"),
        (
            failed(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"),
            ModelRefusedError,
            "; check the key in EM_LLM_API_KEY",
        ),
        (
            failed(400, body=[{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]),
            ModelRefusedError,
            'HTTP 400: "API key not valid."; check the key in EM_LLM_API_KEY',
        ),
        (failed(404, code="model_not_found"), ModelRefusedError, "; check EM_LLM_SMALL"),
        (failed(429, code="insufficient_quota"), ModelRefusedError, "; check the credit"),
        (
            failed(400, "too long: Ines likes plums.", "too_long"),
            RequestRefusedError,
            'HTTP 400, too_long: "too long: […]"',
        ),
        (failed(413), RequestRefusedError, "if others pass, a shorter request may"),
        (failed(400, code="Ines likes plums"), RequestRefusedError, "HTTP 400: "),
        (rate_limited(), RateLimitedError, 'HTTP 429, rate_limit_exceeded: "Rate limit reached."; try again later'),
    ],
    ids=lambda value: value.kind + str(value.status) if isinstance(value, Step) else "",
)
def test_every_error_becomes_ours_without_key_or_prompt(step: Step, kind: type[ModelError], said: str) -> None:
    found = raised(step)
    assert type(found) is kind
    assert said in str(found)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("7", 7), ("0.5", 0.5), ("-3", 0), ("soon", None),
        (format_datetime(ManualClock().now() + timedelta(seconds=90), usegmt=True), 90),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    found = raised(rate_limited(header))
    assert isinstance(found, RateLimitedError)
    assert found.retry_after_seconds == seconds


def test_an_endpoint_that_hangs_is_given_up_when_the_time_is_over() -> None:
    found = raised(hang(), timeout_seconds=0.03)
    assert isinstance(found, SlowModelError)
    assert "no progress until the time was over" in str(found)


def test_nobody_at_home_is_an_unavailable_model() -> None:
    with ModelServer() as server:
        pass
    with pytest.raises(ModelUnavailableError, match="check EM_LLM_BASE_URL"):
        ask(server)


def test_an_answer_without_a_message_is_an_unavailable_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.model_server.server.completion", lambda call, step: {"choices": []})
    with ModelServer() as server, pytest.raises(ModelUnavailableError, match="holds no message"):
        ask(server)


def test_one_call_is_one_attempt_once_the_format_is_known() -> None:
    with ModelServer([answer("{}"), failed(500)]) as server:
        with pytest.raises(ModelUnavailableError):
            ask(server, question("one"), question("two"))
        assert server.n_calls == 2


REFUSALS = [
    (400, "Invalid JSON payload received. Unknown name 'additionalProperties': Cannot find field."),
    (400, "could not initialize the sampler"),
    (404, "No server can take all of the parameters."),
    (422, "unprocessable"),
    (500, "failed to parse grammar"),
    (501, ""),
    (500, "the grammar crashed"),
]


def formats(server: ModelServer) -> list[str | None]:
    return [call.body.get("response_format", {}).get("type") for call in server.calls]


def refusing(step: Step, *kinds: str) -> Any:
    def script(call: Any) -> Step:
        return step if call.body.get("response_format", {}).get("type") in kinds else answer("{}")

    return script


@pytest.mark.parametrize(("status", "wording"), REFUSALS)
def test_whether_a_format_is_refused_is_found_out_by_asking_without_it(status: int, wording: str) -> None:
    again = ["json_schema"] if status >= 500 else []  # a server that failed may have failed for another reason
    with ModelServer(refusing(failed(status, wording), "json_schema")) as server:
        ask(server, question("one"), question("two"))
        assert formats(server) == ["json_schema", "json_object", *again, "json_object"]
    with ModelServer(refusing(failed(status, wording), "json_schema", "json_object")) as server:
        ask(server, question("one"), question("two"))
        assert formats(server) == ["json_schema", "json_object", None, *again, None]


def test_a_server_that_failed_once_is_asked_in_the_same_format_again() -> None:
    with ModelServer([failed(500), answer("{}")]) as server:
        ask(server, question("one"), question("two"))
        assert formats(server) == ["json_schema", "json_object", "json_schema", "json_schema"]


def test_of_a_request_that_is_refused_in_every_format_nothing_is_learned() -> None:
    def script(call: Any) -> Step:
        return failed(400, "too long") if "long" in call.messages[-1]["content"] else answer("{}")

    settings = LlmSettings(small="small", timeout_seconds=5)
    with ModelServer(script) as server:

        async def asking() -> None:
            changed = settings.model_copy(update={"base_url": server.base_url})
            async with OpenAIChatModel(changed, SecretStr(KEY), ManualClock()) as model:
                with pytest.raises(RequestRefusedError):
                    await model.complete(question("long"))
                await model.complete(question("short"))
                with pytest.raises(RequestRefusedError):
                    await model.complete(question("long"))

        asyncio.run(asking())
        assert formats(server) == ["json_schema", "json_object", None, "json_schema", "json_schema"]


@pytest.mark.parametrize("step", [failed(401), failed(403), failed(402), rate_limited(), failed(408)])
def test_a_key_or_a_pace_that_is_refused_is_no_matter_of_the_format(step: Step) -> None:
    with ModelServer([step]) as server:
        with pytest.raises(ModelError):
            ask(server)
        assert server.n_calls == 1


def test_what_an_endpoint_takes_is_known_to_the_next_client_of_it() -> None:
    profiles = EndpointProfiles()
    with ModelServer(refusing(failed(400, "no"), "json_schema")) as server:
        settings = LlmSettings(base_url=server.base_url, small="small")

        async def asking(text: str) -> None:
            async with OpenAIChatModel(settings, SecretStr(KEY), ManualClock(), profiles) as model:
                await model.complete(question(text))

        for text in ("one", "two"):
            asyncio.run(asking(text))
        assert formats(server) == ["json_schema", "json_object", "json_object"]


def test_one_model_that_refuses_a_format_says_nothing_of_another() -> None:
    def script(call: Any) -> Step:
        is_refused = call.body["model"] == "small" and call.schema is not None
        return failed(400, "no") if is_refused else answer("{}")

    with ModelServer(script) as server:
        ask(server, question("one"), question("two", model="large"), question("three"))
        assert formats(server) == ["json_schema", "json_object", "json_schema", "json_object"]


def test_there_is_one_system_message_whatever_is_asked_for() -> None:
    def script(call: Any) -> Step:
        n_system = sum(message["role"] == "system" for message in call.messages)
        is_refused = n_system > 1 or "response_format" in call.body
        return failed(400, "roles must alternate") if is_refused else answer("{}")

    with ModelServer(script) as server:
        ask(server)
        first, second = server.calls[-1].messages
    assert (first["role"], second) == ("system", {"role": "user", "content": "Ines likes plums."})
    assert first["content"].startswith("Say what is liked.")
    assert '"likes"' in first["content"]


TEXT = {"type": "text", "text": '"plums"}'}


@pytest.mark.parametrize(
    "parts",
    [
        ({"type": "text", "text": '{"likes": '}, TEXT),
        (
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm {"}]},
            {"type": "text", "text": '{"likes": '},
            TEXT,
        ),
        ({"type": "reasoning", "text": "hm {"}, {"type": "output_text", "text": '{"likes": '}, TEXT),
    ],
)
def test_content_in_parts_is_the_text_of_its_parts(parts: tuple[dict[str, Any], ...]) -> None:
    with ModelServer([answer("", parts=parts)]) as server:
        (found,) = ask(server)
    assert found.text == '{"likes": "plums"}'


def test_a_page_in_place_of_an_answer_is_an_unavailable_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.model_server.server.completion", lambda call, step: "<html>please log in</html>")
    with ModelServer() as server, pytest.raises(ModelUnavailableError, match="no answer of the API"):
        ask(server)


@pytest.mark.slow
def test_it_works_in_one_loop_after_the_other_and_leaves_no_connection_open() -> None:
    with ModelServer([answer("{}")]) as server:
        settings = LlmSettings(base_url=server.base_url, small="small")
        model = OpenAIChatModel(settings, SecretStr(KEY))

        async def asking() -> str:
            async with model:
                return (await model.complete(question())).text

        assert [asyncio.run(asking()) for _ in range(2)] == ["{}", "{}"]
    gc.collect()  # an unclosed socket would warn here, and warnings are errors


def test_a_second_loop_before_the_first_was_closed_is_a_mistake_that_is_named() -> None:
    with ModelServer([answer("{}")]) as server:
        model = OpenAIChatModel(LlmSettings(base_url=server.base_url, small="small"), SecretStr(KEY))
        first = asyncio.new_event_loop()
        first.run_until_complete(model.complete(question()))
        with pytest.raises(RuntimeError, match="close it before"):
            asyncio.run(model.complete(question()))
        first.run_until_complete(model.__aexit__())
        first.close()


def test_key_and_prompt_reach_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with (
        ModelServer([answer("{}"), failed(401, f"Incorrect API key provided: {KEY}")]) as server,
        caplog.at_level(logging.DEBUG),
        pytest.raises(ModelRefusedError),
    ):
        ask(server, question("one"), question("two"))
    assert "chat/completions" in caplog.text
    assert KEY not in caplog.text
    assert "what is liked" not in caplog.text


def test_keys_are_read_from_two_variables_and_shown_by_neither() -> None:
    both = {"EM_LLM_API_KEY": "first", "OPENAI_API_KEY": "second"}
    assert read_api_key(both).get_secret_value() == "first"
    assert read_api_key({"EM_LLM_API_KEY": " ", "OPENAI_API_KEY": "second"}).get_secret_value() == "second"
    assert "first" not in repr(read_api_key(both))
    with pytest.raises(SettingsError, match="none of EM_LLM_API_KEY and OPENAI_API_KEY is set"):
        read_api_key({})


CONTEXT = (
    "This model's maximum context length is 4096 tokens. However, you requested 5711 tokens (1615 in the messages, "
    "4096 in the completion). Please reduce the length of the messages or completion."
)
TOO_LARGE = [
    (CONTEXT, 4080, [4096, 4019]),
    ("'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens "
     "and your request has 1615 input tokens (4096 > 4096 - 1615).", 1024, [4096, 4019, 2048, 1024]),
    ("max_tokens is too large: 4096. This model supports at most 2048 completion tokens.", 2048, [4096, 2048]),
    ("the request exceeds the available context size, try increasing it", 1500, [4096, 2048, 1024]),
]  # fmt: skip
OF_LLAMA = [
    "the request exceeds the available context size, try increasing it",
    "request (700 tokens) exceeds the available context size (300 tokens), try increasing it",
]


@pytest.mark.parametrize(("wording", "most", "limits"), TOO_LARGE)
def test_a_limit_that_is_too_large_is_lowered_until_it_passes(wording: str, most: int, limits: list[int]) -> None:
    def script(call: Any) -> Step:
        return failed(400, wording) if call.body["max_tokens"] > most else answer("{}")

    with ModelServer(script) as server:
        ask(server, question(max_output_tokens=4096), question("two", max_output_tokens=4096))
        asked = [call.body["max_tokens"] for call in server.calls]
    assert asked[0] == limits[0]
    assert asked[-1] == pytest.approx(asked[-2], abs=9), "it is known from then on"
    assert len(asked) == len(limits) + 1
    assert asked[-1] <= most


def test_a_prompt_that_leaves_no_room_for_an_answer_is_not_sent() -> None:
    with ModelServer(lambda call: failed(400, "maximum context length is 300 tokens")) as server:
        for _ in range(2):
            with pytest.raises(RequestTooLongError, match="in its context of 300 tokens"):
                ask(server, question("long " * 200))
        assert server.n_calls == 2, "each client learns it with its first call"


@pytest.mark.parametrize("said", OF_LLAMA)
def test_the_length_of_a_prompt_is_not_taken_for_the_context_of_a_llama_server(said: str) -> None:
    error = {"code": 400, "message": said, "type": "exceed_context_size_error", "n_prompt_tokens": 700, "n_ctx": 300}
    with (
        ModelServer([failed(400, body={"error": error})]) as server,
        pytest.raises(RequestTooLongError, match="in its context of 300 tokens"),
    ):
        ask(server, question("long " * 500))
    assert server.n_calls == 1


def test_a_streamed_answer_is_the_same_answer() -> None:
    text = json.dumps({"likes": "plums", "why": "they are sweet, and sour, and blue" * 9})
    found = []
    for is_streaming in (False, True):
        with ModelServer([answer(text)]) as server:
            server.is_streaming = is_streaming
            found += ask(server)
            assert (server.n_pieces > 3) is is_streaming
    one, other = found
    assert (one.text, one.finish_reason, one.prompt_tokens, one.completion_tokens) == (
        other.text, other.finish_reason, other.prompt_tokens, other.completion_tokens,
    )  # fmt: skip


def test_a_model_that_goes_in_circles_is_stopped() -> None:
    head, circle = '{"likes": ["plums"', ', "plums, and pears, and plums"'
    circle = head + circle * 5_000
    step = answer(circle, piece_delay_seconds=0.001)
    with ModelServer([step]) as server:
        server.is_streaming = True
        (found,) = ask(server)
        assert server.n_pieces < len(circle) / step.piece_characters / 2, (
            "the connection is closed, and the server stops"
        )
    assert found.finish_reason == "loop"
    assert len(found.text) < len(head) + TAIL_CHARACTERS + 2 * LOOK_CHARACTERS, "as soon as its end is a circle"
    with ModelServer([answer(circle, finish_reason="length")]) as server:
        assert ask(server)[0].finish_reason == "loop"


@pytest.mark.parametrize(("text", "is_loop"), [("ab" * 800, True), ("x" * 1600, True), ("abc " * 40, False)])
def test_repetition_is_the_end_of_a_text_again_and_again(text: str, is_loop: bool) -> None:
    assert is_repeating(text) is is_loop
    assert not is_repeating(json.dumps([{"t": n, "name": f"somebody {n * n}"} for n in range(60)])[:1600])


def test_a_call_that_makes_progress_is_not_given_up() -> None:
    with ModelServer([answer("x" * 400, piece_delay_seconds=0.02)]) as server:
        server.is_streaming = True
        (found,) = ask(server, timeout_seconds=0.15)
        assert len(found.text) == 400
        assert server.n_pieces * 0.02 > 0.15


def test_the_arguments_of_a_tool_are_an_answer_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "likes", "arguments": '{"likes": "plums"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choices = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    monkeypatch.setattr("tests.model_server.server.completion", lambda call, step: {"choices": choices})
    with ModelServer() as server:
        (found,) = ask(server)
    assert found.text == '{"likes": "plums"}'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "no such model", "param": "model"}}, ': "no such model"'),
        ({"error": "Unsupported parameter"}, ': "Unsupported parameter"'),
        ({"object": "error", "message": "bad"}, ': "bad"'),
        ({"detail": [{"loc": ["body"], "msg": "Input should be text"}]}, ': "Input should be text"'),
        ("<html><head><title>502 Bad Gateway</title></head></html>", ': "502 Bad Gateway"'),
        ("<html>no title</html>", ""), ("plain words", ': "plain words"'), (None, ""), ([], ""), ({"error": {}}, ""),
        ({"error": {"message": f"key {KEY} of {'x' * 900}"}}, None),
    ],
)  # fmt: skip
def test_the_servers_own_words_are_told_wherever_it_puts_them(body: object, words: str | None) -> None:
    found = server_words(body, Sent("", SecretStr(KEY)))
    assert words is None or found == words
    assert KEY not in found
    assert len(found) < 260


def test_words_that_repeat_the_prompt_are_left_out() -> None:
    sent = Sent("My sister Odalys lives in Narva.", SecretStr(KEY))
    found = server_words({"message": "not allowed: My sister Odalys lives in Narva. Sorry"}, sent)
    assert found == ': "not allowed: […] Sorry"'


def test_patience_follows_the_pace_of_the_endpoint() -> None:
    profile = EndpointProfile()
    assert profile.patience_seconds == 600
    assert (profile.waited(4), profile.waited(2), profile.patience_seconds) == (True, False, 60)
    assert (profile.waited(40), profile.patience_seconds) == (True, 200)
    assert (profile.waited(500), profile.patience_seconds) == (True, 600)
