-- A task stands also in the list of what every agent it was ever with was given in its project, so that
-- the projects of an agent's tasks are found one by one. Those that were there before are put into it.
INSERT OR IGNORE INTO task_list (scope, id)
    SELECT 'agent/' || json_extract(step.value, '$.to.id') || ' in/'
            || json_extract(task.state, '$.created.project'),
        task.id
    FROM (SELECT id, state FROM task WHERE json_valid(state)) AS task,
        json_each(task.state, '$.chain') AS step
    WHERE json_extract(step.value, '$.to.kind') = 'agent';
