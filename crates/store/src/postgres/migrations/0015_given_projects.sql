-- A task stands also in the list of what every agent it was ever with was given in its project, so that
-- the projects of an agent's tasks are found one by one. Those that were there before are put into it.
INSERT INTO task_list (scope, id)
    SELECT DISTINCT 'agent/' || (step.value #>> '{to,id}') || ' in/'
            || (task.state::json #>> '{created,project}'),
        task.id
    FROM task
    CROSS JOIN LATERAL json_array_elements(task.state::json -> 'chain') AS step
    WHERE step.value #>> '{to,kind}' = 'agent'
        AND task.state::json #>> '{created,project}' IS NOT NULL
ON CONFLICT DO NOTHING;
