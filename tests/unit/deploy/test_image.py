"""The image's promises as far as its files tell: no image can be built where these tests run."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import cast

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[3]
LOCK = ROOT / "requirements.lock"
PINNED = re.compile(r"^(\S+==[^\\\n]+?) *\\$", re.MULTILINE)


def steps() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with what follows each."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if line]
    found = [line.partition(" ") for line in lines if not line.startswith("#")]
    return [(word, rest) for word, _, rest in found]


def stages() -> list[list[tuple[str, str]]]:
    """Return the instructions of each stage; what comes before the first is left out."""
    found: list[list[tuple[str, str]]] = []
    for step in steps():
        if step[0] == "FROM":
            found.append([])
        if found:
            found[-1].append(step)
    return found


def last(word: str) -> str:
    """Return what an instruction of the image itself says, which stands there once."""
    [found] = [rest for instruction, rest in stages()[-1] if instruction == word]
    return found


def part(*names: str) -> set[str]:
    """Return the packages that the script takes out of the lock, as far as they are for this Python."""
    script = runpy.run_path(str(ROOT / "deploy" / "locked.py"))
    taken = cast("Callable[..., str]", script["part"])(LOCK.read_text("utf-8"), *names)
    assert taken.count("--hash=sha256:") >= taken.count("==")
    entries = map(Requirement, PINNED.findall(taken))
    return {one.name for one in entries if one.marker is None or one.marker.evaluate()}


def needed(package: str) -> Iterator[str]:
    """Yield everything that an installed package needs here."""
    for line in requires(package) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name.lower()
            yield from needed(requirement.name)


def test_it_runs_sayso_as_somebody_without_rights() -> None:
    assert (last("ENTRYPOINT"), last("CMD")) == ('["sayso"]', '["run"]')
    assert last("STOPSIGNAL") == "SIGTERM"
    user, group = last("USER").split(":")
    assert int(user) >= 10_000
    assert int(group) >= 10_000
    words = [word for word, _ in stages()[-1]]
    assert words.index("USER") > max(n for n, word in enumerate(words) if word == "RUN")


def test_what_it_keeps_lies_in_volumes_so_that_the_rest_may_be_read_only() -> None:
    assert last("VOLUME") == '["/srv/sayso/data", "/srv/sayso/work"]'
    assert last("WORKDIR") == "/srv/sayso"
    assert "PYTHONDONTWRITEBYTECODE=1" in last("ENV")


def test_nothing_that_builds_is_left_in_it() -> None:
    [runs] = [[rest for word, rest in stages()[-1] if word == "RUN" and "apt-get" in rest]]
    assert len(runs) == 1
    installed = runs[0].partition("--no-install-recommends ")[2].partition(" && ")[0].split()
    assert installed == ["bubblewrap"]
    assert not any("pip" in rest for word, rest in stages()[-1] if word == "RUN")
    assert [rest for word, rest in stages()[-1] if word == "COPY"] == [
        "--from=build /opt/sayso /opt/sayso"
    ]
    assert any("venv --without-pip /opt/sayso" in rest for _, rest in stages()[0])


def test_whatever_comes_from_an_index_is_pinned_by_hash_and_is_no_source() -> None:
    installs = [rest for _, rest in steps() if "pip" in rest and "install" in rest.split()]
    online = [rest for rest in installs if "--no-index" not in rest]
    assert len(online) == 2
    assert all("--require-hashes --only-binary=:all: -r " in rest for rest in online)
    offline = [rest for rest in installs if "--no-index" in rest]
    assert all("--no-deps" in rest for rest in offline)


def test_nothing_in_it_is_a_secret_and_nothing_gets_in_that_is_not_named() -> None:
    assert not any(re.search("TOKEN|SECRET|PASSWORD|KEY", rest) for _, rest in steps())
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in ignored if line and not line.startswith("#")]
    assert rules[0] == "*"
    let_in = {rule[1:] for rule in rules if rule.startswith("!")}
    taken = {
        source for word, rest in stages()[0] if word == "COPY" for source in shlex.split(rest)[:-1]
    }
    assert let_in == taken


def test_the_part_of_the_lock_for_the_image_is_what_sayso_needs_and_no_more() -> None:
    assert part() == {name.replace("_", "-") for name in needed("sayso")}


def test_the_part_for_the_build_is_what_the_backend_needs() -> None:
    assert part("hatchling") == {"hatchling", *needed("hatchling")}


def test_a_name_that_the_lock_does_not_have_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "deploy/locked.py", "requirements.lock", "nosuch"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "The lock has no nosuch. Correct the name.\n")


def test_what_is_copied_is_enough_to_build_and_run_it(tmp_path: Path) -> None:
    """Do what the Dockerfile does from its first COPY to `sayso --version`, without any index."""
    for word, rest in stages()[0]:
        if word == "COPY":
            *sources, target = shlex.split(rest)
            for source in sources:
                there = (
                    tmp_path
                    / target
                    / (Path(source).name if len(sources) > 1 or target == "./" else "")
                )
                if (ROOT / source).is_dir():
                    shutil.copytree(
                        ROOT / source, there, ignore=shutil.ignore_patterns("__pycache__")
                    )
                else:
                    shutil.copyfile(ROOT / source, there)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    for command in (
        ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", "dist", "."],
        ["install", "--no-deps", "--no-index", "--no-compile", "--target", "opt", "--find-links", "dist", "sayso"],
    ):  # fmt: skip
        subprocess.run([*pip, *command], cwd=tmp_path, check=True, timeout=50)
    done = subprocess.run(
        [sys.executable, "-P", "opt/bin/sayso", "--version"],
        cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "opt")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("sayso, version ")
