"""Keep the proof, and check it later without asking the server again."""

import json
import tempfile
from pathlib import Path

from countersign import Countersign, verify_receipt

with tempfile.TemporaryDirectory() as folder, Countersign() as client:
    ask = client.approve("Delete the old invoices?")
    ask.wait()
    kept = Path(folder, "receipt.json")
    kept.write_text(json.dumps({"receipt": ask.receipt, "question": ask.question}))
    keys = client.jwks()

    # Later, somewhere else: only the file and the keys.
    proof = json.loads(kept.read_text())
    receipt = verify_receipt(proof["receipt"], keys, question=proof["question"])
    print(f"{receipt.by.id} said {type(receipt.answer).__name__} to {receipt.prompt!r}")
