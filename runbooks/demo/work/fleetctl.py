"""Talks to the services in fleet.json and keeps their files. Usage: fleetctl.py COMMAND [ARGUMENT ...]."""

import difflib
import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

FLEET: dict[str, int] = json.loads(Path("fleet.json").read_text(encoding="utf-8"))
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PRIMARY = Path("primary.txt")
PARTS = 20


def call(name: str, path: str, method: str) -> dict[str, object]:
    url = f"http://127.0.0.1:{FLEET[name]}{path}"
    with HTTP.open(urllib.request.Request(url, method=method), timeout=5) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def found(name: str) -> dict[str, object]:
    try:
        return call(name, "/health", "GET")
    except OSError:
        return {}


def health() -> int:
    pids = {name: found(name).get("pid") for name in FLEET}
    for name, number in pids.items():
        print(f"{name}: healthy, pid {number}" if number else f"{name}: no answer")
    return 0 if all(pids.values()) else 1


def logs(name: str, count: str) -> int:
    lines = log_of(name).read_text(encoding="utf-8").splitlines()
    print("\n".join(lines[-int(count) :]) or "nothing since it was rotated")
    return 0


def disk() -> int:
    for folder in ("config", "index", "logs"):
        for file in sorted(Path(folder).iterdir()):
            print(f"{file}: {file.stat().st_size} bytes")
    return 0


def processes() -> int:
    for name in FLEET:
        answer = found(name)
        pids = [answer.get("pid"), *list(answer.get("helpers", []))]  # type: ignore[call-overload]
        print(f"{name}: {len(pids)} running, pid {', '.join(map(str, pids))}")
    return 0


def restart(name: str) -> int:
    before = call(name, "/quit", "POST")["pid"]
    print(f"{name}: asked to end, pid {before}", flush=True)
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        now = found(name).get("pid")
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


def scale(name: str, count: str) -> int:
    call(name, f"/scale/{count}", "POST")
    return processes()


def set_key(name: str, key: str, value: str, *, write: bool = True) -> int:
    return rewritten(name, changed(config_of(name), key, value), write=write)


def plan_set(name: str, key: str, value: str) -> int:
    return set_key(name, key, value, write=False)


def restore(name: str, *, write: bool = True) -> int:
    before = kept_of(name)
    if not before.exists():
        print(f"{name}: nothing was changed, so there is nothing to restore")
        return 1
    return rewritten(name, before.read_text(encoding="utf-8"), write=write)


def plan_restore(name: str) -> int:
    return restore(name, write=False)


def show_config(name: str) -> int:
    print(config_of(name).read_text(encoding="utf-8"), end="")
    return 0


def rotate(name: str) -> int:
    log = log_of(name)
    log.replace(log.with_suffix(".log.1"))
    log.touch()
    print(f"{name}: {log}.1 holds what there was, {log} is empty")
    return 0


def reindex(name: str, seconds: str) -> int:
    state = Path("index") / f"{name}.txt"
    Path("index", f"{name}.pid").write_text(str(os.getpid()), encoding="utf-8")
    for part in range(1, PARTS + 1):
        print(f"{name}: part {part} of {PARTS}", flush=True)
        state.write_text(f"part {part} of {PARTS}\n", encoding="utf-8")
        time.sleep(int(seconds) / PARTS)
    state.write_text("whole\n", encoding="utf-8")
    return 0


def index_state(name: str) -> int:
    state = Path("index") / f"{name}.txt"
    print(f"{name}: {state.read_text(encoding='utf-8').strip() if state.exists() else 'no index'}")
    return 0


def primary() -> int:
    print(f"primary: {PRIMARY.read_text(encoding='utf-8').strip()}")
    return 0


def switch(name: str) -> int:
    if not found(name):
        print(f"{name}: no answer, so it cannot be the primary")
        return 1
    PRIMARY.write_text(f"{name}\n", encoding="utf-8")
    return primary()


def log_of(name: str) -> Path:
    return Path("logs") / f"{name}.log"


def config_of(name: str) -> Path:
    return Path("config") / f"{name}.conf"


def kept_of(name: str) -> Path:
    return Path("config") / f"{name}.conf.before"


def changed(file: Path, key: str, value: str) -> str:
    lines = file.read_text(encoding="utf-8").splitlines()
    return "".join(
        f"{key} = {value}\n" if line.split(" = ")[0] == key else f"{line}\n" for line in lines
    )


def rewritten(name: str, text: str, *, write: bool) -> int:
    """Print what differs, and where it is no dry run, write it and keep what there was."""
    file = config_of(name)
    before = file.read_text(encoding="utf-8")
    names = (str(file), f"{file} (new)")
    print(
        *difflib.unified_diff(before.splitlines(), text.splitlines(), *names, lineterm=""), sep="\n"
    )
    if write:
        kept_of(name).write_text(before, encoding="utf-8")
        file.write_text(text, encoding="utf-8")
    return 0


COMMANDS = {
    "health": health, "logs": logs, "disk": disk, "processes": processes, "restart": restart,
    "reload": reload, "scale": scale, "set": set_key, "plan-set": plan_set, "restore": restore,
    "plan-restore": plan_restore, "show-config": show_config, "rotate": rotate,
    "reindex": reindex, "index-state": index_state, "primary": primary, "switch": switch,
}  # fmt: skip
command, *rest = sys.argv[1:]
sys.exit(COMMANDS[command](*rest))
