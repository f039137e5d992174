"""`response_url`: an answer to whoever did something, five times in half an hour."""

from aiohttp import web

from tests.standins.slack.chat import by_app, content, replace
from tests.standins.slack.wire import Json, SlackSays, truth
from tests.standins.slack.workspace import ReplyUrl, Workspace

LASTS = 1800.0


def answer(work: Workspace, name: str, body: Json) -> web.Response:
    """Do what was posted there, and say `ok` as Slack does."""
    url = work.reply_urls.get(name)
    if url is None or work.time.now() - url.made_at > LASTS:
        return web.Response(status=404, text="expired_url")
    if url.uses == 0:
        return web.Response(status=404, text="used_url")
    try:
        _do(work, url, body)
    except SlackSays as refusal:
        return web.json_response(refusal.answer(), status=400)
    url.uses -= 1
    return web.Response(text="ok")


def _do(work: Workspace, url: ReplyUrl, body: Json) -> None:
    if truth(body.get("delete_original")) and url.message:
        work.message(url.channel, url.message).gone = True
    elif truth(body.get("replace_original")) and url.message:
        replace(work, url.channel, url.message, content(body))
    elif body.get("response_type") == "in_channel":
        work.add(url.channel, {**by_app(work), **content(body)})
    else:
        work.ephemeral.append({
            **by_app(work), **content(body),
            "channel": url.channel, "user": url.user, "ts": work.time.ts(),
        })  # fmt: skip
