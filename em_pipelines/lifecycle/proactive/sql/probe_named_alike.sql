-- People who share their name with others, each with one role.
CREATE OR REPLACE TEMP TABLE probe_namesakes AS
SELECT
    *, list_min(list_filter(qualifiers, lambda q: list_contains(getvariable('person_roles'), q))) AS role
FROM probe_things
WHERE
    entity_type = 'person' AND is_open AND NOT is_user
    AND list_has_any(qualifiers, getvariable('person_roles'))
QUALIFY count(*) OVER (PARTITION BY user_id, name_key) > 1
