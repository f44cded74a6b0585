-- A task stands also in two lists of every agent it was ever with, whatever its project: the one of
-- all, and the one of its state. Those that were there before are put into them.
INSERT INTO task_list (scope, id)
    SELECT DISTINCT 'agent/' || (step.value #>> '{to,id}') || ' ' || listed.name, task.id
    FROM task
    CROSS JOIN LATERAL json_array_elements(task.state::json -> 'chain') AS step
    CROSS JOIN LATERAL unnest(ARRAY['*', task.state::json ->> 'state']) AS listed (name)
    WHERE step.value #>> '{to,kind}' = 'agent'
ON CONFLICT DO NOTHING;
