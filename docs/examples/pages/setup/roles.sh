countersign people add grace --name "Grace Hopper"
KEY=$(countersign keys create --agent agent_dev --json | jq -r .id)
