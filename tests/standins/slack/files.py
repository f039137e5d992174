"""`files.*`: a file is announced, sent, and then shared as a message."""

from uuid import uuid4

from tests.standins.slack.chat import by_app
from tests.standins.slack.methods import method, needs
from tests.standins.slack.wire import Json, SlackSays, objects
from tests.standins.slack.workspace import Workspace


@method("files.getUploadURLExternal", "files:write")
def announce(work: Workspace, body: Json) -> Json:
    """Return where to send a file; the server puts its address before it."""
    needs(body, "filename", "length")
    file = f"F{uuid4().hex[:10].upper()}"
    work.files[file] = {
        "id": file, "name": body["filename"], "length": int(body["length"]), "content": None,
    }  # fmt: skip
    return {"file_id": file, "upload_url": f"/upload/{file}"}


@method("files.completeUploadExternal", "files:write")
def complete(work: Workspace, body: Json) -> Json:
    """Share what was sent, in a channel where one is given."""
    needs(body, "files")
    shared = [_file(work, each) for each in objects(body["files"])]
    if channel_id := body.get("channel_id"):
        channel = work.open_to_app(channel_id)
        message: Json = {**by_app(work), "text": body.get("initial_comment") or "", "files": shared}
        if body.get("thread_ts"):
            message["thread_ts"] = body["thread_ts"]
        work.add(channel.id, message)
    return {"files": shared}


def receive(work: Workspace, file: str, content: bytes) -> bool:
    """Keep what was sent; False where nobody announced it, or not as long."""
    known = work.files.get(file)
    if known is None or len(content) != known["length"]:
        return False
    known["content"] = content
    return True


def _file(work: Workspace, given: Json) -> Json:
    known = work.files.get(str(given.get("id")))
    if known is None or known["content"] is None:
        raise SlackSays("file_not_found")
    title = given.get("title") or known["name"]
    return {"id": known["id"], "name": known["name"], "title": title, "size": known["length"]}
