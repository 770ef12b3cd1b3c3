"""Settings of models: short variables, prices, and no key among them."""

import pytest

from em_pipelines.errors import SettingsError
from em_pipelines.llm.settings import LlmSettings, ModelPrice
from em_pipelines.schema.described_settings import described
from em_pipelines.settings import load_settings


def test_short_variables_beat_the_file_and_long_ones_beat_both(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("settings")
    (folder / "em.yaml").write_text("llm: {small: of-the-file, large: of-the-file, timeout_seconds: 9}")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EM_LLM_SMALL", "short")
    monkeypatch.setenv("EM_LLM_MODE", "batch")
    monkeypatch.setenv("EM_LLM_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("EM_LLM__MODE", "realtime")
    llm = load_settings().llm
    assert (llm.small, llm.large, llm.mode, llm.timeout_seconds) == ("short", "of-the-file", "realtime", 9)
    assert llm.base_url == "http://localhost:1/v1"


def test_no_setting_holds_or_prints_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EM_LLM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-this-must-not-be-seen")
    settings = load_settings(home="home")
    assert "sk-this" not in repr(settings) + str(list(described(settings))) + settings.model_dump_json()


def test_an_address_with_a_password_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_LLM_BASE_URL", "https://me:hunter2@models.example/v1")
    with pytest.raises(SettingsError, match=r"llm\.base_url") as refused:
        load_settings()
    assert "hunter2" not in str(refused.value)


def test_a_dollar_budget_needs_the_price_of_every_model() -> None:
    with pytest.raises(ValueError, match="needs the prices of big, tiny"):
        LlmSettings(small="tiny", large="big", budget={"max_usd_a_night": 1})


def test_costs_tell_cached_tokens_from_others() -> None:
    settings = LlmSettings(prices={"tiny": ModelPrice(input_usd=2, output_usd=10, cached_input_usd=0.5)})
    assert settings.cost_usd("tiny", 1_000_000, 100_000, 400_000) == pytest.approx(1.2 + 0.2 + 1.0)
    assert settings.cost_usd("unknown", 1_000_000, 100_000) == 0.0
    plain = LlmSettings(prices={"tiny": ModelPrice(input_usd=2, output_usd=10)})
    assert plain.cost_usd("tiny", 1_000_000, 0, 400_000) == pytest.approx(2.0)


def test_models_are_chosen_by_size() -> None:
    assert LlmSettings(small="tiny").model_of("large") == "tiny"
    assert LlmSettings(small="tiny", large="big").model_of("large") == "big"
    assert LlmSettings().model_of("small"), "an endpoint and a key are enough"


def test_batches_leave_nothing_to_wait_for() -> None:
    assert LlmSettings().retries.delays_seconds == (1, 5, 30)
    assert LlmSettings(mode="batch").retries.delays_seconds == ()
