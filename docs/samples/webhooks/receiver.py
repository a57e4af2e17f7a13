"""A webhook receiver without dependencies, for Python 3.8 or newer.

WEBHOOK_SECRET=whsec_... PORT=8080 python3 receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1_000_000


# Every request is signed in two ways. Your receiver needs only one of these two functions. In both, raw_body must be the bytes
# as received, not JSON parsed and serialised again.


def is_authentic(header: str, raw_body: bytes, secret: str) -> bool:
    """True if Bookflow signed this request: Service-Signature."""
    parts = [part.strip() for part in header.split(",")]
    timestamp = next((part[2:] for part in parts if part.startswith("t=")), "")
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return is_recent(timestamp) and is_one_of(expected, [part[3:] for part in parts if part.startswith("v1=")])


def is_authentic_standard(event_id: str, timestamp: str, header: str, raw_body: bytes, secret: str) -> bool:
    """The same with the headers of Standard Webhooks, whose libraries do this for you."""
    key = base64.b64decode(secret[len("whsec_"):])
    signed = event_id.encode() + b"." + timestamp.encode() + b"." + raw_body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return is_recent(timestamp) and is_one_of(expected, [part[3:] for part in header.split(" ") if part.startswith("v1,")])


def is_recent(timestamp: str) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,12}", timestamp)) and abs(time.time() - int(timestamp)) <= TOLERANCE_SECONDS


def is_one_of(expected: str, signatures: list) -> bool:
    """While a rotation overlaps, requests carry one signature per secret. Either is enough."""
    return any([hmac.compare_digest(one.encode(), expected.encode()) for one in signatures])


SECRET = os.environ.get("WEBHOOK_SECRET", "")
if not SECRET.startswith("whsec_"):
    sys.exit("Set WEBHOOK_SECRET to the endpoint's signing secret, whsec_ included")

# In production, use a table with a unique column: an event may arrive again, even after you restart.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        # read() with a negative number would read without a limit.
        if not re.fullmatch(r"[0-9]{1,9}", length):
            return self.answer(400)
        if int(length) > BODY_BYTES_MAX:
            return self.answer(413)
        raw_body = self.rfile.read(int(length))
        if not self.is_signed(raw_body):
            return self.answer(400)
        event = json.loads(raw_body)
        is_new = event["id"] not in seen
        seen.add(event["id"])
        # Respond once the event is stored and before you process it. Bookflow waits 15 seconds for a response.
        self.answer(204)
        if is_new and event["type"] == "booking.created":
            print(event["id"], event["data"]["booking"]["reference"], flush=True)
        return None

    def is_signed(self, raw_body: bytes) -> bool:
        header = self.headers.get("Service-Signature")
        if header is not None:
            return is_authentic(header, raw_body, SECRET)
        names = ("webhook-id", "webhook-timestamp", "webhook-signature")
        return is_authentic_standard(*[self.headers.get(name, "") for name in names], raw_body, SECRET)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Receiver)
print("ready", file=sys.stderr, flush=True)
server.serve_forever()
