countersign people add ada --name "Ada Lovelace" --project dev
ASK=$(countersign ask "Deploy?" --approve --json | jq -r .id)
countersign answer "$ASK" approve
op() { curl -s "$URL/hacp/v1/ops/$2" -H "authorization: Bearer $1" --json "{\"params\": $3}"; }
TASK=$(op "$HUMAN" task.create '{"type": "report", "goal": "Write it"}' | jq -r .id)
op "$HUMAN" task.assign '{"task_id": "'"$TASK"'", "agent_id": "agent_dev"}'
op "$AGENT" task.start '{"task_id": "'"$TASK"'"}'
ARTIFACT=$(op "$AGENT" artifact.commit '{"task_id": "'"$TASK"'", "type": "report",
  "payload": {"kind": "inline", "content": "The report."}}' | jq -r .id)
op "$HUMAN" review.submit '{"task_id": "'"$TASK"'", "verdict": "approved"}'
