-- c × 2^(−days ÷ half-life); no half-life, no decay.
CREATE OR REPLACE TEMP MACRO decayed(confidence, unreferenced_days, loss_per_day, half_life_days) AS
    round(confidence * coalesce(pow(2.0, -greatest(0, unreferenced_days) / half_life_days), 1.0), 12);
