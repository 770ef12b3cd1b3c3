"""What reading with a model costs over months of real conversation: calls, tokens, and none the second time."""

from pathlib import Path

import duckdb
import pytest

from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server import oracle
from tests.model_server.server import ModelServer

CONVERSATION = ROOT.parent / "shared" / "data" / "locomo" / "26.json"
MAX_CALLS_A_MESSAGE = 0.05
MAX_PROMPT_TOKENS_A_MESSAGE = {"lean": 110, "full": 165}
"""Characters ÷ 4 of the messages and the schema of every call."""


@pytest.mark.slow
@pytest.mark.parametrize("profile", MAX_PROMPT_TOKENS_A_MESSAGE)
@pytest.mark.skipif(not CONVERSATION.exists(), reason="the conversations of LoCoMo are not beside the checkout")
def test_months_of_conversation_take_few_calls_and_none_the_second_time(tmp_path: Path, profile: str) -> None:
    home = tmp_path / "home"
    with ModelServer(oracle.reading) as server:
        key = "sk-test-1234567890abcdef"
        way = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": key, "EM_READING__PROFILE": profile}
        words = ["run", str(CONVERSATION), "--extractor", "llm", "--home", str(home)]
        done = call_here(words, ROOT, way)
        assert done.returncode == 0, done.stderr
        ((n_messages,),) = duckdb.sql(f"SELECT count(*) FROM read_parquet('{home}/lake/messages/*.parquet')").fetchall()
        n_calls, n_tokens = server.n_calls, server.n_prompt_characters / 4
        print(f"{n_messages} messages, {n_calls} calls, {n_tokens:.0f} prompt tokens, {n_tokens / n_messages:.1f} each")
        assert n_messages > 400
        assert n_calls <= MAX_CALLS_A_MESSAGE * n_messages
        assert n_tokens <= MAX_PROMPT_TOKENS_A_MESSAGE[profile] * n_messages
        again = call_here(words, ROOT, way)
        assert (again.returncode, server.n_calls) == (0, n_calls), again.stderr
        (home / "snapshots" / "latest.duckdb").unlink()
        full = call_here([*words[:1], "--full", *words[2:]], ROOT, way)
        assert (full.returncode, server.n_calls) == (0, n_calls), full.stderr
