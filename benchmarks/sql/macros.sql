CREATE OR REPLACE TEMP MACRO made_user(i) AS 'user' || lpad(CAST(i // getvariable('edges_per_user') AS VARCHAR), 7, '0');
CREATE OR REPLACE TEMP MACRO made_entity(user_number, n) AS
    'ent_' || left(sha256(concat(user_number, ' ', n)), 20);
CREATE OR REPLACE TEMP MACRO made_relation(i) AS
    (['likes', 'lives_in', 'works_at', 'uses', 'wants', 'knows', 'has_attribute', 'plans'])[1 + i % 8];
CREATE OR REPLACE TEMP MACRO made_type(i) AS
    (['trait', 'state', 'state', 'state', 'wish', 'state', 'attribute', 'plan'])[1 + i % 8];
