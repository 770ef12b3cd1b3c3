"""The errors that callers can tell apart; every leaf is either worth a retry or not.

    EmError
    ├── TransientError      worth a retry: exit code 3
    │   ├── LockedError         another run holds the home
    │   ├── StorageError        the disk is full, failed or may not be written to
    │   ├── RunFailedError      a materialization failed half way; what was done is kept
    │   ├── ErasureIncompleteError  what was to be erased is still found somewhere; the request waits
    │   ├── UnsettledError      what was to be read is being made anew
    │   ├── NotMadeError        what was asked for has landed, and no run has read it yet
    │   ├── GraphUnavailableError   the graph database could not be reached, or went away
    │   └── (ModelError)        a model gave no usable answer this time:
    │       ├── ModelUnavailableError   5xx, no connection
    │       │   └── SlowModelError          no progress until the time was over
    │       ├── RateLimitedError        429, with how long to wait
    │       ├── UnusableAnswerError     an answer came, and nothing could be made of it
    │       │   ├── AnswerCutError          it was cut off at its limit, or went in circles
    │       │   └── AnswerRefusedError      the model, or a filter, declines to answer
    │       ├── BreakerOpenError        not asked: too many calls failed just before
    │       ├── BudgetSpentError        not asked: the budget of the day or night is used up
    │       └── AnswerPendingError      asked, or queued to be asked, in a batch that has not come back
    └── PermanentError      a retry gives the same again: exit code 2
        ├── UsageError          wrong path, option or value
        │   └── UnknownUserError    nobody is called so: exit code 1
        ├── SettingsError       em.yaml or an EM_ variable cannot be read
        ├── PatternError        a pattern file breaks the pattern grammar
        ├── RuleFileError       a rule file breaks the grammar of rules
        ├── CorruptTableError   a table's file does not match its declared schema
        ├── CorruptLedgerError  a line of the ledger is no entry
        ├── SaltError           the home's salt is lost, or another home's
        ├── CorruptLogError     something of the landed log is lost, or is not what was landed
        ├── CorruptBackupError  something of a backup is lost, or is not what was copied
        ├── GraphRefusedError   the graph database refuses us, or what we ask of it
        └── (ModelError)        a model will give no answer:
            ├── ModelRefusedError       to nothing we ask: wrong key, unknown model, no credit
            └── RequestRefusedError     to this request: too long, not allowed; a smaller one may pass
                └── RequestTooLongError     it does not fit into the model's context

A message has three parts: what was attempted, what was found, what to do. Errors in single lines of input are no
exceptions: they are dead letters (`em_pipelines.landing`).
"""


class EmError(Exception):
    """Base of everything this package raises on purpose."""

    exit_code = 2


class TransientError(EmError):
    """Worth a retry."""

    exit_code = 3


class PermanentError(EmError):
    """A retry gives the same again."""


class LockedError(TransientError):
    """Another process holds the lock of this home."""


class StorageError(TransientError):
    """The disk is full, failed, or may not be read or written; what was there stays as it was."""


class RunFailedError(TransientError):
    """A Dagster run ended without success; finished partitions are kept and the next run goes on from them."""


class ErasureIncompleteError(TransientError):
    """What was to be erased is still found somewhere; the request stays pending, and the message says where."""


class UnsettledError(TransientError):
    """What was to be read is being made anew, and does not fit together until that has ended."""


class NotMadeError(TransientError):
    """What was asked for has landed and no run has read it yet: an empty answer would say that there is nothing."""


class GraphUnavailableError(TransientError):
    """The graph database could not be reached, went away or was too slow. Messages hold no secret and no data."""


class ModelError(EmError):
    """A model gave no usable answer; leaves are transient or permanent, too. Messages hold neither key nor prompt."""


class ModelUnavailableError(ModelError, TransientError):
    """The endpoint failed (5xx), could not be reached, broke off or took too long."""


class SlowModelError(ModelUnavailableError):
    """The endpoint took a request and then made no progress for as long as it is given. Slow work is never given up."""


class RateLimitedError(ModelError, TransientError):
    """The endpoint asks to be left alone for a while."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
        """How long it asks for; None where it does not say."""


class UnusableAnswerError(ModelError, TransientError):
    """An answer came, and nothing could be made of it: raised by whoever reads answers."""


class AnswerCutError(UnusableAnswerError):
    """An answer was cut off at its limit of tokens, or went in circles: fewer messages need a shorter one."""


class AnswerRefusedError(UnusableAnswerError):
    """The model, or a filter of the endpoint, declines to answer: the same question is declined again."""


class BreakerOpenError(ModelError, TransientError):
    """Not asked: too many calls failed just before."""

    def __init__(self, message: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
        """Seconds until one call is let through to try."""


class BudgetSpentError(ModelError, TransientError):
    """Not asked: the budget is used up. The work is deferred, not dropped."""


class AnswerPendingError(ModelError, TransientError):
    """The question is in a batch, or queued for the next one; ask again once batches were collected."""


class UsageError(PermanentError):
    """A path, option or value that cannot be used."""


class UnknownUserError(UsageError):
    """Nobody is called so. A finding: the command was right, and a name is not there. Names nobody else."""

    exit_code = 1


class SettingsError(PermanentError):
    """em.yaml or an environment variable cannot be read as settings."""


class PatternError(PermanentError):
    """A pattern file breaks the pattern grammar."""


class RuleFileError(PermanentError):
    """A file of inference rules breaks the grammar of rules; the message names the rule and the reason."""


class CorruptTableError(PermanentError):
    """A table's file does not match its declared schema."""


class CorruptLedgerError(PermanentError):
    """A line of the ledger is no entry: somebody edited it."""


class SaltError(PermanentError):
    """The home's salt is lost or another home's: nobody can tell what was erased, or whose a token is."""


class CorruptLogError(PermanentError):
    """Something of the landed log is lost, or is not what was landed: nothing can make it again."""


class CorruptBackupError(PermanentError):
    """Something of a backup is lost, or is not what was copied."""


class GraphRefusedError(PermanentError):
    """The graph database refuses the credentials, the database or a statement. Messages hold no secret and no data."""


class ModelRefusedError(ModelError, PermanentError):
    """The endpoint refuses whatever we ask: wrong key, unknown model, no credit. Somebody has to mend the settings."""


class RequestRefusedError(ModelError, PermanentError):
    """The endpoint refuses this one request, as too long or not allowed; a smaller one may pass."""


class RequestTooLongError(RequestRefusedError):
    """A request does not fit into the model's context; one about fewer messages may."""
