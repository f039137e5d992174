"""Talks to the services in fleet.json. Usage: fleetctl.py health | restart NAME | reload NAME."""

import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

FLEET: dict[str, int] = json.loads(Path("fleet.json").read_text(encoding="utf-8"))
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(name: str, path: str, method: str) -> dict[str, object]:
    url = f"http://127.0.0.1:{FLEET[name]}{path}"
    with HTTP.open(urllib.request.Request(url, method=method), timeout=2) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def pid(name: str) -> object:
    try:
        return call(name, "/health", "GET")["pid"]
    except OSError:
        return None


def health() -> int:
    found = {name: pid(name) for name in FLEET}
    for name, number in found.items():
        print(f"{name}: healthy, pid {number}" if number else f"{name}: no answer")
    return 0 if all(found.values()) else 1


def restart(name: str) -> int:
    before = call(name, "/quit", "POST")["pid"]
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        now = pid(name)
        if now not in {None, before}:
            print(f"{name}: restarted, pid {before} -> {now}")
            return 0
        time.sleep(0.05)
    print(f"{name}: it did not come back")
    return 1


def reload(name: str) -> int:
    try:
        call(name, "/reload", "POST")
    except urllib.error.HTTPError as error:
        print(f"{name}: HTTP {error.code}: {json.load(error)['error']}")
        return 1
    return 0


command, *rest = sys.argv[1:]
sys.exit({"health": health, "restart": restart, "reload": reload}[command](*rest))
