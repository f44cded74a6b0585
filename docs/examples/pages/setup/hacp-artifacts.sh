printf 'The report.' >report.pdf
op() { curl -s "$URL/hacp/v1/ops/$2" -H "authorization: Bearer $1" --json "{\"params\": $3}"; }
TASK=$(op "$HUMAN" task.create '{"type": "report", "goal": "Write it"}' | jq -r .id)
op "$HUMAN" task.assign '{"task_id": "'"$TASK"'", "agent_id": "agent_dev"}'
op "$AGENT" task.start '{"task_id": "'"$TASK"'"}'
