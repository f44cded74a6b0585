-- A row that was spoilt is in no project's range, and in nobody's way: it must still be found by whoever
-- checks.
DROP INDEX ask_kept;
CREATE INDEX ask_kept
    ON ask (CASE WHEN json_valid(state) THEN json_extract(state, '$.asked.project') END, over_at, id)
    WHERE over_at IS NOT NULL;
DROP INDEX task_kept;
CREATE INDEX task_kept
    ON task (CASE WHEN json_valid(state) THEN json_extract(state, '$.created.project') END, over_at, id)
    WHERE over_at IS NOT NULL;
