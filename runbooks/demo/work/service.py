"""A tiny service: answers on /health, ends on /quit, cannot reload. Usage: service.py NAME PORT."""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

NAME, PORT = sys.argv[1], int(sys.argv[2])
SINCE = time.time()
PARENT = os.getppid()


class Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(200, {"service": NAME, "pid": os.getpid(), "seconds": time.time() - SINCE})

    def do_POST(self) -> None:
        if self.path == "/quit":
            self.answer(200, {"service": NAME, "pid": os.getpid()})
            threading.Thread(target=self.server.shutdown).start()
        else:
            self.answer(500, {"error": "line 7: unknown key `cachesize`"})

    def answer(self, status: int, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def end_with_parent(server: HTTPServer) -> None:
    while os.getppid() == PARENT:
        time.sleep(0.5)
    server.shutdown()


httpd = HTTPServer(("127.0.0.1", PORT), Service)
threading.Thread(target=end_with_parent, args=[httpd], daemon=True).start()
httpd.serve_forever()
