"""Somebody who confirms that people are people: a key, a page, and a button on it."""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

ISSUER, AUDIENCE = "https://acme.example", "countersign"
EXPONENT = 65537
# What comes before a SHA-256 in a signature (RFC 8017, 9.2).
PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")


def is_prime(number):
    """Miller and Rabin's test, often enough."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(20):
        power = pow(secrets.randbelow(number - 3) + 2, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def prime(bits):
    small = [n for n in range(3, 2000, 2) if all(n % m for m in range(3, n, 2))]
    while True:
        drawn = secrets.randbits(bits) | 3 << (bits - 2) | 1
        if all(drawn % n for n in small) and drawn % EXPONENT != 1 and is_prime(drawn):
            return drawn


def written(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Provider:
    """Signs JWTs with RS256. Its page is on `localhost`, which for a browser is another site."""

    def __init__(self):
        p, q = prime(1024), prime(1024)
        self.modulus, self.secret = p * q, pow(EXPONENT, -1, (p - 1) * (q - 1))
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._page())
        self.url = f"http://localhost:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def jwks(self):
        size = (self.modulus.bit_length() + 7) // 8
        modulus = written(self.modulus.to_bytes(size, "big"))
        key = {"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "n": modulus, "e": "AQAB"}
        return {"keys": [key]}

    def proof(self, case_id, action, challenge):
        now = int(time.time())
        claims = {
            "iss": ISSUER, "aud": AUDIENCE, "jti": secrets.token_hex(8), "iat": now,
            "exp": now + 300, "case_id": case_id, "action": action, "challenge": challenge,
        }
        head = {"alg": "RS256", "kid": "1"}
        text = ".".join(written(json.dumps(part).encode()) for part in (head, claims))
        size = (self.modulus.bit_length() + 7) // 8
        end = PREFIX + hashlib.sha256(text.encode()).digest()
        padded = b"\x00\x01" + b"\xff" * (size - len(end) - 3) + b"\x00" + end
        signed = pow(int.from_bytes(padded, "big"), self.secret, self.modulus)
        return f"{text}.{written(signed.to_bytes(size, 'big'))}"

    def _page(provider):
        class Page(BaseHTTPRequestHandler):
            def do_GET(self):
                asked = {key: value[0] for key, value in parse_qs(urlsplit(self.path).query).items()}
                if "return_to" not in asked:
                    self.send_error(404)
                    return
                proof = provider.proof(asked["case_id"], asked["action"], asked["challenge"])
                page = (
                    "<!doctype html><html lang=en><title>Acme ID</title>"
                    f"<form method=post action='{html.escape(asked['return_to'])}'>"
                    f"<input type=hidden name=token value='{proof}'><button>I am a person</button></form>"
                )
                self.send_response(200)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, *_):
                pass

        return Page
