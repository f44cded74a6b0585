"""Devin, an agent: does what its runtime is told, until the task it was given is completed.

The flow is the one at the end of HACP's text. Devin reads what there is to do and answers with
operations, each under a key made from what it was told: doing it again does it once.
"""

from hacp import from_env

hacp = from_env()


def handle(event):
    """One thing the runtime has to do."""
    task, named = event["task_id"], event["operation_id"]
    if event["operation"] == "delegate":
        print("told to begin:", event["spec"]["goal"], flush=True)
        hacp("task.start", {"task_id": task}, once=f"{named}:start")
        tones = [{"id": "warm", "label": "Warm"}, {"id": "dry", "label": "Dry"}]
        asked = {"task_id": task, "kind": "choice", "prompt": "Which tone?", "options": tones}
        hacp("checkpoint.raise", asked, once=f"{named}:raise")
    elif event["operation"] == "block":
        print("waiting, for a", event["reason"], flush=True)
    elif event["operation"] == "resume" and "resolution" in event:
        tone = event["resolution"]["choice"]
        print("told to go on:", tone, flush=True)
        deliver(task, named, f"Notes in a {tone} tone.\n")
    elif event["operation"] == "resume":
        changes = "; ".join(event["review"]["requested_changes"])
        print("told to change:", changes, flush=True)
        deliver(task, named, f"Notes in a warm tone. Done: {changes}.\n", event["review"]["artifact_id"])


def deliver(task, named, words, artifact=None):
    """Commits a document, or the next version of one."""
    version = {"task_id": task, "type": "text", "payload": {"kind": "inline", "content": words}}
    if artifact is not None:
        version["art_id"] = artifact
    made = hacp("artifact.commit", version, once=f"{named}:commit")
    print("delivered", made["version"], flush=True)


def work():
    """Peek, handle, acknowledge: nothing is acknowledged before it is done."""
    for delivery in hacp("runtime.peek"):
        handle(delivery["event"])
        hacp("runtime.ack", {"through": delivery["cursor"]})


print("ready", flush=True)
for name, event in hacp.events():
    work()
    if name == "task.completed":
        task = hacp("task.get", {"task_id": event["task_id"]})
        entry = {"scope": f"project:{task['project']}", "key": "notes/last", "by": task["id"]}
        entry["value"] = task["deliveries"][-1]
        hacp("ledger.write", entry, once=f"{task['id']}:remember")
        print("completed, and remembered", flush=True)
        break
