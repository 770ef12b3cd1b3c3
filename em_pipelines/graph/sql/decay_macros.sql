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
