"""The batch side of the scripted server: files that were uploaded, and batches over them."""

import json
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

AnswerLine = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]


def multipart(content_type: str, data: bytes) -> tuple[str, bytes]:
    """Returns the purpose and the file of an upload."""
    whole = BytesParser(policy=HTTP).parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + data)
    parts = {part.get_param("name", header="content-disposition"): part for part in whole.iter_parts()}
    return str(parts["purpose"].get_payload(decode=True), "ascii").strip(), parts["file"].get_payload(decode=True)


class Batches:
    """Files and batches. A batch comes to its `outcome` at poll number `n_polls`; until then it is in progress."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.by_id: dict[str, dict[str, Any]] = {}
        self.outcome = "completed"
        """completed, failed, expired or cancelled."""
        self.n_polls = 1
        self.answered_share = 1.0
        """Of an expired or cancelled batch, the share of lines that were answered before."""
        self.is_lost_after_create = False
        """Whether the connection breaks once a batch was made, before the client hears of it."""
        self._n_files = 0
        self._polls: dict[str, int] = {}

    def add_file(self, purpose: str, data: bytes) -> dict[str, Any]:
        self._n_files += 1
        name = f"file-{self._n_files}"
        self.files[name] = data
        return {"id": name, "object": "file", "bytes": len(data), "created_at": 0, "filename": name,
                "purpose": purpose, "status": "processed"}  # fmt: skip

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        name = f"batch_{len(self.by_id) + 1}"
        self._polls[name] = 0
        self.by_id[name] = {
            "id": name, "object": "batch", "endpoint": body["endpoint"], "input_file_id": body["input_file_id"],
            "completion_window": body["completion_window"], "status": "validating", "created_at": len(self.by_id),
            "metadata": body.get("metadata"), "output_file_id": None, "error_file_id": None,
        }  # fmt: skip
        return self.by_id[name]

    def page(self, after: str | None, limit: int) -> dict[str, Any]:
        """Batches, newest first, `limit` at a time, those behind the one named `after`."""
        names = list(reversed(self.by_id))
        begin = names.index(after) + 1 if after else 0
        shown = names[begin : begin + limit]
        return {"object": "list", "data": [self.by_id[name] for name in shown], "has_more": len(names) > begin + limit,
                "first_id": shown[0] if shown else None, "last_id": shown[-1] if shown else None}  # fmt: skip

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The requests of a batch."""
        data = self.files[self.by_id[name]["input_file_id"]]
        return [json.loads(line) for line in data.splitlines()]

    def poll(self, name: str, answer_line: AnswerLine) -> dict[str, Any]:
        """One poll further; where that ends the batch, its lines are answered."""
        batch = self.by_id[name]
        if batch["status"] in {"completed", "failed", "expired", "cancelled"}:
            return batch
        self._polls[name] += 1
        batch["status"] = "in_progress"
        if self._polls[name] >= self.n_polls:
            batch["status"] = self.outcome
            if self.outcome != "failed":
                self._answer(batch, answer_line)
        return batch

    def _answer(self, batch: dict[str, Any], answer_line: AnswerLine) -> None:
        requests = self.lines(batch["id"])
        n_answered = len(requests) if self.outcome == "completed" else int(len(requests) * self.answered_share)
        good, bad = [], []
        for number, line in enumerate(requests):
            row: dict[str, Any] = {"id": f"line-{number}", "custom_id": line["custom_id"], "error": None}
            if number >= n_answered:
                code = f"batch_{self.outcome}"
                bad.append({**row, "response": None, "error": {"code": code, "message": "not done in time"}})
                continue
            status, body = answer_line(line["body"])
            found = {"status_code": status, "request_id": f"r-{number}", "body": body}
            (good if status == 200 else bad).append({**row, "response": found})
        for field, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                made = self.add_file("batch_output", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
                batch[field] = made["id"]
