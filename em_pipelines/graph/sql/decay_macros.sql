-- What is left of a confidence after whole days without a mention, by temporal type; `rates` holds losses a day and
-- half-lives of all types.
CREATE OR REPLACE TEMP MACRO faded(confidence, unreferenced_days, temporal_type) AS decayed(
    confidence,
    unreferenced_days,
    CASE temporal_type
        WHEN 'attribute' THEN getvariable('rates').attribute.loss_per_day
        WHEN 'trait' THEN getvariable('rates').trait.loss_per_day
        WHEN 'state' THEN getvariable('rates').state.loss_per_day
        WHEN 'plan' THEN getvariable('rates').plan.loss_per_day
        WHEN 'wish' THEN getvariable('rates').wish.loss_per_day
        WHEN 'episode' THEN getvariable('rates').episode.loss_per_day
    END,
    CASE temporal_type
        WHEN 'attribute' THEN getvariable('rates').attribute.half_life_days
        WHEN 'trait' THEN getvariable('rates').trait.half_life_days
        WHEN 'state' THEN getvariable('rates').state.half_life_days
        WHEN 'plan' THEN getvariable('rates').plan.half_life_days
        WHEN 'wish' THEN getvariable('rates').wish.half_life_days
        WHEN 'episode' THEN getvariable('rates').episode.half_life_days
    END
);
-- In the archive for as long as the archive keeps things: it fell below the bound that many days ago.
CREATE OR REPLACE TEMP MACRO is_purged(status, confidence, last_reinforced, temporal_type, on_day) AS
    status IN ('active', 'contradicted')
    AND date_diff('day', CAST(last_reinforced AS DATE), on_day) >= getvariable('archive_days')
    AND faded(
        confidence,
        date_diff('day', CAST(last_reinforced AS DATE), on_day) - getvariable('archive_days'),
        temporal_type
    ) < getvariable('archive_below_confidence');
-- What the person stated plainly, of anything that lasts: it grows old, and stays in the state.
CREATE OR REPLACE TEMP MACRO is_own_word(confidence, temporal_type, source_mechanism, flags) AS
    confidence >= getvariable('kept_from_confidence')
    AND temporal_type IN ('attribute', 'trait', 'state')
    AND source_mechanism IN ('explicit', 'user_correction')
    AND len(flags) = 0;
-- No part of the state any more.
CREATE OR REPLACE TEMP MACRO is_dropped(status, confidence, last_reinforced, temporal_type, source_mechanism, flags, on_day) AS
    is_purged(status, confidence, last_reinforced, temporal_type, on_day)
    AND NOT is_own_word(confidence, temporal_type, source_mechanism, flags);
