-- A task stands also in two lists of every agent it was ever with, whatever its project: the one of
-- all, and the one of its state. Those that were there before are put into them.
INSERT OR IGNORE INTO task_list (scope, id)
    SELECT 'agent/' || json_extract(step.value, '$.to.id') || ' ' || listed.value, task.id
    FROM task,
        json_each(task.state, '$.chain') AS step,
        json_each(json_array('*', json_extract(task.state, '$.state'))) AS listed
    WHERE json_extract(step.value, '$.to.kind') = 'agent';
