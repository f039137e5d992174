"""A tiny service: /health, /quit, /scale/N, and it cannot reload. Usage: service.py NAME PORT, or --helper."""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

PARENT = os.getppid()


def has_parent() -> bool:
    return os.getppid() == PARENT


def note(text: str) -> None:
    with Path("logs", f"{sys.argv[1]}.log").open("a", encoding="utf-8") as log:
        log.write(f"{time.strftime('%H:%M:%S', time.gmtime())} {text}\n")


class Service(BaseHTTPRequestHandler):
    helpers: list["subprocess.Popen[bytes]"] = []  # noqa: RUF012 - there is one service

    def do_GET(self) -> None:
        self.answer(200, self.me())

    def do_POST(self) -> None:
        if self.path == "/quit":
            note("asked to end")
            self.answer(200, self.me())
            threading.Thread(target=self.server.shutdown).start()
        elif self.path.startswith("/scale/"):
            self.scale(int(self.path.rpartition("/")[2]))
            self.answer(200, self.me())
        else:
            note("reload failed: line 7: unknown key `cachesize`")
            self.answer(500, {"error": "line 7: unknown key `cachesize`"})

    def scale(self, count: int) -> None:
        while len(self.helpers) < count - 1:
            command = [sys.executable, "-I", __file__, "--helper"]
            self.helpers.append(subprocess.Popen(command))  # noqa: S603 - ourselves
        while len(self.helpers) > count - 1:
            helper = self.helpers.pop()
            helper.kill()
            helper.wait()
        note(f"scaled to {count}")

    def me(self) -> dict[str, object]:
        return {"pid": os.getpid(), "helpers": [helper.pid for helper in self.helpers]}

    def answer(self, status: int, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def end_with_parent(server: HTTPServer) -> None:
    while has_parent():
        time.sleep(0.3)
    server.shutdown()


if sys.argv[1] == "--helper":
    while has_parent():
        time.sleep(0.3)
else:
    httpd = HTTPServer(("127.0.0.1", int(sys.argv[2])), Service)
    note(f"started, pid {os.getpid()}")
    threading.Thread(target=end_with_parent, args=[httpd], daemon=True).start()
    httpd.serve_forever()
    for helper in Service.helpers:
        helper.kill()
        helper.wait()
