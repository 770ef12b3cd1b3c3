"""Stage 6: the confidence of a new claim, from its mechanism, hedge and flags. Pure arithmetic."""

from em_pipelines.vocabulary import Flag, HedgeLevel, Mechanism

EXPLICIT_BY_HEDGE: dict[HedgeLevel, float] = {
    HedgeLevel.NONE: 0.90,
    HedgeLevel.SLIGHT: 0.80,
    HedgeLevel.MODERATE: 0.65,
    HedgeLevel.STRONG: 0.45,
}
BY_MECHANISM: dict[Mechanism, float] = {
    Mechanism.USER_CORRECTION: 1.00,
    Mechanism.OBSERVATIONAL: 0.80,
    Mechanism.IMPORTED: 0.70,
    Mechanism.INFERENTIAL: 0.60,
    Mechanism.REFLECTIVE: 0.60,
    Mechanism.SHARED: 0.30,
}
CEILINGS: dict[Flag, float] = {
    Flag.HYPOTHETICAL: 0.20,
    Flag.EMOTIONAL_STATE: 0.30,
    Flag.ABANDONED_INTENT: 0.30,
    Flag.ATTRIBUTION_UNCERTAIN: 0.50,
}
FACTORS: dict[Flag, float] = {Flag.SECONDHAND: 0.8, Flag.SARCASM_DETECTED: 0.7}


def initial_confidence(
    mechanism: Mechanism, hedge: HedgeLevel, flags: tuple[Flag, ...] = (), *, is_wish: bool = True
) -> float:
    """Returns the confidence, 0 to 1, of a claim when it is first made.

    The table value of the mechanism (of the hedge, for explicit statements), cut to the ceiling of a hypothetical, a
    wish voiced while venting, an intent given up at once or an uncertain attribution, times the factors of secondhand
    and sarcasm. The venting ceiling holds for wishes only: the feeling itself is stated plainly, so pass
    `is_wish=False` for it.
    """
    base = EXPLICIT_BY_HEDGE[hedge] if mechanism is Mechanism.EXPLICIT else BY_MECHANISM[mechanism]
    for flag, ceiling in CEILINGS.items():
        if flag in flags and (is_wish or flag is not Flag.EMOTIONAL_STATE):
            base = min(base, ceiling)
    for flag, factor in FACTORS.items():
        if flag in flags:
            base *= factor
    return round(base, 6)
