"""Routes: what has many values is folded, and what names an endpoint is not."""

from __future__ import annotations

from clrevents._util.varying import folded_routes

NAMES = [f"package.{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def folded(*routes: str, times: int = 1) -> set[str]:
    return set(folded_routes(dict.fromkeys(routes, times)).values())


def test_what_has_many_values_is_one_route() -> None:
    assert folded(*(f"/v3/{name}/index.json" for name in NAMES)) == {"/v3/{…}/index.json"}
    files = (f"/flat/{name}/1.0/{name}.nupkg" for name in NAMES)
    assert folded(*files, *(f"/flat/{name}/index.json" for name in NAMES)) == {
        "/flat/{…}/1.0/{…}",
        "/flat/{…}/index.json",
    }
    # What is asked for again and again beside them is an endpoint.
    counts = {f"/posts/{name}": 1 for name in NAMES} | {"/posts/feed": 40, "/posts/{n}": 5}
    assert set(folded_routes(counts).values()) == {"/posts/{…}", "/posts/feed", "/posts/{n}"}


def test_endpoints_stay() -> None:
    first = [f"/{name}/{{n}}" for name in NAMES]
    few = [f"/api/{name}/{{n}}" for name in NAMES[:19]]
    assert folded(*first) == set(first)
    assert folded(*few) == set(few)
    often = [f"/api/{name}" for name in NAMES]
    assert folded(*often, times=4) == set(often)
