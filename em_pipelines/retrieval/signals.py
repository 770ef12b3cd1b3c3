"""What a text shows at a glance, whatever its words are about: a time, a number, a name, a question."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_TIME = re.compile(
    r"(?:yesterday|today|tonight|tomorrow|last|next|ago|since|week|weekend|month|year|morning|evening|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|" + "|".join(MONTHS) + r"|\d{4})s?"
)
_NUMBER = re.compile(
    r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several|dozen|hundred"
)
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-zà-ÿ]+")
_SENTENCE = re.compile(r"[.!?]+")
NAMES = ("time_said", "number_said", "name_said", "statement", "length")
Floats = npt.NDArray[np.float32]


def signals(texts: Sequence[str], counts: csr_matrix, words: Sequence[str], known: Floats | None = None) -> Floats:
    """One row a text, one column a signal of `NAMES`: 0 to 1, but for `length`, the logarithm of the number of words.

    `statement` is 1 less the share of questions, and less again where the text ends with one. `counts` are texts ×
    `words`; `known` are the rows of the first texts where they were made before.
    """
    found = np.zeros((len(texts), len(NAMES)), dtype=np.float32)
    for column, pattern in enumerate((_TIME, _NUMBER)):
        telling = np.array([pattern.fullmatch(word) is not None for word in words] or [False], np.float32)
        found[:, column] = counts @ telling > 0
    n_known = 0 if known is None else len(known)
    if known is not None:
        found[:n_known] = known
    for n, text in enumerate(texts[n_known:], start=n_known):
        n_questions = text.count("?")
        asks = (
            0.5 * (n_questions / len(_SENTENCE.findall(text))) + 0.5 * text.rstrip().endswith("?") if n_questions else 0
        )
        found[n, 2] = _NAME.search(text) is not None
        found[n, 3] = 1 - min(1.0, asks)
        found[n, 4] = np.log1p(text.count(" ") + 1)
    return found
