#!/bin/sh
# Alice, with curl alone: gives Devin a task, decides, asks for a change, approves, and reads the story.
#   COUNTERSIGN_URL    the server
#   COUNTERSIGN_TOKEN  her token
set -eu

# op OPERATION PARAMS: one operation, as the person whose token it is.
op() {
    curl -sS --fail-with-body "$COUNTERSIGN_URL/hacp/v1/ops/$1" \
        -H "Authorization: Bearer $COUNTERSIGN_TOKEN" -H 'Content-Type: application/json' \
        -d "{\"params\": $2}"
}

# field NAME: the first string member of this name.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }

# until STATE: waits until the task stands there.
until_state() {
    until op task.get "{\"task_id\": \"$task\"}" | grep -q "\"state\":\"$1\""; do sleep 0.1; done
    echo "the task is $1"
}

task=$(op task.create '{"type": "text", "goal": "Write the release notes", "acceptance_criteria": ["one page"]}' |
    sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
echo "wrote down $task"
op task.assign "{\"task_id\": \"$task\", \"agent_id\": \"agent_dev\"}" >/dev/null

until_state blocked
checkpoint=$(op human.inbox '{}' | field checkpoint_id)
op checkpoint.resolve "{\"ckpt_id\": \"$checkpoint\", \"resolution\": {\"action\": \"choose\", \"choice\": \"warm\"}}" >/dev/null
echo "chose warm"

until_state review_ready
op review.submit "{\"task_id\": \"$task\", \"verdict\": \"changes_requested\", \"requested_changes\": [\"name the contributors\"]}" >/dev/null
echo "asked for a change"

until_state review_ready
op review.submit "{\"task_id\": \"$task\", \"verdict\": \"approved\"}" >/dev/null
until_state completed

# What everybody did, in order.
op audit.replay "{\"task_id\": \"$task\"}" | grep -o '"action":"[^"]*"' | cut -d '"' -f 4
