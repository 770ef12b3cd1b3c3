"""Which messages hold pasted blocks."""

import pytest

from em_pipelines.guard.passages import has_pasted_block


@pytest.mark.parametrize(
    "text",
    [
        "look:\n> we moved\n> to Kotor",
        "```\na = 1\n```",
        "what is this?\n\nFrom: Pia\nSubject: boats\n\nThe boats are sold.",
        "# Pump\n\nA pump for boats.\n\nInstall it yourself.",
        "| boat | price |\n| --- | --- |\n| Ada | 12 |",
        "he wrote “" + "the boats are sold and the shed is empty now, " * 6 + "”",
        "1. lamp\n2. boat\n3. shed\n4. rope",
    ],
)
def test_quotes_mails_readmes_tables_and_lists_are_pasted(text: str) -> None:
    assert has_pasted_block(text)


@pytest.mark.parametrize("text", ["I sail.", 'she said "no" and left', "I sail.\nI row.\n\nWhat now?", "a > b, c | d"])
def test_typed_messages_are_not(text: str) -> None:
    assert not has_pasted_block(text)
