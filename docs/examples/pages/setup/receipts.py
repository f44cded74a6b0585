# A receipt and the keys it is verified with.
from countersign import Countersign as _Countersign

_client = _Countersign()
_ask = _client.approve("Refund?")
_ask.wait()
with open("receipt.jws", "w") as _file:
    _file.write(_ask.receipt)
with open("jwks.json", "w") as _file:
    __import__("json").dump(_client.jwks(), _file)
