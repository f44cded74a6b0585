"""A service that gives money back, large sums only by leave of a person. FastAPI, Python 3.10."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

FOLDER = Path(os.environ.get("FOLDER", "pending"))
SERVICE_URL = os.environ["SERVICE_URL"]
countersign = httpx.AsyncClient(
    base_url=os.environ["COUNTERSIGN_URL"],
    headers={"authorization": f"Bearer {os.environ['COUNTERSIGN_API_KEY']}"},
)
secret = ""


@contextlib.asynccontextmanager
async def life(_: FastAPI) -> AsyncIterator[None]:
    """Before the first request: the secret of callbacks, and what was decided meanwhile."""
    global secret
    for state in ("waiting", "running", "done"):
        (FOLDER / state).mkdir(parents=True, exist_ok=True)
    secret = (await countersign.get("/hitl/v1/callback-secret")).json()["secret"]
    await look_again()
    looking = asyncio.create_task(every_minute())
    yield
    looking.cancel()


app = FastAPI(lifespan=life)


@app.post("/refunds")
async def refund(request: Request) -> Response:
    """An agent wants money given back."""
    body = await request.json()
    amount = body["amount"]
    if amount <= 50:
        return JSONResponse({"refunded": amount})
    # The agent chooses whether a person decides; one that continues a case has chosen already.
    human, skip = body.get("prefer_hitl") or body.get("previous_case_id"), body.get("skip_hitl")
    if human and skip:
        return refuse("VALIDATION_ERROR", "prefer_hitl and skip_hitl exclude each other")
    if skip:
        done = {"refunded": 0, "hitl_skipped": True, "improvement_suggestions": []}
        return JSONResponse(done, status_code=201)
    if not human:
        return refuse("HITL_CHOICE_REQUIRED", "send prefer_hitl: true or skip_hitl: true")
    case = {
        "type": "approval",
        "prompt": f"Refund €{amount}?",
        "default_action": "reject",
        "hitl_callback_url": f"{SERVICE_URL}/hitl/callback",
    }
    if body.get("previous_case_id"):
        case["previous_case_id"] = body["previous_case_id"]
    made = await countersign.post("/hitl/v1/cases", json=case)
    headers = {}
    if made.status_code == 202:
        hitl = made.json()["hitl"]
        write("waiting", hitl["case_id"], {"amount": amount, "poll_url": hitl["poll_url"]})
        headers["Retry-After"] = made.headers["retry-after"]
    # The 202 is passed on as it is.
    return Response(made.content, made.status_code, headers, media_type="application/json")


@app.post("/hitl/callback")
async def callback(request: Request) -> Response:
    """Countersign calls back; the signature is over the raw body."""
    raw = await request.body()
    wanted = "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    given = request.headers.get("x-hitl-signature", "")
    if not hmac.compare_digest(wanted.encode(), given.encode()):
        return Response(status_code=401)
    told = json.loads(raw)
    go_on(told["case_id"], told["result"] if told["event"] == "review.completed" else None)
    return Response(status_code=200)


@app.get("/refunds/{case_id}")
def show(case_id: str) -> Response:
    """What became of it."""
    path = file("done", case_id)
    if not path.exists():
        return Response(status_code=404)
    return JSONResponse(json.loads(path.read_text()))


def refuse(error: str, message: str) -> Response:
    return JSONResponse({"error": error, "message": message}, status_code=400)


# A call waits in a file. Whoever moves it goes on with it, so nobody does twice; the case id is the
# key under which the bank pays once, should we be killed in between.
def file(state: str, case_id: str) -> Path:
    return FOLDER / state / (re.sub(r"\W", "", case_id) + ".json")


def write(state: str, case_id: str, call: dict[str, Any]) -> None:
    beside = file(state, case_id).with_suffix(".new")
    with beside.open("w") as out:
        json.dump(call, out)
        out.flush()
        os.fsync(out.fileno())
    beside.rename(file(state, case_id))


def go_on(case_id: str, result: dict[str, Any] | None) -> None:
    try:
        running = file("waiting", case_id).rename(file("running", case_id))
    except FileNotFoundError:
        return
    approved = result is not None and result["action"] == "approve"
    amount = json.loads(running.read_text())["amount"]
    write("done", case_id, {"refunded": amount if approved else 0})


async def look_again() -> None:
    """What was decided while nobody could call us: the poll is the truth."""
    for path in (FOLDER / "running").glob("*.json"):
        if not (FOLDER / "done" / path.name).exists():
            path.rename(FOLDER / "waiting" / path.name)
    for path in (FOLDER / "waiting").glob("*.json"):
        try:
            poll = (await countersign.get(json.loads(path.read_text())["poll_url"])).json()
        except (httpx.TransportError, FileNotFoundError, ValueError):
            continue
        if poll.get("status") == "completed":
            go_on(poll["case_id"], poll["result"])
        elif poll.get("status") in ("expired", "cancelled"):
            go_on(poll["case_id"], None)


async def every_minute() -> None:
    while True:
        await asyncio.sleep(60)
        await look_again()
