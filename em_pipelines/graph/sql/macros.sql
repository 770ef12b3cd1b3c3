-- `content_id` of ids.py, for SQL: equal parts give equal ids in both.
CREATE OR REPLACE TEMP MACRO id_part(part) AS coalesce(strlen(part) || ':' || part, '-');
CREATE OR REPLACE TEMP MACRO edge_hash(user_id, subject_id, relation, object_key, attribute, polarity, spell) AS
    'edge_' || left(sha256(concat_ws(
        chr(31), 'edge', id_part(user_id), id_part(subject_id), id_part(relation), id_part(object_key),
        id_part(attribute), id_part(CAST(polarity AS VARCHAR)), id_part(CAST(spell AS VARCHAR))
    )), 20);
CREATE OR REPLACE TEMP MACRO op_hash(edge_id, kind, claim_id) AS
    'op_' || left(sha256(concat_ws(chr(31), 'op', id_part(edge_id), id_part(kind), id_part(claim_id))), 20);
CREATE OR REPLACE TEMP MACRO user_entity(user_id) AS
    'ent_' || left(sha256(concat_ws(chr(31), 'ent', id_part(user_id), id_part('user'), id_part(''))), 20);
CREATE OR REPLACE TEMP MACRO unverified_mark(requires_verification) AS
    CASE WHEN requires_verification THEN ' (unverified)' ELSE '' END;
-- Inverse and symmetric relations are stored as they were stated and compared in one direction: the remembered person
-- first, else the lesser id.
CREATE OR REPLACE TEMP MACRO is_turned(is_inverse, is_symmetric, user_id, subject_id, object_id) AS
    object_id IS NOT NULL AND (
        is_inverse
        OR (
            is_symmetric AND subject_id <> user_entity(user_id)
            AND (object_id = user_entity(user_id) OR object_id < subject_id)
        )
    );
-- Facts that pair two people hang on both: those that leave the remembered person out all meet each other.
CREATE OR REPLACE TEMP MACRO is_of_others(is_paired, user_id, subject_id, object_id) AS
    is_paired AND object_id IS NOT NULL AND user_entity(user_id) NOT IN (subject_id, object_id);
-- `attribute_key` of values.py, for SQL.
CREATE OR REPLACE TEMP MACRO attribute_key(attribute) AS coalesce(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(
        lower(attribute), '_', ' '), 'our', 'or'), 's', 'z'), 'nce', 'nze'), 'ogue', 'og'), 'll', 'l'), 'tre', 'ter'),
        'ae', 'e'), 'oe', 'e'),
    ''
);
-- What can hold one fact at a time: the subject's relation where that is functional, else the very fact. What has to
-- be verified first has slots of its own: "my name is Admin" must not take the place of a name.
CREATE OR REPLACE TEMP MACRO slot_of(
    user_id, meeting_key, family, attribute, is_functional, object_key, requires_verification
) AS concat_ws(
    chr(31), user_id, meeting_key, family, attribute_key(attribute),
    CASE WHEN is_functional AND NOT requires_verification THEN '' ELSE object_key END,
    unverified_mark(requires_verification)
);
-- A passing mood, as it is said and as a fact: one that lasts is a trait.
CREATE OR REPLACE TEMP MACRO is_vented(temporal_type, flags) AS
    temporal_type = 'episode' AND list_contains(flags, 'emotional_state');
CREATE OR REPLACE TEMP MACRO is_vented_in(provenance, session_id) AS
    len(list_distinct(list_append(list_transform(provenance, lambda p: p.session_id), session_id)))
        >= getvariable('venting_sessions');
-- What an operation changes of an edge, as an auditor reads it.
CREATE OR REPLACE TEMP MACRO standing(status, valid_from, valid_to, spell, reinforcement_count) AS
    CAST(to_json({
        'status': status, 'valid_from': valid_from, 'valid_to': valid_to, 'spell': spell,
        'reinforcement_count': reinforcement_count
    }) AS VARCHAR);
-- Of two statements of a fact the one that says more: why or what for, then the longer one. Whichever came first.
CREATE OR REPLACE TEMP MACRO says_why(statement) AS CAST(regexp_matches(statement, getvariable('says_why')) AS INTEGER);
CREATE OR REPLACE TEMP MACRO fuller(one, other) AS CASE
    WHEN one IS NULL OR other IS NULL THEN coalesce(one, other)
    WHEN (says_why(one), length(one), other) >= (says_why(other), length(other), one) THEN one
    ELSE other
END;
