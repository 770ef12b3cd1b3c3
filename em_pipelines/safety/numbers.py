"""Numbers with a checksum: cards, bank accounts, identity numbers. The arithmetic is python-stdnum's.

`CHECKS` names every test that an entry of masking.yaml can ask for; `mask_cards` and `mask_ibans` find where such a
number ends in a longer run of characters.
"""

import re
from collections.abc import Callable

from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.in_ import aadhaar
from stdnum.it import codicefiscale
from stdnum.mx import curp
from stdnum.se import personnummer

MIN_CARD_DIGITS, MAX_CARD_DIGITS = 13, 19
MIN_IBAN_CHARACTERS = 15
_CARD_FIRST_DIGITS = range(2, 7)

CHECKS: dict[str, Callable[[str], bool]] = {
    "aadhaar": aadhaar.is_valid,
    "ahv": ahv.is_valid,
    "codice_fiscale": codicefiscale.is_valid,
    "cpf": cpf.is_valid,
    "curp": curp.is_valid,
    "dni": dni.is_valid,
    "hetu": hetu.is_valid,
    "nie": nie.is_valid,
    "nir": nir.is_valid,
    "personnummer": personnummer.is_valid,
}


def mask_ibans(run: str, mask: str) -> str:
    """Masks the account number with which a run of letters, digits and blanks begins; as long as one is valid."""
    ends = [i + 1 for i, c in enumerate(run) if c.isalnum() and (i + 1 == len(run) or not run[i + 1].isalnum())]
    for end in reversed(ends):
        if sum(c.isalnum() for c in run[:end]) < MIN_IBAN_CHARACTERS:
            break
        if iban.is_valid(run[:end], check_country=False):
            return mask + run[end:]
    return run


def mask_cards(run: str, mask: str) -> str:
    """Masks the card numbers in a run of digit groups, each from the start of a group to the end of one."""
    groups = [m.span() for m in re.finditer(r"\d+", run)]
    out: list[str] = []
    copied = first = 0
    while first < len(groups):
        last = _last_group_of_card(run, groups, first)
        if last is None:
            first += 1
            continue
        out += (run[copied : groups[first][0]], mask)
        copied, first = groups[last][1], last + 1
    return "".join(out) + run[copied:]


def _last_group_of_card(run: str, groups: list[tuple[int, int]], first: int) -> int | None:
    """The group with which the longest card number that begins at `first` ends; None if none does."""
    digits, found = "", None
    if int(run[groups[first][0]]) not in _CARD_FIRST_DIGITS:
        return None
    for i in range(first, min(len(groups), first + MAX_CARD_DIGITS)):
        digits += run[slice(*groups[i])]
        if len(digits) > MAX_CARD_DIGITS:
            break
        if len(digits) >= MIN_CARD_DIGITS and len(digits) in _card_lengths(int(digits[:4])) and luhn.is_valid(digits):
            found = i
    return found


def _card_lengths(beginning: int) -> tuple[int, ...]:
    """How many digits a card number has that begins with these four; brands by ISO/IEC 7812 as issued today."""
    first_two = beginning // 100
    if first_two // 10 == 4:
        return (13, 16, 19)
    if first_two in (34, 37):
        return (15,)
    if first_two in (30, 36, 38, 39):
        return (14,)
    if 51 <= first_two <= 55 or 2221 <= beginning <= 2720:
        return (16,)
    return (16, 17, 18, 19) if first_two in (35, 50, 56, 57, 58, 60, 62, 63, 64, 65, 67) else ()
