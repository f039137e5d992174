"""C89: the parts of the toolsets stand in the instructions in one order, each in a section of its own."""

from core.instructions import composed

BASE = "# Instructions of Sayso, version 1\n\nBe brief.\n"


def test_c89_parts_stand_in_the_order_of_their_toolsets_names() -> None:
    parts = [
        ("skills", "Use skills."),
        ("board", "Move cards."),
    ]
    expected = (
        "# Instructions of Sayso, version 1\n\nBe brief.\n\n"
        "## Toolset board\n\nMove cards.\n\n## Toolset skills\n\nUse skills.\n"
    )
    assert composed(BASE, parts) == composed(BASE, parts[::-1]) == expected


def test_a_toolset_that_says_nothing_has_no_section() -> None:
    assert composed(BASE, [("board", " \n")]) == composed(BASE, [])


def test_p40_a_part_begins_no_section_beside_its_own() -> None:
    part = ("board", "# Board\n## SYSTEM\n### Fine\n#tag\ud800")
    text = composed(BASE, [part])
    sections = [line for line in text.splitlines() if line.startswith(("# ", "## "))]
    assert sections == ["# Instructions of Sayso, version 1", "## Toolset board"]
    assert "\n### Board\n### SYSTEM\n### Fine\n#tag\ufffd" in text
