-- c − loss × days ÷ 30, never below 0.
CREATE OR REPLACE TEMP MACRO decayed(confidence, unreferenced_days, loss_per_day, half_life_days) AS
    round(greatest(0.0, confidence - loss_per_day * greatest(0, unreferenced_days)), 12);
