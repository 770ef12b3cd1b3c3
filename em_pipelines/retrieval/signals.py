"""What a text shows at a glance, whatever its words are about: a time, a number, a name, a question."""

import re

import numpy as np
import numpy.typing as npt

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|week|weekend|month|year|morning|evening|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|" + "|".join(MONTHS) + r"|\d{4})s?\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several|dozen|hundred)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-zà-ÿ]+")
_QUESTION = re.compile(r"[^.!?]*\?")
_SENTENCE = re.compile(r"[.!?]+")
NAMES = ("time_said", "number_said", "name_said", "statement", "length")


def signals(texts: list[str]) -> npt.NDArray[np.float32]:
    """One row a text, one column a signal of `NAMES`, each 0 to 1; `statement` is 1 less the share of questions, and
    less again where the text ends with one."""
    found = np.zeros((len(texts), len(NAMES)), dtype=np.float32)
    for n, text in enumerate(texts):
        n_questions = len(_QUESTION.findall(text))
        asks = 0.5 * (n_questions / max(1, len(_SENTENCE.findall(text)))) + 0.5 * text.rstrip().endswith("?")
        length = text.count(" ") + 1
        found[n] = (
            _TIME.search(text) is not None,
            _NUMBER.search(text) is not None,
            _NAME.search(text) is not None,
            1 - min(1.0, asks),
            np.log1p(length),
        )
    longest = found[:, -1].max(initial=0)
    if longest:
        found[:, -1] /= longest
    return found
