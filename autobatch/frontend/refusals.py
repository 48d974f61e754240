"""What the language does not have: said of all such places of a function at once."""

from __future__ import annotations

from collections.abc import Sequence

from autobatch import errors, ir

_START = "autobatch does not support "


def refusal(place: ir.Location, what: str, instead: str, kind: str) -> errors.UnsupportedSyntaxError:
    return errors.UnsupportedSyntaxError(f"{_START}{what}.", [(place, "")], instead, kind=kind)


def together(refusals: Sequence[errors.UnsupportedSyntaxError], function: str) -> errors.UnsupportedSyntaxError:
    """One error for all of them; a place that was met several times, in an unrolled loop, counts once."""
    found = {(one.message, one.places[:1]): one for one in refusals}
    if len(found) == 1:
        return refusals[0]
    if len({one.message for one in refusals}) == 1:
        places = [place for one in found.values() for place in one.places]
        return errors.UnsupportedSyntaxError(refusals[0].message, places, refusals[0].help, kind=refusals[0].kind)
    what = {one: one.message.removeprefix(_START).rstrip(".") for one in found.values()}
    help = dict.fromkeys(f"for {what[one]}: {one.help}" for one in found.values() if one.help)
    return errors.UnsupportedSyntaxError(
        f"`{function}` has {len(found)} things that autobatch does not support.",
        [(place, what[one]) for one in found.values() for place, _ in one.places[:1]],
        "\nhelp: ".join(help),
        kind=", ".join(dict.fromkeys(one.kind for one in found.values())),
    )
