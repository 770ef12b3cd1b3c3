"""What a file in the inbox asks to be forgotten is erased without a hand, and the file does not stay."""

from typing import Any

import dagster as dg

from sensors.jobs import LANDED_FOLDER
from sensors.requests import forget_requests

from .conftest import QUIET
from .test_jobs import run


def test_a_request_in_the_inbox_is_carried_out_when_every_day_is_current(world: Any) -> None:
    assert isinstance(world.tick("requests")[0], dg.SkipReason)
    world.land("2026-03-01", content="Torvald likes tea. I like rice.")
    (world.home.path / "log.jsonl").unlink()
    world.drop("ask.jsonl", world.message("2026-03-05", kind="feedback", type="forget", entity="Torvald"))
    assert run(world).success
    assert not list(world.home.inbox.rglob("*.jsonl"))
    assert not (world.home.inbox / LANDED_FOLDER).exists()
    answer, _ = world.tick("requests")
    assert isinstance(answer, dg.SkipReason)
    assert "out of date" in str(answer.skip_message)
    world.make_tables()
    answer, _ = world.tick("requests")
    assert isinstance(answer, dg.RunRequest)
    done = forget_requests.execute_in_process(instance=world.instance, resources=world.resources, run_config=QUIET)
    assert done.success
    assert [r["content"] for d in world.home.store.log.days("interactions")
            for r in world.home.store.log.read("interactions", d)] == ["[…] I like rice."]  # fmt: skip
    assert world.home.book.pending() == []
    assert isinstance(world.tick("requests")[0], dg.SkipReason)
    assert "Torvald" not in "".join(str(entry) for entry in world.instance.all_logs(done.run_id))
