"""What the command line says about itself, and to whoever typed what cannot be meant."""

from collections.abc import Iterator

import click
import pytest

from bot.cli import cli
from bot.usage import explained


def commands(group: click.Group, path: str = "sayso") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def misused(*words: str) -> str:
    with pytest.raises(click.UsageError) as error:
        cli.main([*words], prog_name="sayso", standalone_mode=False)
    return explained(error.value).shown


def test_every_argument_of_every_command_is_explained_in_its_help() -> None:
    found = [
        (path, one.metavar, command.help or "")
        for path, command in commands(cli)
        for one in command.params
        if isinstance(one, click.Argument) and not isinstance(one.type, click.Choice)
    ]
    assert len(found) >= 10
    for path, metavar, help_ in found:
        assert metavar, path
        assert f"{metavar.strip('[]')}: " in help_, path


def test_no_summary_in_the_list_of_commands_breaks_off() -> None:
    cut = [
        path for path, command in commands(cli) if command.get_short_help_str(60).endswith("...")
    ]
    assert cut == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", "restart", "web"), "Got unexpected extra argument (web). Put what you ask for in quotes, as in: sayso ask 'show notes'. See: sayso ask --help"),
        (("stop", "a", "b"), "Got unexpected extra argument (b). See: sayso stop --help"),
        (("resolve",), "Missing argument 'RUN'. See: sayso resolve --help"),
        (("audit", "verify", "--head", "abc"), "Invalid value for '--head': write all 64 characters of it, 0 to 9 and a to f. See: sayso audit verify --help"),
        (("verify", "f", "--key", "A" * 64), "Invalid value for '--key': write all 64 characters of it, 0 to 9 and a to f. See: sayso verify --help"),
    ],
)  # fmt: skip
def test_wrong_usage_names_what_to_do_and_the_help_of_that_command(
    words: tuple[str, ...], said: str
) -> None:
    assert misused(*words) == said


def test_a_question_about_a_word_ends_as_a_question() -> None:
    told = misused("glass")
    assert told == "No such command 'glass'. Did you mean 'break-glass'? See: sayso --help"
